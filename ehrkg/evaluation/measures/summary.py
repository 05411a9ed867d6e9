"""Scores in, the main tables of figures out: accuracy, several right answers, open answers.

Every table has a row a model and setting and what else its schema names, its means rounded to four
places, its intervals of 95 %. None goes through rows one by one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.intervals import wilson
from ehrkg.evaluation.measures.clusters import (
    Floats,
    Groups,
    Means,
    clustered_means,
    group_rows,
    numbered,
)
from ehrkg.foundation.errors import UsageError

BY_MODEL = ("model", "key_source", "setting")
"""The columns that every table of figures begins with."""

WITH_OPTIONS = ("mcq", "yesno", "multi")
"""Formats whose ``correct`` is an accuracy."""

ONE_RIGHT = ("mcq", "yesno")
"""Formats of which one option is right: chance is one over their number."""

_MODEL = [("model", pa.string()), ("key_source", pa.bool_()), ("setting", pa.string())]
_SIZE = [("items", pa.int32()), ("patients", pa.int32())]
_INTERVAL = [("low", pa.float64()), ("high", pa.float64())]
_WILSON = [("wilson_low", pa.float64()), ("wilson_high", pa.float64())]

ACCURACY = pa.schema(
    [
        *_MODEL,
        ("task", pa.string()),
        ("n_options", pa.int32()),
        *_SIZE,
        ("accuracy", pa.float64()),
        *_INTERVAL,  # of patients
        ("chance", pa.float64()),
        *_WILSON,  # of questions, as if each were another patient's
    ]
)
SEVERAL_RIGHT = pa.schema(
    [
        *_MODEL,
        ("task", pa.string()),
        *_SIZE,
        ("exact_set", pa.float64()),
        *_INTERVAL,
        ("jaccard", pa.float64()),
        ("jaccard_low", pa.float64()),
        ("jaccard_high", pa.float64()),
    ]
)
OPEN_ENDED = pa.schema(
    [
        *_MODEL,
        ("task", pa.string()),
        *_SIZE,
        ("coverage", pa.float64()),
        *_INTERVAL,
        ("exact", pa.float64()),
        ("rouge1", pa.float64()),
        ("rouge_l", pa.float64()),
        ("bert_f1", pa.float64()),
        ("judged", pa.float64()),
        ("judged_items", pa.int32()),
    ]
)


def accuracy_by(scores: pa.Table, *, format: str = "mcq", seed: int = 7) -> pa.Table:  # noqa: A002
    """Accuracy by model, setting, task and number of options, of one format.

    The share of right answers, a tie among k best options counting 1/k. Two intervals: ``low`` and
    ``high`` resample patients (see ``clusters.clustered_means``), ``wilson_low`` and
    ``wilson_high`` are Wilson's of as many independent questions (Wilson 1927, JASA 22:209), which
    are too narrow where patients have several.

    Args:
        scores: the schema ``SCORES``.
        format: ``mcq``, ``yesno`` or ``multi`` (then the whole set must be right).
        seed: of the bootstrap.

    Returns:
        The schema ``ACCURACY``; ``chance`` is null where several options are right.

    Raises:
        UsageError: the format has no options to choose from.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance()).scores
    >>> accuracy_by(scores).select(["setting", "items", "accuracy"]).to_pylist()[2]
    {'setting': 'plain', 'items': 12, 'accuracy': 0.25}
    """
    if format not in WITH_OPTIONS:
        raise UsageError(
            f"no accuracy of the format {format!r}", todo=f"use one of {', '.join(WITH_OPTIONS)}"
        )
    part = of_format(scores, format)
    groups = group_rows(part, (*BY_MODEL, "task", "n_options"))
    options = np.asarray(groups.keys["n_options"], dtype=np.float64)
    chance = np.round(1 / options, 4) if format in ONE_RIGHT else np.full(len(groups), np.nan)
    found = means_of(part, "correct", groups, seed=seed)
    return filled(ACCURACY, groups.keys, mean_columns("accuracy", found), {"chance": chance})


def several_right_by(scores: pa.Table, *, seed: int = 7) -> pa.Table:
    """Questions with several right options, by model, setting and task.

    ``exact_set`` is the share of questions whose chosen options are just the right ones (subset
    accuracy); ``jaccard`` the mean of ``|chosen and right| / |chosen or right|`` (Jaccard 1912, New
    Phytologist 11:37; as an accuracy of sets Godbole and Sarawagi 2004, PAKDD).

    Args:
        scores: the schema ``SCORES``; of the format ``multi`` are looked at.
        seed: of the bootstrap.

    Returns:
        The schema ``SEVERAL_RIGHT``.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance()).scores
    >>> several_right_by(scores).num_rows
    0
    """
    part = of_format(scores, "multi")
    part = part.filter(pc.is_valid(part["partial"]))
    groups = group_rows(part, (*BY_MODEL, "task"))
    exact = means_of(part, "correct", groups, seed=seed)
    shared = means_of(part, "partial", groups, seed=seed)
    return filled(
        SEVERAL_RIGHT,
        groups.keys,
        mean_columns("exact_set", exact),
        {"jaccard": shared.mean, "jaccard_low": shared.low, "jaccard_high": shared.high},
    )


def open_ended_by(scores: pa.Table, *, seed: int = 7) -> pa.Table:
    """Open-ended questions by model, setting and task.

    ``coverage`` is relation coverage (``metrics.relation_coverage``), with an interval over
    patients; ``exact`` the share whose whole text is an accepted answer (exact match, Rajpurkar et
    al. 2016, EMNLP); ROUGE-1 and ROUGE-L F-measures are Lin's (2004); ``bert_f1`` is BERTScore
    (Zhang et al. 2020, ICLR); ``judged`` the share that a judge accepted, of ``judged_items``.
    What nothing measured is null.

    Args:
        scores: the schema ``SCORES``; of the format ``oeq`` are looked at.
        seed: of the bootstrap.

    Returns:
        The schema ``OPEN_ENDED``.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance()).scores
    >>> open_ended_by(scores).select(["setting", "items", "coverage"]).to_pylist()
    [{'setting': 'plain', 'items': 12, 'coverage': 0.0}]
    """
    part = of_format(scores, "oeq")
    groups = group_rows(part, (*BY_MODEL, "task"))
    covered = means_of(part, "coverage", groups, seed=seed)
    names = ("exact", "rouge1", "rouge_l", "bert_f1", "judged")
    others = {name: known_mean(part[name], groups) for name in names}
    judged = np.asarray(pc.is_valid(part["judged"]), dtype=np.float64)
    counts = {"judged_items": sums_of(judged, groups)}
    return filled(OPEN_ENDED, groups.keys, mean_columns("coverage", covered), others, counts)


# What the tables are made with


def of_format(scores: pa.Table, *formats: str) -> pa.Table:
    """The rows of some formats."""
    return scores.filter(pc.is_in(scores["format"], value_set=pa.array(formats)))


def means_of(part: pa.Table, column: str, groups: Groups, *, seed: int) -> Means:
    """The means of a column with intervals over patients; what is null counts as 0."""
    values = np.asarray(pc.fill_null(part[column], 0.0), dtype=np.float64)
    return clustered_means(values, groups, numbered(part["cluster"]), seed=seed)


def known_mean(column: pa.ChunkedArray, groups: Groups) -> Floats:
    """The mean of what is not null in each group; NaN where nothing is."""
    known = np.asarray(pc.is_valid(column), dtype=bool)
    values = np.asarray(pc.fill_null(column, 0.0), dtype=np.float64)
    of, count = groups.of[known], len(groups)
    n = np.bincount(of, minlength=count).astype(np.float64)
    total = np.bincount(of, weights=np.rint(values[known] * 1e6), minlength=count) / 1e6
    means: Floats = np.divide(total, n, out=np.full(count, np.nan), where=n > 0)
    return means


def sums_of(values: Floats, groups: Groups) -> Floats:
    """The sum of each group's values."""
    return np.bincount(groups.of, weights=values, minlength=len(groups)).astype(np.float64)


def mean_columns(called: str, found: Means) -> dict[str, Floats]:
    """A mean under its name, with its size and both of its intervals."""
    bounds = [
        wilson(mean * n, n) for mean, n in zip(found.mean.tolist(), found.n.tolist(), strict=True)
    ]
    under, over = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
    return {
        called: found.mean,
        "low": found.low,
        "high": found.high,
        "items": found.n.astype(np.float64),
        "patients": found.clusters.astype(np.float64),
        "wilson_low": under,
        "wilson_high": over,
    }


def filled(schema: pa.Schema, keys: pa.Table, *columns: Mapping[str, Floats]) -> pa.Table:
    """A table of figures: numbers rounded to four places, NaN as null.

    Args:
        schema: of the table; columns that it lacks are left out.
        keys: the columns that name a row.
        columns: the numbers, by name.
    """
    numbers = {name: values for part in columns for name, values in part.items()}
    arrays: list[pa.ChunkedArray | pa.Array] = []
    for field in schema:
        if field.name in keys.column_names:
            arrays.append(keys[field.name].cast(field.type))
            continue
        values = np.round(np.asarray(numbers[field.name], dtype=np.float64), 4)
        arrays.append(pa.array(values, pa.float64(), from_pandas=True).cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
