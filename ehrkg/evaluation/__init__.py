"""Evaluate: questions and a model in, scores, controls and a report out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from ehrkg.evaluation.appraising import appraise
    from ehrkg.evaluation.asking.asked import Asked, asked_of
    from ehrkg.evaluation.baselines import (
        Baseline,
        Chance,
        Cooccurrence,
        EmbeddingSimilarity,
        KeySource,
        Logistic,
        MostFrequent,
        practice_of,
    )
    from ehrkg.evaluation.evaluating import evaluate
    from ehrkg.evaluation.measures.breakdowns import breakdown, macro
    from ehrkg.evaluation.measures.calibration import calibration_of, reliability_of
    from ehrkg.evaluation.measures.comparison import pairwise, ranks_of, stem_gain
    from ehrkg.evaluation.measures.spending import cost_of, parse_failures
    from ehrkg.evaluation.measures.stability import robustness
    from ehrkg.evaluation.measures.summary import accuracy_by, open_ended_by, several_right_by
    from ehrkg.evaluation.perturbations import PERTURBATIONS, Perturbed, perturb
    from ehrkg.evaluation.perturbations.scored import perturb_baselines, score_perturbed
    from ehrkg.evaluation.report import ReportData, gather_report, write_report
    from ehrkg.evaluation.results import Results
    from ehrkg.evaluation.run import score_baselines
    from ehrkg.evaluation.scoring.choices import told_by_code
    from ehrkg.evaluation.scoring.planted import PlantedShare, planted_in, planted_shares
    from ehrkg.evaluation.scoring.scores import run_baselines
    from ehrkg.evaluation.settings import Setting

_HOMES = {
    "PERTURBATIONS": "perturbations",
    "Baseline": "baselines",
    "Asked": "asking.asked",
    "Chance": "baselines",
    "Cooccurrence": "baselines",
    "EmbeddingSimilarity": "baselines",
    "KeySource": "baselines",
    "Logistic": "baselines",
    "MostFrequent": "baselines",
    "Perturbed": "perturbations",
    "PlantedShare": "scoring.planted",
    "ReportData": "report",
    "Results": "results",
    "Setting": "settings",
    "accuracy_by": "measures.summary",
    "appraise": "appraising",
    "breakdown": "measures.breakdowns",
    "calibration_of": "measures.calibration",
    "cost_of": "measures.spending",
    "gather_report": "report",
    "macro": "measures.breakdowns",
    "evaluate": "evaluating",
    "open_ended_by": "measures.summary",
    "pairwise": "measures.comparison",
    "parse_failures": "measures.spending",
    "perturb": "perturbations",
    "perturb_baselines": "perturbations.scored",
    "planted_in": "scoring.planted",
    "planted_shares": "scoring.planted",
    "ranks_of": "measures.comparison",
    "reliability_of": "measures.calibration",
    "robustness": "measures.stability",
    "asked_of": "asking.asked",
    "practice_of": "baselines",
    "run_baselines": "scoring.scores",
    "score_baselines": "run",
    "score_perturbed": "perturbations.scored",
    "several_right_by": "measures.summary",
    "stem_gain": "measures.comparison",
    "told_by_code": "scoring.choices",
    "write_report": "report",
}

__all__ = [
    "PERTURBATIONS",
    "Asked",
    "Baseline",
    "Chance",
    "Cooccurrence",
    "EmbeddingSimilarity",
    "KeySource",
    "Logistic",
    "MostFrequent",
    "Perturbed",
    "PlantedShare",
    "ReportData",
    "Results",
    "Setting",
    "accuracy_by",
    "appraise",
    "asked_of",
    "breakdown",
    "calibration_of",
    "cost_of",
    "evaluate",
    "gather_report",
    "macro",
    "open_ended_by",
    "pairwise",
    "parse_failures",
    "perturb",
    "perturb_baselines",
    "planted_in",
    "planted_shares",
    "practice_of",
    "ranks_of",
    "reliability_of",
    "robustness",
    "run_baselines",
    "score_baselines",
    "score_perturbed",
    "several_right_by",
    "stem_gain",
    "told_by_code",
    "write_report",
]

__getattr__ = lazy_names(__name__, _HOMES)
