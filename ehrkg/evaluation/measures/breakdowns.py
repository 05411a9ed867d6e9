"""Accuracy by what a question is about: chapter, frequency of the answer, age, sex, options, task.

And the macro means over them, in which every part counts alike, however many questions it has.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.measures.clusters import group_rows, macro_means, numbered
from ehrkg.evaluation.measures.summary import (
    BY_MODEL,
    ONE_RIGHT,
    filled,
    mean_columns,
    means_of,
    of_format,
)
from ehrkg.foundation.errors import UsageError
from ehrkg.ontology.code_trees import node_of

OF_SCORES = ("task", "n_options", "format")
OF_TEMPLATES = ("age_band", "sex", "chapter", "answer_frequency", "icd_version", "timing")
BY = (*OF_SCORES, *OF_TEMPLATES)
"""What accuracy can be broken down by."""

UNKNOWN = "unknown"
"""What a part is called whose questions lack the value."""

FREQUENCIES = ((1, "1"), (2, "2 to 9"), (10, "10 to 29"), (30, "30 to 99"), (100, "100 or more"))
"""Bands of the number of visits that hold an answer, each from its least number on."""

BREAKDOWN = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("setting", pa.string()),
        ("task", pa.string()),
        ("by", pa.string()),
        ("value", pa.string()),
        ("items", pa.int32()),
        ("patients", pa.int32()),
        ("accuracy", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("chance", pa.float64()),  # the mean of one over the options; null for several right
    ]
)
MACRO = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("setting", pa.string()),
        ("by", pa.string()),
        ("parts", pa.int32()),
        ("items", pa.int32()),
        ("patients", pa.int32()),
        ("accuracy", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)


def breakdown(
    scores: pa.Table,
    templates: pa.Table,
    *,
    by: str,
    pool: pa.Table | None = None,
    format: str = "mcq",  # noqa: A002 - the name of the column
    seed: int = 7,
) -> pa.Table:
    """Accuracy by model, setting, task and one thing more.

    Args:
        scores: the schema ``SCORES``.
        templates: those of its questions, with the schema ``TEMPLATES``.
        by: one of ``BY``. ``chapter`` is that of the answer's code in its ICD tree, for a drug,
            which has none, that of the problem it was asked about; ``answer_frequency`` counts
            the hospital's visits of the era that hold the answer.
        pool: the build's frozen pool, which knows the frequencies.
        format: ``mcq``, ``yesno`` or ``multi``.
        seed: of the bootstrap.

    Returns:
        The schema ``BREAKDOWN``: means with 95 % intervals over patients, rounded to 4.

    Raises:
        UsageError: an unknown ``by``, or frequencies without a pool.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance()).scores
    >>> found = breakdown(scores, example().templates(), by="sex")
    >>> found.select(["setting", "value", "items"]).to_pylist()[-2:]
    [{'setting': 'plain', 'value': 'F', 'items': 6}, {'setting': 'plain', 'value': 'M', 'items': 6}]
    """
    part = _with_value(of_format(scores, format), templates, by, pool)
    keys = list(dict.fromkeys((*BY_MODEL, "task", "value")))
    groups = group_rows(part, keys)
    found = means_of(part, "correct", groups, seed=seed)
    chance = np.bincount(groups.of, weights=1 / _options(part), minlength=len(groups)) / found.n
    named = groups.keys.append_column("by", pa.array([by] * len(groups), pa.string()))
    lacking = {"chance": chance if format in ONE_RIGHT else np.full(len(groups), np.nan)}
    return _in_order(filled(BREAKDOWN, named, mean_columns("accuracy", found), lacking))


def macro(
    scores: pa.Table,
    templates: pa.Table,
    *,
    by: str,
    pool: pa.Table | None = None,
    format: str = "mcq",  # noqa: A002 - the name of the column
    seed: int = 7,
) -> pa.Table:
    """Macro accuracy by model and setting: the mean of the parts' accuracies, each counting alike.

    See ``clusters.macro_means`` for formula and source. Questions whose value is unknown are a
    part of their own.

    Args:
        scores: the schema ``SCORES``.
        templates: see ``breakdown``, as for the rest.
        by: what the parts are: one of ``BY``.
        pool: the build's frozen pool.
        format: ``mcq``, ``yesno`` or ``multi``.
        seed: of the bootstrap.

    Returns:
        The schema ``MACRO``, rounded to 4.

    Raises:
        UsageError: see ``breakdown``.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance()).scores
    >>> found = macro(scores, example().templates(), by="sex")
    >>> found.select(["setting", "parts", "accuracy"]).to_pylist()[-1]
    {'setting': 'plain', 'parts': 2, 'accuracy': 0.25}
    """
    part = _with_value(of_format(scores, format), templates, by, pool)
    groups, within = group_rows(part, BY_MODEL), group_rows(part, ["value"])
    values = np.asarray(part["correct"], dtype=np.float64)
    found = macro_means(values, groups, within, numbered(part["cluster"]), seed=seed)
    pairs = np.unique(np.column_stack([groups.of, within.of]), axis=0)
    parts = np.bincount(pairs[:, 0], minlength=len(groups)).astype(np.float64)
    named = groups.keys.append_column("by", pa.array([by] * len(groups), pa.string()))
    return filled(MACRO, named, mean_columns("accuracy", found), {"parts": parts})


def chapter_of(code: str) -> str:
    """The chapter of a code's ICD tree, in words with its system; "" where it has none.

    >>> chapter_of("ICD10CM:I50.9")
    'ICD10CM:9 Diseases of the circulatory system'
    >>> chapter_of("DRUGNAME:insulin")
    ''
    """
    node = node_of(code)
    return "" if node is None else f"{node.chapter} {node.chapter_name}".strip()


def facet(templates: pa.Table, by: str, pool: pa.Table | None = None) -> pa.Array:
    """One thing that templates can be told apart by.

    Args:
        templates: the schema ``TEMPLATES``.
        by: one of ``OF_TEMPLATES``.
        pool: the build's frozen pool, for ``answer_frequency``.

    Returns:
        A text a template; ``unknown`` where nothing is known.

    Raises:
        UsageError: frequencies without a pool.
    """
    if by not in ("chapter", "answer_frequency"):
        return _said(templates[by])
    answers = pc.list_element(templates["answer"], 0) if templates.num_rows else pa.nulls(0)
    if by == "chapter":
        return _said(_chapters(templates, answers))
    if pool is None:
        raise UsageError(
            "how frequent an answer is stands in the build's pool, which is not here",
            todo="give pool=, or open the benchmark of a build: Benchmark.open(DIR)",
        )
    return _said(_frequencies(answers, pool))


def _with_value(part: pa.Table, templates: pa.Table, by: str, pool: pa.Table | None) -> pa.Table:
    """The rows with a column ``value``: what they are told apart by, as text."""
    if by not in BY:
        raise UsageError(f"no breakdown by {by!r}", todo=f"use one of {', '.join(BY)}")
    if by in OF_SCORES:
        return part.append_column("value", _said(part[by]))
    at = pc.index_in(part["template_id"], value_set=templates["id"].combine_chunks())
    return part.append_column("value", _said(facet(templates, by, pool).take(at)))


def _in_order(table: pa.Table) -> pa.Table:
    """The rows sorted as a person sorts them: "2 to 9" before "10 to 29", chapter 2 before 10."""
    values = table["value"].to_pylist()
    natural = [re.sub(r"\d+", lambda number: number[0].zfill(6), value) for value in values]
    table = table.append_column("natural", pa.array(natural, pa.string()))
    order = [(name, "ascending") for name in (*BY_MODEL, "task", "natural")]
    return table.sort_by(order).drop_columns(["natural"])


def _said(values: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    texts = pc.fill_null(values.cast(pa.string()), UNKNOWN)
    return pc.if_else(pc.equal(texts, ""), UNKNOWN, texts)


def _options(part: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.maximum(np.asarray(part["n_options"], dtype=np.float64), 1.0)


def _chapters(templates: pa.Table, answers: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Of the answer's code, else of the problem's: each code is looked up once."""
    if not templates.num_rows:
        return pa.array([], pa.string())
    starts = np.asarray(templates["context"].combine_chunks().offsets, dtype=np.int64)[:-1]
    events = templates["context"].combine_chunks().values
    places = starts + np.asarray(templates["anchor_position"], dtype=np.int64)
    anchors = events.take(pa.array(places))
    own = _looked_up(answers)
    return pc.if_else(pc.equal(own, ""), _looked_up(anchors), own)


def _looked_up(codes: pa.ChunkedArray | pa.Array) -> pa.Array:
    whole = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
    encoded = whole.dictionary_encode()
    chapters = pa.array(
        [chapter_of(code or "") for code in encoded.dictionary.to_pylist()], pa.string()
    )
    return chapters.take(encoded.indices)


def _frequencies(answers: pa.ChunkedArray | pa.Array, pool: pa.Table) -> pa.Array:
    """The band of visits that hold each answer.

    A code that stands in the pool under several routes or eras counts by its most frequent; a
    drug's own string may be absent (the pool keeps one a drug), and is then unknown.
    """
    most = pool.group_by("code").aggregate([("n_visits", "max")])
    at = pc.index_in(answers, value_set=most["code"].combine_chunks())
    visits = np.asarray(pc.fill_null(most["n_visits_max"].take(at), 0), dtype=np.int64)
    least = np.array([bound for bound, _ in FREQUENCIES])
    bands = pa.array(["", *(name for _, name in FREQUENCIES)], pa.string())
    return bands.take(pa.array(np.searchsorted(least, visits, side="right")))
