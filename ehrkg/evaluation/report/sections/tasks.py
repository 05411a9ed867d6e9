"""Task by model: every format, every number of options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.measures.summary import accuracy_by, open_ended_by, several_right_by
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.settings_words import (
    as_asked,
    best_first,
    patients_of,
    setting_words,
    with_controls,
)
from ehrkg.evaluation.scoring.appraisals import APPRAISALS

KEYS = ("task", "n_options")
APPRAISED_BY = ("model", "setting", "task")


def collect(data: ReportData) -> dict[str, Any] | None:
    """Accuracy by task of each model at the least number of options, and in full; other formats."""
    if not data.scores.num_rows:
        return None
    rows = _accuracy(data, "mcq")
    least = min((int(row["n_options"]) for row in rows), default=0)
    shown = [row for row in rows if row["n_options"] == str(least) and not row["key_source"]]
    plain = as_asked(data.scores)
    open_ended = _open_ended(plain, data.seed)
    return {
        "options": str(least),
        "tasks": [
            {
                "task": task,
                "chance": str(1 / least),
                "rows": sorted(
                    (row for row in shown if row["task"] == task),
                    key=best_first,
                ),
            }
            for task in sorted({row["task"] for row in shown})
        ],
        "choices": rows,
        "yesno": _accuracy(data, "yesno"),
        "several": _named(several_right_by(plain, seed=data.seed).to_pylist()),
        "open_ended": open_ended,
        "judge": _who(open_ended, "judged", (data.manifest.get("judges") or [{}])[-1]),
        "likened": _who(open_ended, "likeness", data.manifest.get("bert_score") or {}),
    }


def _accuracy(data: ReportData, form: str) -> list[dict[str, Any]]:
    found = accuracy_by(data.scores, format=form, seed=data.seed).to_pylist()
    return [row | {"n_options": str(row["n_options"])} for row in with_controls(found, KEYS)]


def _open_ended(plain: pa.Table, seed: int) -> list[dict[str, Any]]:
    """Open answers; what a judge and BERTScore say of them, with the patients that it rests on."""
    rows: list[dict[str, Any]] = open_ended_by(plain, seed=seed).to_pylist()
    known = {
        name: patients_of(plain.filter(pc.is_valid(plain[name])), APPRAISED_BY)
        for name in APPRAISALS
    }
    for row in rows:
        judged, likened = (
            known[name].get(tuple(row[key] for key in APPRAISED_BY), 0) for name in APPRAISALS
        )
        row["judged"] = {"share": row["judged"], "items": row["judged_items"], "patients": judged}
        row["likeness"] = {"mean": row.pop("bert_f1"), "patients": likened}
    return [row | {"setting": setting_words(row["setting"])} for row in rows]


def _who(rows: list[dict[str, Any]], figure: str, told: Mapping[str, Any]) -> str:
    """By which model a figure of open answers is; "" where no row has one."""
    if not any(row[figure]["patients"] for row in rows):
        return ""
    return str(told.get("model", "a model that the manifest does not name"))


def _named(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"setting": setting_words(row["setting"])} for row in rows]
