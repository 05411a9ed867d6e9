"""Inspect's ``mockllm/model``, which else fetches a tokenizer from the network to count tokens."""

from __future__ import annotations

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage
from inspect_ai.tool import ToolChoice, ToolInfo

SAID = "Default output from mockllm/model"


def as_mocked(
    _input: list[ChatMessage],
    _tools: list[ToolInfo],
    _tool_choice: ToolChoice,
    _config: GenerateConfig,
) -> ModelOutput:
    """What ``mockllm/model`` says to everything."""
    output = ModelOutput.from_content("mockllm/model", SAID)
    output.usage = ModelUsage()
    return output
