"""Weights on this machine as a model of Inspect: what it writes, what it finds likely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from ehrkg.evaluation.asking.likelihood import TOKENS, LocalOptions
from ehrkg.evaluation.models.own import OwnModel, prompt_of

NAME = "ehrkg_local"

CHOICES = "choices"
"""Where a call names the endings that are to be weighed, in ``GenerateConfig.extra_body``."""


class LocalAPI(OwnModel):
    """Asks a model of ``ehrkg.evaluation.asking.likelihood``, one prompt at a time.

    Args:
        model_name: as it stands in logs.
        config: of Inspect; of it only ``max_tokens`` and the endings reach the model, which writes
            what it finds likeliest.
        path: a folder of weights, or a .gguf file.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        path: str | Path = "",
        **_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, config)
        self._model = LocalOptions(path)
        self._turn = anyio.Lock()

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """See ``inspect_ai.model.ModelAPI.generate``."""
        prompt = prompt_of(input)
        choices = (config.extra_body or {}).get(CHOICES, ())
        async with self._turn:
            if choices:
                text, chances = "", await anyio.to_thread.run_sync(self._weigh, prompt, choices)
            else:
                text = await anyio.to_thread.run_sync(self._write, prompt, config.max_tokens)
                chances = []
        read, wrote = (self._model.local.length(one) if one else 0 for one in (prompt, text))
        output = self.said(text, read, wrote)
        output.metadata = {"chances": chances} if chances else None
        return output

    def _weigh(self, prompt: str, choices: list[str]) -> list[float]:
        return self._model.probabilities([prompt], [choices])[0]

    def _write(self, prompt: str, tokens: int | None) -> str:
        return self._model.generate([prompt], tokens=tokens or TOKENS)[0]

    def max_connections(self) -> int:
        """A model on this machine answers one after another."""
        return 1


@modelapi(name=NAME)
def registered() -> type[ModelAPI]:
    """Known to Inspect by its name."""
    return LocalAPI
