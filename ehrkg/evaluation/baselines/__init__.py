"""Baselines that need no model server: what a question is worth without understanding it.

A baseline gives each option a utility; the best one is its choice, and a tie among k best options
counts 1/k, so that no order of options helps. The knowledge graph wrote the key: it stands apart as
``key source`` and is never ranked.

What is learnt is learnt from the training split alone, and a training patient is answered by what
the other half of the training patients taught (``asked.LEARNT_FROM``).
"""

from __future__ import annotations

from ehrkg.evaluation.baselines.cooccurrence import Cooccurrence
from ehrkg.evaluation.baselines.embedding import EmbeddingSimilarity
from ehrkg.evaluation.baselines.key_source import KeySource
from ehrkg.evaluation.baselines.logistic import Logistic
from ehrkg.evaluation.baselines.practice import Practice, practice_of
from ehrkg.evaluation.baselines.protocol import Baseline, Utilities
from ehrkg.evaluation.baselines.simple import Chance, MostFrequent

__all__ = [
    "Baseline",
    "Chance",
    "Cooccurrence",
    "EmbeddingSimilarity",
    "KeySource",
    "Logistic",
    "MostFrequent",
    "Practice",
    "Utilities",
    "practice_of",
]
