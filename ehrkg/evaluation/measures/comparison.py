"""Models against each other, and each against what it does without the stem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.measures.clusters import (
    Floats,
    Groups,
    Ints,
    clustered_differences,
    group_rows,
    numbered,
)
from ehrkg.evaluation.measures.ranks import average_rank, kendalls_w, ranks, scores_of_halves
from ehrkg.evaluation.measures.significance import compared
from ehrkg.evaluation.measures.summary import BY_MODEL, filled, of_format
from ehrkg.evaluation.settings import CONTROLS, PLAIN, Setting

STEM_GAIN = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("setting", pa.string()),
        ("control", pa.string()),
        ("task", pa.string()),
        ("n_options", pa.int32()),
        ("items", pa.int32()),
        ("patients", pa.int32()),
        ("gain", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("p", pa.float64()),
    ]
)
RANKS = pa.schema(
    [
        ("setting", pa.string()),
        ("model", pa.string()),
        ("average_rank", pa.float64()),
        ("best_rank", pa.float64()),
        ("worst_rank", pa.float64()),
        ("cells", pa.int32()),  # tasks and numbers of options that it is ranked in
        ("items", pa.int32()),
        ("w_cells", pa.float64()),  # Kendall's W over those; the same in all rows of a setting
        ("w_halves", pa.float64()),  # and over two disjoint halves of the patients
    ]
)
PAIRWISE = pa.schema(
    [
        ("setting", pa.string()),
        ("first", pa.string()),
        ("second", pa.string()),
        ("items", pa.int32()),
        ("patients", pa.int32()),
        ("difference", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("p", pa.float64()),
        ("p_holm", pa.float64()),
    ]
)


def stem_gain(scores: pa.Table, *, format: str = "mcq") -> pa.Table:  # noqa: A002
    """What the stem is worth: accuracy less that of the same model under each control, paired.

    The mean over questions of ``correct(plain) - correct(control)``, with the interval and p of
    ``clusters.clustered_differences``. Questions that were not asked in both ways are left out.

    Args:
        scores: the schema ``SCORES``.
        format: of the questions.

    Returns:
        The schema ``STEM_GAIN``, rounded to 4; ``setting`` is the one without the control.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance()).scores
    >>> stem_gain(scores).select(["control", "gain"]).to_pylist()
    [{'control': 'no_stem', 'gain': 0.0}, {'control': 'other_stem', 'gain': 0.0}]
    """
    part = of_format(scores, format)
    names = sorted(set(part["setting"].unique().to_pylist()))
    tables = []
    for name in names:
        asked = Setting.parse(name)
        if asked.control == PLAIN:
            continue
        plain = replace(asked, control=PLAIN).name
        tables.append(_gain(part, plain, name, asked.control))
    return pa.concat_tables([STEM_GAIN.empty_table(), *tables]).sort_by(
        [(name, "ascending") for name in (*BY_MODEL, "control", "task", "n_options")]
    )


def _gain(part: pa.Table, plain: str, under: str, control: str) -> pa.Table:
    joined = paired(part, plain, under)
    groups = group_rows(joined, (*BY_MODEL, "task", "n_options"))
    found = clustered_differences(
        np.asarray(joined["correct"]) - np.asarray(joined["other"]),
        groups,
        numbered(joined["cluster"]),
    )
    keys = groups.keys.append_column("control", pa.array([control] * len(groups), pa.string()))
    return filled(
        STEM_GAIN,
        keys,
        {
            "items": found.n.astype(np.float64),
            "patients": found.clusters.astype(np.float64),
            "gain": found.mean,
            "low": found.low,
            "high": found.high,
            "p": found.p,
        },
    )


def paired(scores: pa.Table, setting: str, other: str, more: Sequence[str] = ()) -> pa.Table:
    """The rows of one setting, each beside the same model's score of the item in another.

    Args:
        scores: the schema ``SCORES``.
        setting: the rows to keep.
        other: the setting whose ``correct`` stands beside them as ``other``.
        more: further columns of the other setting, each as ``other_NAME``.

    Returns:
        The rows of ``setting`` that the other has too, sorted by model and item.
    """
    order = [("model", "ascending"), ("item_id", "ascending")]
    first = scores.filter(pc.equal(scores["setting"], setting)).sort_by(order)
    second = scores.filter(pc.equal(scores["setting"], other)).sort_by(order)
    keys = _keys(first, second)
    here, there = keys[: first.num_rows], keys[first.num_rows :]
    _, at, beside = np.intersect1d(here, there, assume_unique=True, return_indices=True)
    first, second = first.take(pa.array(at)), second.take(pa.array(beside))
    first = first.append_column("other", second["correct"])
    for name in more:
        first = first.append_column(f"other_{name}", second[name])
    return first


def ranks_of(scores: pa.Table, *, format: str = "mcq", seed: int = 7) -> pa.Table:  # noqa: A002
    """Average rank of each model, and whether tasks, options and patients agree on the order.

    Models are ranked by accuracy in each cell (a task and a number of options), on the questions
    that all of them answered: ``ranks.average_rank``. Kendall's W (``ranks.kendalls_w``) is given
    over the cells, and over two disjoint halves of the patients. The key source is left out, as are
    the controls.

    Args:
        scores: the schema ``SCORES``; leave out models that answered few questions.
        format: of the questions.
        seed: of the halving.

    Returns:
        The schema ``RANKS``, the best model of each setting first, rounded to 4; W is null where
        there is nothing to agree on.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance(), Chance("chance again")).scores
    >>> ranks_of(scores).select(["model", "average_rank"]).to_pylist()
    [{'model': 'chance', 'average_rank': 1.5}, {'model': 'chance again', 'average_rank': 1.5}]
    """
    rows: list[dict[str, object]] = []
    for setting, part in ranked_settings(scores, format):
        models, table, items = by_model(part)
        common = np.isfinite(table).all(axis=0)
        if len(models) < 2 or not common.any():
            continue
        table, items = table[:, common], items.filter(pa.array(common))
        cells = group_rows(items, ("task", "n_options"))
        accuracy = _cell_means(table, cells)
        placed = ranks(accuracy)
        halves = _halves(table, items["cluster"], seed)
        shared = {
            "setting": setting,
            "cells": len(cells),
            "items": items.num_rows,
            "w_cells": _rounded(kendalls_w(accuracy)),
            "w_halves": None if halves is None else _rounded(kendalls_w(halves)),
        }
        averages = average_rank(accuracy)
        rows += [
            shared
            | {
                "model": models[at],
                "average_rank": _rounded(averages[at]),
                "best_rank": float(placed[:, at].min()),
                "worst_rank": float(placed[:, at].max()),
            }
            for at in sorted(range(len(models)), key=lambda at: (averages[at], models[at]))
        ]
    return pa.Table.from_pylist(rows, RANKS)


def pairwise(
    scores: pa.Table,
    *,
    format: str = "mcq",  # noqa: A002 - the name of the column
    level: float = 0.95,
) -> pa.Table:
    """Every pair of models in every setting, on the questions that both answered.

    See ``significance.compared`` for formula and source; p is corrected by Holm among the pairs of
    a setting. The key source is left out, as are the controls.

    Args:
        scores: the schema ``SCORES``.
        format: of the questions.
        level: coverage of the intervals, which are not corrected.

    Returns:
        The schema ``PAIRWISE``; differences rounded to 4, p to 6.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance(), Chance("chance again")).scores
    >>> pairwise(scores).select(["first", "second", "difference", "p_holm"]).to_pylist()
    [{'first': 'chance', 'second': 'chance again', 'difference': 0.0, 'p_holm': 1.0}]
    """
    rows: list[dict[str, object]] = []
    for setting, part in ranked_settings(scores, format):
        models, table, items = by_model(part)
        pairs = compared(models, list(table), numbered(items["cluster"]), level=level)
        rows += [
            {
                "setting": setting,
                "first": pair.first,
                "second": pair.second,
                "items": pair.items,
                "patients": pair.patients,
                "difference": round(pair.difference, 4),
                "low": round(pair.low, 4),
                "high": round(pair.high, 4),
                "p": round(pair.p, 6),
                "p_holm": pair.p_holm,
            }
            for pair in pairs
            if pair.items
        ]
    return pa.Table.from_pylist(rows, PAIRWISE)


def ranked_settings(scores: pa.Table, form: str) -> list[tuple[str, pa.Table]]:
    """The settings in which models are ranked: all but the controls, without the key source."""
    part = of_format(scores, form)
    part = part.filter(pc.invert(part["key_source"]))
    names = sorted(set(part["setting"].unique().to_pylist()))
    return [
        (name, part.filter(pc.equal(part["setting"], name)))
        for name in names
        if Setting.parse(name).control not in CONTROLS[1:]
    ]


def by_model(part: pa.Table) -> tuple[list[str], Floats, pa.Table]:
    """How right each model is on each question, of one setting.

    Returns:
        The models; a row a model, a column a question, NaN where it was not asked; the questions.
    """
    items = group_rows(part, ["item_id"])
    models = group_rows(part, ["model"])
    table = np.full((len(models), len(items)), np.nan)
    table[models.of, items.of] = np.asarray(part["correct"], dtype=np.float64)
    first = np.unique(items.of, return_index=True)[1]
    return models.keys["model"].to_pylist(), table, part.take(pa.array(first))


def _halves(table: Floats, clusters: pa.ChunkedArray, seed: int) -> Floats | None:
    """Accuracy on each half of the patients, a column a model; None for a single patient."""
    if pc.count_distinct(clusters).as_py() < 2:
        return None
    return np.round(scores_of_halves(table, clusters.to_pylist(), seed=seed), 6)


def _cell_means(table: Floats, cells: Groups) -> Floats:
    """Accuracy, a row a cell and a column a model, rounded so that equals tie."""
    n = np.bincount(cells.of, minlength=len(cells))
    sums = [np.bincount(cells.of, weights=row, minlength=len(cells)) for row in table]
    return np.round(np.column_stack(sums) / n[:, None], 6)


def _keys(first: pa.Table, second: pa.Table) -> Ints:
    """A number for each (model, item) of both tables, the same for the same."""
    models = numbered(pa.chunked_array([*first["model"].chunks, *second["model"].chunks]))
    items = numbered(pa.chunked_array([*first["item_id"].chunks, *second["item_id"].chunks]))
    width = int(items.max(initial=0)) + 1
    return models * width + items


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)
