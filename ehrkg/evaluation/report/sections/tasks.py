"""Task by model: every format, every number of options."""

from __future__ import annotations

from typing import Any

from ehrkg.evaluation.measures.summary import accuracy_by, open_ended_by, several_right_by
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.settings_words import (
    as_asked,
    best_first,
    setting_words,
    with_controls,
)

KEYS = ("task", "n_options")


def collect(data: ReportData) -> dict[str, Any] | None:
    """Accuracy by task of each model at the least number of options, and in full; other formats."""
    if not data.scores.num_rows:
        return None
    rows = _accuracy(data, "mcq")
    least = min((int(row["n_options"]) for row in rows), default=0)
    shown = [row for row in rows if row["n_options"] == str(least) and not row["key_source"]]
    plain = as_asked(data.scores)
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
        "open_ended": _named(open_ended_by(plain, seed=data.seed).to_pylist()),
    }


def _accuracy(data: ReportData, form: str) -> list[dict[str, Any]]:
    found = accuracy_by(data.scores, format=form, seed=data.seed).to_pylist()
    return [row | {"n_options": str(row["n_options"])} for row in with_controls(found, KEYS)]


def _named(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"setting": setting_words(row["setting"])} for row in rows]
