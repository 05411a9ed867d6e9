"""Paths between many pairs of concepts at once, with the edges and concepts of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ehrkg.verify.arrays import NONE, Ints, KnowledgeArrays, StepTable, join, pad
from ehrkg.verify.meta_paths import MetaPath

CHUNK = 20_000
"""Pairs whose witnesses are expanded together, to bound the memory."""


SIEVED = 2_000
"""Pairs above which those that no path joins are sieved out first: for fewer, expanding all costs
less than the matrix of what reaches what."""


@dataclass(frozen=True)
class Witnesses:
    """Paths found, one a row.

    Attributes:
        pair: which of the pairs asked for, by position.
        level: levels of the hierarchy walked in all.
        nodes: (n, k) the concepts that the meta-path names, head first.
        edges: (n, w) edge indices in path order, padded with NONE (anywhere).
        concepts: (n, v) all concepts in path order, padded likewise.
    """

    pair: Ints
    level: Ints
    nodes: Ints
    edges: Ints
    concepts: Ints

    def take(self, rows: Ints) -> Witnesses:
        """Some of the rows."""
        return Witnesses(
            self.pair[rows],
            self.level[rows],
            self.nodes[rows],
            self.edges[rows],
            self.concepts[rows],
        )


def find(arrays: KnowledgeArrays, path: MetaPath, heads: Ints, tails: Ints) -> Witnesses:
    """All paths of one kind between pairs of concepts.

    Of many pairs those that no such path joins are sieved out by one look-up in the sparse reach
    matrix; for the others the edges are recovered by expanding from both ends and joining in the
    middle.

    Args:
        arrays: the knowledge.
        path: the meta-path.
        heads: concept indices; NONE joins nothing.
        tails: the same, of equal length.
    """
    usable = (heads != NONE) & (tails != NONE) & (heads != tails)
    for concepts, node in ((heads, path.nodes[0]), (tails, path.nodes[-1])):
        if node.kind:
            usable &= arrays.kinds[np.maximum(concepts, 0)] == node.kind
    rows = np.flatnonzero(usable)
    if len(rows) > SIEVED:
        reach = arrays.reach(path)
        if not reach.nnz:
            rows = rows[:0]
        else:
            rows = rows[np.asarray(reach[heads[rows], tails[rows]]).ravel() != 0]
    parts = [
        _expand(arrays, path, rows[at : at + CHUNK], heads, tails)
        for at in range(0, max(len(rows), 1), CHUNK)
    ]
    return concatenate(parts)


def concatenate(parts: list[Witnesses]) -> Witnesses:
    """Several tables of witnesses as one; narrower ones are padded."""
    widths = [max(getattr(part, name).shape[1] for part in parts) for name in _WIDE]
    wide = [
        np.concatenate([pad(getattr(part, name), width) for part in parts])
        for name, width in zip(_WIDE, widths, strict=True)
    ]
    return Witnesses(
        np.concatenate([part.pair for part in parts]),
        np.concatenate([part.level for part in parts]),
        *wide,
    )


_WIDE = ("nodes", "edges", "concepts")


def _expand(
    arrays: KnowledgeArrays, path: MetaPath, rows: Ints, heads: Ints, tails: Ints
) -> Witnesses:
    pivot = next(i for i, step in enumerate(path.steps) if not step.hierarchical)
    left = _seed(rows, heads[rows])
    for step in path.steps[: pivot + 1]:
        left = _forward(left, arrays.step(step))
    right = _seed(rows, tails[rows])
    for step in reversed(path.steps[pivot + 1 :]):
        right = _backward(right, arrays.step(step).reversed())
    size = len(arrays)
    left_key, right_key = (
        side.pair * size + side.nodes[:, place] for side, place in ((left, -1), (right, 0))
    )
    order = np.argsort(right_key, kind="stable")
    mine, other = join(left_key, right_key[order])
    other = order[other]
    found = Witnesses(
        left.pair[mine],
        left.level[mine] + right.level[other],
        np.hstack([left.nodes[mine], right.nodes[other][:, 1:]]),
        np.hstack([left.edges[mine], right.edges[other]]),
        np.hstack([left.concepts[mine], right.concepts[other][:, 1:]]),
    )
    return found.take(np.flatnonzero(_kinds_fit(arrays, path, found)))


def _kinds_fit(arrays: KnowledgeArrays, path: MetaPath, found: Witnesses) -> np.ndarray:
    fits = np.ones(len(found.pair), bool)
    for place, node in enumerate(path.nodes):
        if node.kind:
            fits &= arrays.kinds[found.nodes[:, place]] == node.kind
    return fits


def _seed(rows: Ints, concepts: Ints) -> Witnesses:
    nodes = concepts[:, None]
    return Witnesses(
        rows, np.zeros(len(rows), np.int64), nodes, np.empty((len(rows), 0), np.int64), nodes
    )


def _forward(side: Witnesses, table: StepTable) -> Witnesses:
    mine, step = join(side.nodes[:, -1], table.start)
    end = table.end[step][:, None]
    return Witnesses(
        side.pair[mine],
        side.level[mine] + table.level[step],
        np.hstack([side.nodes[mine], end]),
        np.hstack([side.edges[mine], table.edges[step]]),
        np.hstack([side.concepts[mine], table.inner[step], end]),
    )


def _backward(side: Witnesses, table: StepTable) -> Witnesses:
    mine, step = join(side.nodes[:, 0], table.end)
    start = table.start[step][:, None]
    return Witnesses(
        side.pair[mine],
        side.level[mine] + table.level[step],
        np.hstack([start, side.nodes[mine]]),
        np.hstack([table.edges[step], side.edges[mine]]),
        np.hstack([start, table.inner[step], side.concepts[mine]]),
    )
