"""A Python function from prompts to texts, as a model of Inspect: logged and resumed like any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

from ehrkg.evaluation.models.generation import PROMPTS_AT_ONCE as BATCH
from ehrkg.evaluation.models.own import OwnModel, prompt_of
from ehrkg.foundation.errors import UsageError

Answering = Callable[[list[str]], Sequence[str]]

NAME = "callable"


class CallableModel(OwnModel):
    """Asks a function; the prompts that wait at one time go to it together.

    Args:
        model_name: as it stands in logs.
        config: of Inspect; nothing of it reaches the function.
        function: what answers.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        function: Answering | None = None,
        **_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, config)
        self.function = function
        self._waiting: list[_Slot] = []
        self._turn = anyio.Lock()

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """See ``inspect_ai.model.ModelAPI.generate``."""
        slot = _Slot(prompt_of(input))
        self._waiting.append(slot)
        async with self._turn:
            if slot.answer is None:
                await self._answer_some()
        assert slot.answer is not None
        return self.said(slot.answer)

    async def _answer_some(self) -> None:
        await anyio.lowlevel.checkpoint()
        batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
        assert self.function is not None
        texts = await anyio.to_thread.run_sync(self.function, [slot.prompt for slot in batch])
        found = list(texts) if not isinstance(texts, str) else [texts]
        if len(found) != len(batch) or not all(isinstance(text, str) for text in found):
            raise UsageError(
                f"{self.model_name} was given {len(batch)} prompts and gave {len(found)} answers"
                if len(found) != len(batch)
                else f"{self.model_name} gave an answer that is no text",
                todo="let it return a list with one text a prompt, in their order",
            )
        for slot, text in zip(batch, found, strict=True):
            slot.answer = text

    def max_connections(self) -> int:
        """As many as go to the function at once."""
        return BATCH


class _Slot:
    """A prompt that waits for its answer."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt
        self.answer: str | None = None


@modelapi(name=NAME)
def registered() -> type[ModelAPI]:
    """Known to Inspect by its name."""
    return CallableModel
