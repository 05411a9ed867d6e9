"""Evaluate: questions and a model in, scores, controls and a report out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from ehrkg.evaluation.baselines import (
        Baseline,
        Chance,
        EmbeddingSimilarity,
        KeySource,
        MostFrequent,
    )
    from ehrkg.evaluation.planted import PlantedShare, planted_in, planted_shares
    from ehrkg.evaluation.report import ReportData, write_report
    from ehrkg.evaluation.results import Results, evaluate
    from ehrkg.evaluation.run import score_baselines
    from ehrkg.evaluation.scoring import run_baselines
    from ehrkg.evaluation.settings import Setting
    from ehrkg.evaluation.summary import accuracy_by, open_ended_by

_HOMES = {
    "Baseline": "baselines",
    "Chance": "baselines",
    "EmbeddingSimilarity": "baselines",
    "KeySource": "baselines",
    "MostFrequent": "baselines",
    "PlantedShare": "planted",
    "ReportData": "report",
    "Results": "results",
    "accuracy_by": "summary",
    "evaluate": "results",
    "open_ended_by": "summary",
    "planted_in": "planted",
    "planted_shares": "planted",
    "run_baselines": "scoring",
    "Setting": "settings",
    "score_baselines": "run",
    "write_report": "report",
}

__all__ = [
    "Baseline",
    "Chance",
    "EmbeddingSimilarity",
    "KeySource",
    "MostFrequent",
    "PlantedShare",
    "ReportData",
    "Results",
    "Setting",
    "accuracy_by",
    "evaluate",
    "open_ended_by",
    "planted_in",
    "planted_shares",
    "run_baselines",
    "score_baselines",
    "write_report",
]

__getattr__ = lazy_names(__name__, _HOMES)
