"""Means of many groups of answers at once, with intervals that cluster by patient.

Several questions of one patient are not independent, so everything here counts patients: the
bootstrap draws patients, the sandwich error sums over them. Values are rounded to six places and
summed as integers, so the order of rows changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import t

from ehrkg.benchmark.facts.intervals import wilson
from ehrkg.foundation.hashing import hash64

DRAWS = 1000
"""Bootstrap draws: the 2.5 % tail then rests on 25 of them."""

_MILLIONTHS = 1e6
_CELLS = 4_000_000
"""Numbers that are drawn at once, so that many patients need no more memory than few."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """Rows by the values of some columns.

    Attributes:
        keys: those columns, one row a group, sorted.
        of: the group of each row, from 0.
        count: how many groups there are.
    """

    keys: pa.Table
    of: Ints
    count: int

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True)
class Means:
    """Of each group: its mean, the interval of it, rows and patients."""

    mean: Floats
    low: Floats
    high: Floats
    n: Ints
    clusters: Ints


@dataclass(frozen=True)
class Differences(Means):
    """Means of paired differences, with the two-sided p of there being none."""

    p: Floats


def group_rows(table: pa.Table, by: Sequence[str]) -> Groups:
    """Group the rows of a table; nulls are a value, the last.

    >>> found = group_rows(pa.table({"a": ["y", "x", "y"]}), ["a"])
    >>> found.keys["a"].to_pylist(), found.of.tolist()
    (['x', 'y'], [1, 0, 1])
    """
    combined = np.zeros(table.num_rows, dtype=np.int64)
    for name in by:
        numbers = numbered(table[name])
        # Packed after every column, so that the product of many columns can't overflow.
        combined = combined * (int(numbers.max(initial=0)) + 1) + numbers
        combined = np.unique(combined, return_inverse=True)[1].astype(np.int64)
    _, first, of = np.unique(combined, return_index=True, return_inverse=True)
    keys = table.select(list(by)).take(pa.array(first))
    return Groups(keys, of.astype(np.int64), len(first))


def numbered(column: pa.ChunkedArray) -> Ints:
    """Each value's place among the sorted distinct values, from 0.

    >>> numbered(pa.chunked_array([["b", "a", None, "b"]])).tolist()
    [1, 0, 2, 1]
    """
    if not len(column):
        return np.zeros(0, dtype=np.int64)
    encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    places = pc.rank(encoded.dictionary, sort_keys="ascending", tiebreaker="dense")
    found: Ints = np.asarray(places, dtype=np.int64)[np.asarray(encoded.indices)] - 1
    return found


def clustered_means(
    values: Floats,
    groups: Groups,
    clusters: Ints,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 7,
) -> Means:
    """The mean of each group with a percentile bootstrap interval that resamples patients.

    ``sum_g w_g s_g / sum_g w_g n_g`` over the patients g, w drawn as often as there are patients
    (Field and Welsh 2007, JRSS B 69:369). Where all values of a group agree the bootstrap has
    nothing to say, and Wilson's interval over its patients is given instead.

    Args:
        values: one a row, in [0, 1].
        groups: of the rows.
        clusters: the patient of each row, as numbers from 0 in the order of their keys.
        level: coverage.
        draws: bootstrap draws.
        seed: of the draws; they depend on nothing else but the number of patients.
    """
    cells = _Cells(values, groups, clusters)
    tail = (1 - level) / 2
    low, high = np.zeros(len(groups)), np.ones(len(groups))
    agreed = (cells.clusters <= 1) | cells.all_agree
    for at in np.flatnonzero(agreed):
        n = float(cells.clusters[at])
        low[at], high[at] = wilson(float(cells.mean[at]) * n, n)
    filled = ~agreed & (cells.clusters > 0)
    for n_clusters in np.unique(cells.clusters[filled]).tolist():
        mine = np.flatnonzero(~agreed & (cells.clusters == n_clusters))
        sums, sizes = cells.of_groups(mine)
        drawn = np.concatenate(
            [
                (weights @ sums) / (weights @ sizes)
                for weights in resampled(n_clusters, draws, seed=seed)
            ]
        )
        low[mine], high[mine] = np.quantile(drawn / _MILLIONTHS, [tail, 1 - tail], axis=0)
    return Means(cells.mean, low, high, cells.n, cells.clusters)


def macro_means(
    values: Floats,
    groups: Groups,
    within: Groups,
    clusters: Ints,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 7,
) -> Means:
    """The mean, over the parts of each group, of the parts' means: every part counts alike.

    ``(1 / K) sum_k mean_k`` over the K parts that hold an answer (macro-averaging: Yang 1999,
    Information Retrieval 1:69), with a percentile bootstrap that resamples patients over all parts
    together; a part that a draw leaves empty is left out of that draw.

    Args:
        values: one a row, in [0, 1].
        groups: what a mean is wanted of.
        within: the parts, of the same rows.
        clusters: the patient of each row, as numbers from 0.
        level: coverage.
        draws: bootstrap draws.
        seed: of the draws.
    """
    mean, low, high = (np.zeros(len(groups)) for _ in range(3))
    n, patients = np.bincount(groups.of, minlength=len(groups)), np.zeros(len(groups), np.int64)
    tail = (1 - level) / 2
    drawn: dict[int, dict[int, tuple[Floats, Floats]]] = {}  # by patients: groups, to be drawn for
    for at, rows in enumerate(_rows_of(groups)):
        scaled = np.rint(values[rows] * _MILLIONTHS)
        sums, sizes = _by_part(scaled, within.of[rows], clusters[rows])
        mean[at] = (sums.sum(axis=0) / sizes.sum(axis=0)).mean() / _MILLIONTHS
        patients[at] = len(sums)
        if len(sums) == 1 or np.ptp(scaled) == 0:
            low[at], high[at] = wilson(float(mean[at]) * len(sums), len(sums))
        else:
            drawn.setdefault(len(sums), {})[at] = sums, sizes
    for count, mine in drawn.items():
        found: dict[int, list[Floats]] = {at: [] for at in mine}
        for weights in resampled(count, draws, seed=seed):
            for at, (sums, sizes) in mine.items():
                found[at].append(_mean_of_parts(weights @ sums, weights @ sizes))
        for at, means in found.items():
            bounds = np.quantile(np.concatenate(means) / _MILLIONTHS, [tail, 1 - tail])
            low[at], high[at] = bounds
    return Means(mean, low, high, n.astype(np.int64), patients)


def _rows_of(groups: Groups) -> list[Ints]:
    """The places of the rows of each group, in their order."""
    order = np.argsort(groups.of, kind="stable")
    ends = np.cumsum(np.bincount(groups.of, minlength=len(groups)))
    return np.split(order, ends)[:-1]


def _by_part(scaled: Floats, part: Ints, cluster: Ints) -> tuple[Floats, Floats]:
    """Sums and sizes, a row a patient, a column a part."""
    parts, part_of = np.unique(part, return_inverse=True)
    names, patient = np.unique(cluster, return_inverse=True)
    shape = (len(names), len(parts))
    cell = patient * len(parts) + part_of
    sums = np.bincount(cell, weights=scaled, minlength=shape[0] * shape[1]).reshape(shape)
    sizes = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    return sums.astype(np.float64), sizes.astype(np.float64)


def clustered_differences(
    values: Floats, groups: Groups, clusters: Ints, *, level: float = 0.95
) -> Differences:
    """The mean paired difference of each group, with the sandwich error over patients.

    ``sqrt(G / (G - 1) sum_g (sum_(i in g) (d_i - mean))^2) / n`` over G patients (Liang and Zeger
    1986, Biometrika 73:13), held against Student's t with G - 1 degrees of freedom. Where all
    patients differ alike there is no spread to hold it against; then p is the sign test's over
    patients, ``2^(1 - G)``. A group of one patient bounds nothing: -1 to 1, p = 1.
    No interval leaves that range.

    Args:
        values: the differences, one a row, in [-1, 1].
        groups: of the rows.
        clusters: the patient of each row, as numbers from 0.
        level: coverage.
    """
    cells = _Cells(values, groups, clusters)
    n, patients = cells.n.astype(np.float64), cells.clusters
    off = cells.sums / _MILLIONTHS - cells.mean[cells.group] * cells.sizes
    spread = np.bincount(cells.group, weights=off**2, minlength=len(groups))
    free = np.maximum(patients - 1, 1)
    error = np.sqrt(patients / free * spread) / np.maximum(n, 1)
    reach = t.ppf(0.5 + level / 2, free) * error
    alone = patients < 2
    alike = error <= 1e-12 * np.maximum(1.0, np.abs(cells.mean))
    scaled = np.abs(cells.mean) / np.where(alike, 1.0, error)
    without_spread = np.where(cells.mean == 0, 1.0, 2.0 ** (1 - patients.astype(np.float64)))
    p = np.where(alike, without_spread, 2 * t.sf(scaled, free))
    return Differences(
        cells.mean,
        np.where(alone, -1.0, np.maximum(cells.mean - reach, -1.0)),
        np.where(alone, 1.0, np.minimum(cells.mean + reach, 1.0)),
        cells.n,
        patients,
        np.where(alone, 1.0, p),
    )


def resampled(patients: int, draws: int = DRAWS, *, seed: int = 7) -> Iterator[Floats]:
    """How often each patient is drawn, a row a draw, some draws at a time.

    Args:
        patients: how many there are; as many are drawn, with replacement.
        draws: how often.
        seed: of the draws.
    """
    generator = np.random.Generator(np.random.PCG64(hash64("bootstrap", seed)))
    at_once = max(1, min(draws, _CELLS // patients))
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        drawn = generator.integers(0, patients, size=(rows, patients))
        drawn += np.arange(rows)[:, None] * patients
        counts = np.bincount(drawn.ravel(), minlength=rows * patients)
        yield counts.reshape(rows, patients).astype(np.float64)


def _mean_of_parts(sums: Floats, sizes: Floats) -> Floats:
    there = sizes > 0
    means = np.divide(sums, sizes, out=np.zeros_like(sums), where=there)
    found: Floats = means.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return found


class _Cells:
    """Sums and sizes of every (group, patient) that has rows, in that order."""

    def __init__(self, values: Floats, groups: Groups, clusters: Ints) -> None:
        width = int(clusters.max(initial=0)) + 1
        keys, cell = np.unique(groups.of * width + clusters, return_inverse=True)
        scaled = np.rint(values * _MILLIONTHS)
        self.group = keys // width
        self.sums = np.bincount(cell, weights=scaled, minlength=len(keys))
        self.sizes = np.bincount(cell, minlength=len(keys)).astype(np.float64)
        count = len(groups)
        self.n = np.bincount(groups.of, minlength=count).astype(np.int64)
        self.clusters = np.bincount(self.group, minlength=count).astype(np.int64)
        totals = np.bincount(self.group, weights=self.sums, minlength=count)
        self.mean = totals / _MILLIONTHS / np.maximum(self.n, 1)
        least, most = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(least, groups.of, scaled)
        np.maximum.at(most, groups.of, scaled)
        self.all_agree = least == most
        self._start = np.searchsorted(self.group, np.arange(count + 1))

    def of_groups(self, which: Ints) -> tuple[Floats, Floats]:
        """Sums (in millionths) and sizes, a row a patient, a column a group of as many patients."""
        at = [slice(self._start[one], self._start[one + 1]) for one in which.tolist()]
        return (
            np.column_stack([self.sums[part] for part in at]),
            np.column_stack([self.sizes[part] for part in at]),
        )
