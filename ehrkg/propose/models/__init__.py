"""Language models that propose: one protocol, a file a kind of model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from ehrkg.propose.models.anthropic import Anthropic
    from ehrkg.propose.models.anthropic_batches import AnthropicBatches
    from ehrkg.propose.models.budget import Budget, Estimate
    from ehrkg.propose.models.consent import Consent
    from ehrkg.propose.models.language_model import LanguageModel
    from ehrkg.propose.models.openai_compatible import OpenAICompatible
    from ehrkg.propose.models.transformers import Transformers

_HOMES = {
    "Anthropic": "anthropic",
    "AnthropicBatches": "anthropic_batches",
    "Budget": "budget",
    "Consent": "consent",
    "Estimate": "budget",
    "LanguageModel": "language_model",
    "OpenAICompatible": "openai_compatible",
    "Transformers": "transformers",
}

__all__ = [
    "Anthropic",
    "AnthropicBatches",
    "Budget",
    "Consent",
    "Estimate",
    "LanguageModel",
    "OpenAICompatible",
    "Transformers",
]

__getattr__ = lazy_names(__name__, _HOMES)
