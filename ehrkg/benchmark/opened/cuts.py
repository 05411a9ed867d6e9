"""Which rows a sample or a split takes: a function of the items, their columns and the seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.opened.columns import Rows
from ehrkg.benchmark.opened.source import Source
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import unit

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

SPLITS: Mapping[str, tuple[str, ...]] = {
    "patient": ("cluster",),
    "relation": ("relation_id",),
    "both": ("cluster", "relation_id"),
}
"""What the two parts of a split do not share, by the word for it."""


class Split(NamedTuple):
    """Two parts of a benchmark that share no patient, no relation, or neither.

    Attributes:
        train, test: the parts.
        set_aside: how many items fit in neither (only with "both": their patient fell to one
            part and their relation to the other).

    >>> from ehrkg.benchmark import example
    >>> parts = example().split("patient")
    >>> len(parts.train) + len(parts.test), parts.set_aside
    (24, 0)
    """

    train: Benchmark
    test: Benchmark
    set_aside: int


def sample_rows(source: Source, rows: Rows | None, n: int, by: Sequence[str], *, seed: int) -> Rows:
    """The rows of a sample: in each stratum those whose hash of (seed, item id) is least.

    Args:
        source: the whole.
        rows: what is sampled; all for ``None``.
        n: how many.
        by: columns; each combination of their values gets its share of n, by largest remainder.
        seed: names the draw.
    """
    strata = ", ".join(source.place(name) for name in by)
    luck = f"md5(concat('{int(seed)}', chr(31), i.item_id)), i.item_id"
    drawn = source.ask(
        f"SELECT i.at AS at, {f'dense_rank() OVER (ORDER BY {strata})' if by else 1} AS stratum, "
        f"row_number() OVER ({f'PARTITION BY {strata}' if by else ''} ORDER BY {luck}) AS turn "
        f"{source.tables_of(by, rows)}",
        rows=rows,
    )
    stratum = drawn["stratum"].to_numpy().astype(np.int64) - 1
    sizes = np.bincount(stratum) if len(stratum) else np.zeros(0, dtype=np.int64)
    taken = drawn["turn"].to_numpy() <= shares(sizes, min(n, len(stratum)))[stratum]
    return np.sort(drawn["at"].to_numpy()[taken].astype(np.int64))


def shares(sizes: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """Share n out in proportion to the sizes, by largest remainder; ties go to the first.

    >>> shares(np.array([6, 3]), 4).tolist()
    [3, 1]
    """
    total = int(sizes.sum())
    if not total:
        return np.zeros(len(sizes), dtype=np.int64)
    found = n * sizes // total
    rest = np.argsort(-(n * sizes % total), kind="stable")[: n - int(found.sum())]
    found[rest] += 1
    return found


def split_rows(
    source: Source, rows: Rows | None, by: str, *, test: float, seed: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which rows fall to the train part, and which to the test part.

    Raises:
        UsageError: an unknown word, a share outside (0, 1), or a part that would be empty.
    """
    if by not in SPLITS:
        raise UsageError(f"no such split: {by!r}", todo=f"use {', '.join(SPLITS)}")
    if not 0 < test < 1:
        raise UsageError(f"a test share of {test}", todo="take one between 0 and 1")
    into = [_falls_to_test(source.column(name, rows), name, test, seed) for name in SPLITS[by]]
    in_test, in_train = np.logical_and.reduce(into), ~np.logical_or.reduce(into)
    if not in_test.any() or not in_train.any():
        counts = ", ".join(
            f"{pc.count_distinct(source.column(name, rows)).as_py():,} values of {name}"
            for name in SPLITS[by]
        )
        raise UsageError(
            f"a split by {by} leaves one part without items; there are {counts}",
            todo="take another seed or share, or a larger benchmark",
        )
    return in_train, in_test


def _falls_to_test(
    column: pa.ChunkedArray, name: str, share: float, seed: int
) -> npt.NDArray[np.bool_]:
    encoded = pc.dictionary_encode(column).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    falls = np.array([unit(seed, name, key) < share for key in encoded.dictionary.to_pylist()])
    indices = np.asarray(encoded.indices, dtype=np.int64)
    return falls[indices] if len(indices) else np.zeros(0, dtype=bool)
