"""Verifying: candidate relations and knowledge in; verdicts, scores and evidence out."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ehrkg.verify.schema import EVIDENCE, RELATIONS, Verified

if TYPE_CHECKING:
    from ehrkg.verify.embedding import Embedder, SentenceTransformerEmbedder
    from ehrkg.verify.pairs import Pairs, resolve_pairs
    from ehrkg.verify.policy import Policy
    from ehrkg.verify.verifier import verify

_PLACES = {
    "Embedder": "embedding",
    "SentenceTransformerEmbedder": "embedding",
    "Pairs": "pairs",
    "Policy": "policy",
    "resolve_pairs": "pairs",
    "verify": "verifier",
}

__all__ = [
    "EVIDENCE",
    "RELATIONS",
    "Embedder",
    "Pairs",
    "Policy",
    "SentenceTransformerEmbedder",
    "Verified",
    "resolve_pairs",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"ehrkg.verify.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
