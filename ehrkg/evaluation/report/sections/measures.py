"""Calibration, cost against accuracy, answers that could not be read."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.measures.calibration import BINS, calibration_of, reliability_of
from ehrkg.evaluation.measures.spending import cost_of, parse_failures
from ehrkg.evaluation.measures.summary import accuracy_by
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.overview import form_words
from ehrkg.evaluation.report.sections.settings_words import (
    as_asked,
    patients_of,
    setting_words,
)

MODEL = ("model", "setting")


def calibration(data: ReportData) -> dict[str, Any] | str:
    """Where a model gives likelihoods: how sure it is, and how often that is right."""
    known = data.scores.filter(pc.is_valid(data.scores["probabilities"]))
    if not known.num_rows:
        return "no model gave likelihoods of the options"
    keys = (*MODEL, "task", "format")
    patients = patients_of(known, keys)
    asked = as_asked(known)
    return {
        "rows": [
            row
            | {
                "patients": patients[tuple(row[name] for name in keys)],
                "setting": setting_words(row["setting"]),
                "form": _form(row["format"]),
            }
            for row in calibration_of(asked).to_pylist()
        ],
        "bins": _bins(asked, data.seed),
    }


def _bins(asked: pa.Table, seed: int) -> list[dict[str, Any]]:
    """The bins of each model, setting and format, for a chart."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in reliability_of(asked, seed=seed).to_pylist():
        place = row.pop("bin")
        row["sure"] = f"{100 * place // BINS} to {100 * (place + 1) // BINS} %"
        row["from"], row["width"] = place / BINS, 1 / BINS
        found.setdefault((row["model"], row["setting"], row["format"]), []).append(row)
    return [
        {"model": model, "setting": setting_words(setting), "form": _form(form), "rows": rows}
        for (model, setting, form), rows in found.items()
    ]


def _form(form: str) -> str:
    return form_words(form, 0) if form != "mcq" else "options"


def cost(data: ReportData) -> dict[str, Any] | str:
    """What each model's answers took, beside the accuracy that this bought."""
    plain = as_asked(data.scores)
    patients = patients_of(plain, MODEL) if plain.num_rows else {}
    right = _accuracy(plain)
    rows = [
        row
        | {
            "patients": patients[row["model"], row["setting"]],
            "accuracy": right.get((row["model"], row["setting"])),
            "setting": setting_words(row["setting"]),
        }
        for row in cost_of(plain).to_pylist()
        if row["measured"] or row["cost"] is not None or row["seconds"] is not None
    ]
    if not rows:
        return "no model's tokens, price or time were measured; baselines cost nothing"
    return {"rows": rows, "priced": any(row["cost_per_1000"] is not None for row in rows)}


def _accuracy(plain: pa.Table) -> dict[tuple[str, str], float]:
    """Accuracy of each model and setting: the mean over tasks and numbers of options."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in accuracy_by(plain).to_pylist():
        found.setdefault((row["model"], row["setting"]), []).append(row["accuracy"])
    return {key: sum(values) / len(values) for key, values in found.items()}


def unread(data: ReportData) -> list[dict[str, Any]]:
    """Answers that could not be read, by model, setting and format.

    A baseline's answers need no reading: it is told of only where one failed.
    """
    asked = {one["model"] for one in data.manifest.get("evaluations", ())}
    keys = (*MODEL, "format")
    patients = patients_of(data.scores, keys) if data.scores.num_rows else {}
    return [
        row
        | {
            "patients": patients[tuple(row[name] for name in keys)],
            "setting": setting_words(row["setting"]),
            "form": _form(row["format"]),
        }
        for row in parse_failures(data.scores).to_pylist()
        if row["failures"] or row["model"] in asked
    ]
