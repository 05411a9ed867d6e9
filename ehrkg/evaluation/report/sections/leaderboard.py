"""Models and baselines with intervals and controls; what wrote the key stands apart."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.measures.breakdowns import macro
from ehrkg.evaluation.measures.comparison import pairwise, ranks_of
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.settings_words import (
    as_asked,
    best_first,
    patients_of,
    setting_words,
    with_controls,
)

RANKED_FROM = 30
"""A model that was asked about fewer patients is not ranked: ranks are over what all answered."""


def collect(data: ReportData) -> dict[str, Any] | str:
    """Macro accuracy over the tasks at the least number of options; ranks; every pair."""
    choices = data.scores.filter(pc.equal(data.scores["format"], "mcq"))
    if not choices.num_rows:
        return "no model and no baseline has answered a question with options"
    least = pc.min(choices["n_options"]).as_py()
    shown = choices.filter(pc.equal(choices["n_options"], least))
    told = macro(shown, data.templates, by="task", seed=data.seed)
    rows = sorted(
        with_controls(told.to_pylist(), ()),
        key=best_first,
    )
    compared = _of_enough(as_asked(choices))
    return {
        "options": str(least),
        "chance": str(1 / least),
        "tasks": sorted(pc.unique(shown["task"]).to_pylist()),
        "models": [row for row in rows if not row["key_source"]],
        "key_source": [row for row in rows if row["key_source"]],
        "ranked_from": str(RANKED_FROM),
        "ranks": _ranks(compared, data.seed),
        "pairs": _pairs(compared),
    }


def _of_enough(plain: pa.Table) -> pa.Table:
    """The answers of models that were asked about enough patients to be compared."""
    patients = patients_of(plain, ("model", "setting"))
    few = {pair for pair, count in patients.items() if count < RANKED_FROM}
    named = zip(plain["model"].to_pylist(), plain["setting"].to_pylist(), strict=True)
    return plain.filter(pa.array([pair not in few for pair in named], pa.bool_()))


def _ranks(ranked: pa.Table, seed: int) -> list[dict[str, Any]]:
    """Average ranks, with the patients that they rest on."""
    return [
        row
        | {
            "patients": _in_common(ranked, row["setting"]),
            "setting": setting_words(row["setting"]),
            "cells": str(row["cells"]),
        }
        for row in ranks_of(ranked, seed=seed).to_pylist()
    ]


def _in_common(ranked: pa.Table, setting: str) -> int:
    """Patients of the questions that all models but the key source answered in a setting."""
    part = ranked.filter(
        pc.and_(pc.equal(ranked["setting"], setting), pc.invert(ranked["key_source"]))
    )
    models = pc.count_distinct(part["model"]).as_py()
    by_item = part.group_by(["item_id", "cluster"]).aggregate([("model", "count_distinct")])
    shared = by_item.filter(pc.equal(by_item["model_count_distinct"], models))
    return int(pc.count_distinct(shared["cluster"]).as_py())


def _pairs(choices: pa.Table) -> list[dict[str, Any]]:
    return [
        row | {"setting": setting_words(row["setting"])} for row in pairwise(choices).to_pylist()
    ]
