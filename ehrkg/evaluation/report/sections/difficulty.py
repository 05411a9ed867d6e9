"""What makes questions hard: options, frequency of the answer, chapter, age and sex."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.measures.breakdowns import breakdown, macro
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.selection import named_chapter
from ehrkg.evaluation.report.sections.settings_words import (
    as_asked,
    best_first,
    setting_words,
)
from ehrkg.evaluation.report.shareable import LEAST

PARTS = (
    ("n_options", "number of options"),
    ("answer_frequency", "visits that hold the answer"),
    ("chapter", "chapter of the answer"),
    ("age_band", "age"),
    ("sex", "sex"),
)
"""What accuracy is broken down by, and how that is called."""


def collect(data: ReportData) -> dict[str, Any] | None:
    """Accuracy of each model by what its questions differ in, over all tasks together.

    A model that was asked about too few patients to tell of is left out.
    """
    scores = as_asked(data.scores)
    scores = scores.filter(pc.equal(scores["format"], "mcq"))
    if not scores.num_rows:
        return None
    return {"parts": [found for by, title in PARTS if (found := _part(data, scores, by, title))]}


def _part(data: ReportData, scores: pa.Table, by: str, title: str) -> dict[str, Any] | None:
    if by == "answer_frequency" and data.pool is None:
        return None
    # One group a value, whatever the task: the tasks are told apart in a section of their own.
    task = scores.column_names.index("task")
    together = scores.set_column(task, "task", pa.repeat("all", scores.num_rows))
    rows = breakdown(together, data.templates, by=by, pool=data.pool, seed=data.seed).to_pylist()
    averages = macro(scores, data.templates, by=by, pool=data.pool, seed=data.seed).to_pylist()
    averages.sort(key=best_first)
    return {
        "title": title,
        "by": by,
        "models": [
            {
                "model": whole["model"],
                "setting": setting_words(whole["setting"]),
                "key_source": whole["key_source"],
                "macro": whole,
                "rows": [
                    row | {"name": _value(by, row["value"])}
                    for row in rows
                    if (row["model"], row["setting"]) == (whole["model"], whole["setting"])
                ],
            }
            for whole in averages
            if whole["patients"] >= LEAST
        ],
    }


def _value(by: str, value: str) -> str:
    if by == "n_options":
        return f"{value} options"
    if by == "chapter":
        return named_chapter(*value.split(" ", 1)) if ":" in value else value
    if by == "sex":
        return {"F": "female", "M": "male"}.get(value, value)
    return value
