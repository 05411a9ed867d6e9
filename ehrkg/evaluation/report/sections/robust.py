"""How far answers hold when the same question is put otherwise."""

from __future__ import annotations

from typing import Any

from ehrkg.evaluation.measures.stability import robustness
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.overview import form_words
from ehrkg.evaluation.report.sections.settings_words import setting_words


def collect(data: ReportData) -> dict[str, Any] | str:
    """Change and consistency under each perturbation, by model, task and format."""
    rows = robustness(data.scores, seed=data.seed).to_pylist()
    if not rows:
        return "no model was asked perturbed questions"
    models = sorted({(row["model"], row["setting"]) for row in rows})
    return {
        "models": [
            {
                "model": model,
                "setting": setting_words(setting),
                "rows": [
                    row
                    | {
                        "perturbation": row["perturbation"].replace("_", " "),
                        "form": form_words(row["format"], 0) if row["format"] != "mcq" else "",
                    }
                    for row in rows
                    if (row["model"], row["setting"]) == (model, setting)
                ],
            }
            for model, setting in models
        ]
    }
