"""How a model makes its answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

PROMPTS_AT_ONCE = 32
"""Prompts that a function is given at once: as many as a killed run asks again at most."""


@dataclass(frozen=True)
class Generation:
    """How a model makes its answers; what can change one is part of the key of recorded answers.

    Attributes:
        temperature: 0 by default, so that a repetition says the same; ``None`` leaves it to the
            model, as some models ask for.
        max_tokens: tokens of an answer at most; ``None`` takes what the setting needs.
        model_args: passed on to Inspect's provider (``{"device": "cpu"}``).
        connections: calls at once; ``None`` leaves that to Inspect, which adapts it.
        retries: how often a call that failed is made again.
        timeout: seconds that one try may take.
    """

    temperature: float | None = 0.0
    max_tokens: int | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict, hash=False)
    connections: int | None = None
    retries: int = 4
    timeout: int = 600

    def settings(self) -> dict[str, object]:
        """What can change an answer, as it stands in the manifest.

        >>> Generation().settings()
        {'temperature': 0.0, 'max_tokens': None, 'model_args': {}}
        """
        told = asdict(self)
        return {name: told[name] for name in ("temperature", "max_tokens", "model_args")}

    def key(self) -> str:
        """The same as one text."""
        return json.dumps(self.settings(), sort_keys=True, default=str)
