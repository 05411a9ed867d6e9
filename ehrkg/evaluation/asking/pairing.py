"""Whose stem a question gets when it is asked with another patient's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.foundation.hashing import hash64

Ints = npt.NDArray[np.int64]


def other_stems(item_ids: Sequence[str], groups: Ints, clusters: Ints, *, seed: int = 7) -> Ints:
    """For each question the one whose stem it gets: the next of its ring of another patient.

    The questions of a group stand in a ring, in the order of a hash of their ids.

    Args:
        item_ids: of the questions, each once.
        groups: a number a question; stems are swapped within a group only.
        clusters: a number a question: its patient.
        seed: orders the rings.

    Returns:
        One position a question; -1 where the group holds a single patient.

    >>> other_stems(["a", "b", "c"], np.zeros(3), np.array([1, 1, 2])).tolist()
    [2, 2, 1]
    """
    n = len(item_ids)
    if not n:
        return np.zeros(0, np.int64)
    ids = pa.array(item_ids, pa.string())
    hashes = np.fromiter((hash64(seed, "ring", one) for one in item_ids), np.uint64, count=n)
    by_id = np.empty(n, np.int64)
    by_id[np.asarray(pa.compute.sort_indices(ids))] = np.arange(n)
    order = np.lexsort((by_id, hashes, groups))
    group, cluster = np.asarray(groups)[order], np.asarray(clusters)[order]
    found = np.full(n, -1, np.int64)
    edges = np.flatnonzero(np.diff(group)) + 1
    for start, stop in zip([0, *edges], [*edges, n], strict=True):
        ring = order[start:stop]
        ahead = _next_other(cluster[start:stop])
        found[ring] = np.where(ahead < 0, -1, ring[ahead])
    return found


def _next_other(values: Ints) -> Ints:
    """In a ring of values, the place of the next value that differs; -1 where all are alike."""
    size = len(values)
    if (values == values[0]).all():
        return np.full(size, -1, np.int64)
    twice = np.concatenate([values, values])
    changes = np.flatnonzero(twice[1:] != twice[:-1]) + 1
    return changes[np.searchsorted(changes, np.arange(size), side="right")] % size
