"""Propose: visits in, candidate relations out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names
from ehrkg.propose.cooccurrence import Cooccurrence
from ehrkg.propose.proposer import Proposer, keeping_answers
from ehrkg.propose.tasks import Task, choose_tasks, tasks

if TYPE_CHECKING:
    from ehrkg.propose.models import (
        Anthropic,
        AnthropicBatches,
        Budget,
        Consent,
        LanguageModel,
        OpenAICompatible,
        Transformers,
    )
    from ehrkg.propose.union import Union

_HOMES = {
    "Anthropic": "models",
    "AnthropicBatches": "models",
    "Budget": "models",
    "Consent": "models",
    "LanguageModel": "models",
    "OpenAICompatible": "models",
    "Transformers": "models",
    "Union": "union",
}

__all__ = [
    "Anthropic",
    "AnthropicBatches",
    "Budget",
    "Consent",
    "Cooccurrence",
    "LanguageModel",
    "OpenAICompatible",
    "Proposer",
    "Task",
    "Transformers",
    "Union",
    "choose_tasks",
    "keeping_answers",
    "tasks",
]

__getattr__ = lazy_names(__name__, _HOMES)
