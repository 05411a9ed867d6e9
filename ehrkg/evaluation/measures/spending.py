"""What asking took, and what came back that nobody could read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.intervals import wilson
from ehrkg.evaluation.measures.clusters import Floats, Groups, group_rows
from ehrkg.evaluation.measures.summary import BY_MODEL, filled, sums_of

COST = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("setting", pa.string()),
        ("items", pa.int32()),
        ("measured", pa.int32()),  # items whose tokens are known; of a few all may be null
        ("tokens_in", pa.int64()),
        ("tokens_out", pa.int64()),
        ("cost", pa.float64()),  # US dollars, in all
        ("cost_per_1000", pa.float64()),  # of the items whose cost is known
        ("seconds", pa.float64()),  # in all, as if one were asked after the other
        ("median_seconds", pa.float64()),
        ("p95_seconds", pa.float64()),
    ]
)
PARSE_FAILURES = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("setting", pa.string()),
        ("format", pa.string()),
        ("items", pa.int32()),
        ("failures", pa.int32()),
        ("rate", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)


def cost_of(scores: pa.Table) -> pa.Table:
    """Tokens, US dollars and seconds by model and setting.

    Latency is that of single calls: its median and 95th percentile (linear between order
    statistics, Hyndman and Fan's definition 7: 1996, The American Statistician 50:361).

    Args:
        scores: the schema ``SCORES``.

    Returns:
        The schema ``COST``; what nothing measured is null.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance()).scores
    >>> cost_of(scores).select(["setting", "items", "cost"]).to_pylist()[-1]
    {'setting': 'plain', 'items': 24, 'cost': None}
    """
    groups = group_rows(scores, BY_MODEL)
    priced = _count(scores["cost"], groups)
    cost, seconds = _total(scores["cost"], groups), _total(scores["seconds"], groups)
    numbers = {
        "items": np.bincount(groups.of, minlength=len(groups)).astype(np.float64),
        "measured": _count(scores["tokens_in"], groups),
        "tokens_in": _total(scores["tokens_in"], groups),
        "tokens_out": _total(scores["tokens_out"], groups),
        "cost": cost,
        "cost_per_1000": 1000 * cost / np.maximum(priced, 1),
        "seconds": seconds,
    }
    median, late = _quantiles(scores["seconds"], groups, (0.5, 0.95))
    return filled(COST, groups.keys, numbers, {"median_seconds": median, "p95_seconds": late})


def parse_failures(scores: pa.Table) -> pa.Table:
    """How many answers could not be read, and so counted as wrong, by model, setting and format.

    The rate with Wilson's 95 % interval (Wilson 1927, JASA 22:209).

    Args:
        scores: the schema ``SCORES``; rows whose ``parsed`` is null had nothing to read.

    Returns:
        The schema ``PARSE_FAILURES``, rounded to 4.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance()).scores
    >>> parse_failures(scores).select(["setting", "format", "failures"]).to_pylist()[-1]
    {'setting': 'plain', 'format': 'oeq', 'failures': 0}
    """
    part = scores.filter(pc.is_valid(scores["parsed"]))
    groups = group_rows(part, (*BY_MODEL, "format"))
    n = np.bincount(groups.of, minlength=len(groups)).astype(np.float64)
    unread = np.asarray(pc.invert(part["parsed"]), dtype=np.float64)
    failures = sums_of(unread, groups)
    bounds = np.array(
        [wilson(k, of) for k, of in zip(failures.tolist(), n.tolist(), strict=True)]
    ).reshape(-1, 2)
    return filled(
        PARSE_FAILURES,
        groups.keys,
        {
            "items": n,
            "failures": failures,
            "rate": failures / np.maximum(n, 1),
            "low": bounds[:, 0],
            "high": bounds[:, 1],
        },
    )


def _count(column: pa.ChunkedArray, groups: Groups) -> Floats:
    known = np.asarray(pc.is_valid(column), dtype=np.float64)
    return sums_of(known, groups)


def _total(column: pa.ChunkedArray, groups: Groups) -> Floats:
    """The sum of what is known, in millionths as integers; NaN where nothing is."""
    values = np.asarray(pc.fill_null(column, 0), dtype=np.float64)
    sums = np.bincount(groups.of, weights=np.rint(values * 1e6), minlength=len(groups)) / 1e6
    return np.where(_count(column, groups) > 0, sums, np.nan)


def _quantiles(
    column: pa.ChunkedArray, groups: Groups, wanted: tuple[float, ...]
) -> tuple[Floats, ...]:
    """Quantiles of what is known in each group; NaN where nothing is."""
    known = np.asarray(pc.is_valid(column), dtype=bool)
    values = np.asarray(pc.fill_null(column, 0), dtype=np.float64)[known]
    of = groups.of[known]
    order = np.lexsort((values, of))
    start = np.searchsorted(of[order], np.arange(len(groups) + 1))
    ordered = values[order]
    found = [
        np.quantile(ordered[low:high], wanted) if high > low else np.full(len(wanted), np.nan)
        for low, high in pairwise(start.tolist())
    ]
    return tuple(np.array(found, dtype=np.float64).reshape(-1, len(wanted)).T)
