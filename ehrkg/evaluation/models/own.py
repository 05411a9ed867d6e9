"""What models that answer in this process have in common for Inspect."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage


class OwnModel(ModelAPI):
    """A model of this process: it needs no address and no key, and is never asked twice.

    Args:
        model_name: as it stands in logs.
        config: of Inspect.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())

    def should_retry(self, ex: Exception) -> bool:
        """What fails here would fail again."""
        del ex
        return False

    def said(self, text: str, read: int = 0, wrote: int = 0) -> ModelOutput:
        """An answer with its tokens: Inspect would fetch a tokenizer from the network to count."""
        output = ModelOutput.from_content(self.model_name, text)
        output.usage = ModelUsage(input_tokens=read, output_tokens=wrote)
        return output


def prompt_of(messages: Sequence[ChatMessage]) -> str:
    """What is asked, as one text."""
    return "\n\n".join(message.text for message in messages)
