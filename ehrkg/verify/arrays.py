"""Knowledge as arrays: typed edges and a bounded ancestor closure, built once for many pairs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.meta_paths import HIERARCHY, MetaPath, Step

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NONE = -1
"""Stands in integer arrays for "no edge", "no concept"."""


@dataclass(frozen=True)
class StepTable:
    """All ways of making one step, sorted by (start, end).

    Attributes:
        start, end: concept indices.
        level: levels of the hierarchy spanned; 0 for other edges.
        edges: (n, width) edge indices in walking order, padded with NONE at the end.
        inner: (n, width - 1) concepts strictly between start and end, padded likewise.
    """

    start: Ints
    end: Ints
    level: Ints
    edges: Ints
    inner: Ints

    def reversed(self) -> StepTable:
        """The same ways, sorted by (end, start) for lookups from the end; columns unchanged."""
        return self.take(np.lexsort((self.start, self.end)))

    def take(self, rows: Ints) -> StepTable:
        """Some of the rows."""
        return StepTable(
            self.start[rows], self.end[rows], self.level[rows], self.edges[rows], self.inner[rows]
        )


class KnowledgeArrays:
    """Knowledge as arrays of integers; concepts and edges are numbered in the order of their ids.

    Args:
        knowledge: concepts and edges; nothing else is read. The order of rows does not matter.
            Edges whose predicate was not known when they were read are no evidence: left out.

    Attributes:
        concepts: ids, sorted; an edge's end that no concept row describes is among them.
        names, kinds: by concept ("" where unknown).
        subject, object: concept index by edge.
        predicate, negated, route, source, origin, edge_ids: by edge.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        edges = _understood(knowledge.edges).sort_by([("id", "ascending")]).combine_chunks()
        ids = pa.chunked_array(
            [
                *knowledge.concepts.column("id").chunks,
                *edges.column("subject").chunks,
                *edges.column("object").chunks,
            ],
            pa.string(),
        )
        self.concepts: list[str] = sorted(pc.unique(ids).to_pylist())
        self._value_set = pa.array(self.concepts, pa.string())
        rows = self.index(knowledge.concepts.column("id"))
        self.names = _column(len(self.concepts), rows, knowledge.concepts.column("name"))
        self.kinds = _column(len(self.concepts), rows, knowledge.concepts.column("kind"))
        self.subject = self.index(edges.column("subject"))
        self.object = self.index(edges.column("object"))
        self.predicate = _texts(edges.column("predicate"))
        self.negated: Bools = edges.column("negated").to_numpy(zero_copy_only=False).astype(bool)
        self.route = _texts(edges.column("route"))
        self.source = _texts(edges.column("source"))
        self.origin = _texts(edges.column("origin"))
        self.edge_ids: list[str] = edges.column("id").to_pylist()
        self._forget()

    def _forget(self) -> None:
        """Drop what was worked out of the edges."""
        self._closures: dict[int, StepTable] = {}
        self._steps: dict[Step, StepTable] = {}
        self._matrices: dict[tuple[Step, ...], Any] = {}
        for name in ("parents", "degree", "sole_source"):
            self.__dict__.pop(name, None)

    def without(self, source: str) -> KnowledgeArrays:
        """The same concepts under the same numbers, with the edges of all other sources."""
        left = copy(self)
        rows = np.flatnonzero(self.source != source)
        for name in ("subject", "object", "predicate", "negated", "route", "source", "origin"):
            setattr(left, name, getattr(self, name)[rows])
        left.edge_ids = [self.edge_ids[row] for row in rows.tolist()]
        left._forget()
        return left

    def __len__(self) -> int:
        return len(self.concepts)

    def index(self, ids: pa.Array | pa.ChunkedArray | Sequence[str]) -> Ints:
        """Concept indices of ids; NONE where the knowledge has no such concept."""
        values = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(ids, pa.string())
        found = pc.fill_null(pc.index_in(values, value_set=self._value_set), NONE)
        result: Ints = found.to_numpy(zero_copy_only=False).astype(np.int64)
        return result

    def name(self, concept: int) -> str:
        """A concept's name, or its id where it has none."""
        return str(self.names[concept]) or self.concepts[concept]

    def edges_of(self, predicates: Iterable[str], *, negated: bool = False) -> Ints:
        """Indices of the edges of these predicates, in the order of their ids."""
        wanted = np.isin(self.predicate, sorted(predicates)) & (self.negated == negated)
        return np.flatnonzero(wanted)

    @functools.cached_property
    def parents(self) -> StepTable:
        """One row a distinct (child, parent); of parallel edges the one with the least id."""
        rows = self.edges_of([HIERARCHY])
        rows = rows[self.subject[rows] != self.object[rows]]
        order = rows[np.lexsort((rows, self.object[rows], self.subject[rows]))]
        key = self.subject[order] * len(self) + self.object[order]
        rows = order[np.flatnonzero(np.diff(key, prepend=NONE))] if len(key) else order
        return StepTable(
            self.subject[rows],
            self.object[rows],
            np.ones(len(rows), np.int64),
            rows[:, None],
            np.empty((len(rows), 0), np.int64),
        )

    def ancestors(self, most: int) -> StepTable:
        """The closure of SUBCLASS_OF up to ``most`` levels: each ancestor once, by a shortest way.

        Of several shortest ways the one whose concepts come first in the order of ids is kept.
        """
        if most not in self._closures:
            self._closures[most] = self.climb(np.arange(len(self)), most)
        return self._closures[most]

    def climb(self, nodes: Ints, most: int) -> StepTable:
        """As ``ancestors``, from some concepts only."""
        parents = self.parents
        first = parents.take(np.flatnonzero(np.isin(parents.start, nodes)))
        layers = [first]
        seen = np.unique(first.start * len(self) + first.end)
        for level in range(2, most + 1):
            last = layers[-1]
            left, right = join(last.end, parents.start)
            start, end = last.start[left], parents.end[right]
            inner = np.column_stack([last.inner[left], last.end[left]])
            edges = np.column_stack([last.edges[left], parents.edges[right]])
            key = start * len(self) + end
            fresh = np.flatnonzero((start != end) & ~np.isin(key, seen))
            order = fresh[np.lexsort((*inner[fresh].T[::-1], key[fresh]))]
            rows = order[np.flatnonzero(np.diff(key[order], prepend=NONE))]
            if not len(rows):
                break
            layers.append(
                StepTable(
                    start[rows], end[rows], np.full(len(rows), level), edges[rows], inner[rows]
                )
            )
            seen = np.union1d(seen, key[rows])
        whole = StepTable(
            np.concatenate([layer.start for layer in layers]),
            np.concatenate([layer.end for layer in layers]),
            np.concatenate([layer.level for layer in layers]),
            np.concatenate([pad(layer.edges, most) for layer in layers]),
            np.concatenate([pad(layer.inner, most - 1) for layer in layers]),
        )
        return whole.take(np.lexsort((whole.end, whole.start)))

    def step(self, step: Step) -> StepTable:
        """All ways of making a step, in walking order, sorted by (start, end)."""
        if step not in self._steps:
            self._steps[step] = self._step(step)
        return self._steps[step]

    def _step(self, step: Step) -> StepTable:
        if step.hierarchical:
            table = self.ancestors(step.most)
            table = table.take(np.flatnonzero(table.level >= step.least))
        else:
            rows = self.edges_of(step.predicates, negated=step.negated)
            table = StepTable(
                self.subject[rows],
                self.object[rows],
                np.zeros(len(rows), np.int64),
                rows[:, None],
                np.empty((len(rows), 0), np.int64),
            )
        if not step.forward:
            table = StepTable(
                table.end,
                table.start,
                table.level,
                _mirror(table.edges, table.level),
                _mirror(table.inner, table.level - 1),
            )
        return table.take(np.lexsort((table.edges[:, 0], table.end, table.start)))

    def reach(self, path: MetaPath) -> Any:
        """A sparse Boolean matrix, concepts by concepts: which pairs a meta-path joins."""
        if path.steps not in self._matrices:
            product = None
            for step in path.steps:
                matrix = self._matrix(self.step(step))
                product = matrix if product is None else product @ matrix
                product.data[:] = 1
            assert product is not None
            product.sort_indices()
            self._matrices[path.steps] = product
        return self._matrices[path.steps]

    def related(self, left: Ints, right: Ints, most: int) -> Bools:
        """Whether two concepts are the same, or one is an ancestor of the other within ``most``."""
        closure = self.ancestors(most)
        known = np.sort(closure.start * len(self) + closure.end)
        up, down = left * len(self) + right, right * len(self) + left
        same: Bools = left == right
        return same | _contains(known, up) | _contains(known, down)

    @functools.cached_property
    def degree(self) -> Ints:
        """By edge, the larger of two counts under its predicate, parallel edges once.

        The objects that its subject has, and the subjects that its object has.
        """
        _, predicate = np.unique(self.predicate, return_inverse=True)
        pairs = np.unique(np.column_stack([predicate, self.subject, self.object]), axis=0).reshape(
            -1, 3
        )
        size = len(self)
        out_key, out = np.unique(pairs[:, 0] * size + pairs[:, 1], return_counts=True)
        in_key, inward = np.unique(pairs[:, 0] * size + pairs[:, 2], return_counts=True)
        outward = out[np.searchsorted(out_key, predicate * size + self.subject)]
        inbound = inward[np.searchsorted(in_key, predicate * size + self.object)]
        return np.asarray(np.maximum(outward, inbound), dtype=np.int64)

    @functools.cached_property
    def sole_source(self) -> list[str]:
        """By edge: its source where no other source states the same, else ""."""
        stated: dict[tuple[int, str, int, bool], set[str]] = {}
        keys = list(
            zip(
                self.subject.tolist(),
                self.predicate.tolist(),
                self.object.tolist(),
                self.negated.tolist(),
                strict=True,
            )
        )
        for key, source in zip(keys, self.source.tolist(), strict=True):
            stated.setdefault(key, set()).add(source)
        return [
            source if len(stated[key]) == 1 else ""
            for key, source in zip(keys, self.source.tolist(), strict=True)
        ]

    def _matrix(self, table: StepTable) -> Any:
        from scipy import sparse

        shape = (len(self), len(self))
        ones = np.ones(len(table.start), np.int32)
        matrix = sparse.csr_array((ones, (table.start, table.end)), shape=shape)
        matrix.sum_duplicates()
        matrix.data[:] = 1
        return matrix


def join(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Row pairs (i, j) with ``left[i] == right[j]``; ``right`` is sorted; in the order of i, j."""
    first = np.searchsorted(right, left, side="left")
    count = np.searchsorted(right, left, side="right") - first
    rows = np.repeat(np.arange(len(left)), count)
    offset = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    return rows, first[rows] + offset


def pad(table: Ints, width: int) -> Ints:
    """A two-dimensional array widened with NONE."""
    extra = np.full((len(table), max(0, width - table.shape[1])), NONE, np.int64)
    return np.hstack([table, extra])


def _mirror(table: Ints, length: Ints) -> Ints:
    """Each row's first ``length`` entries in reverse (a row of level 0 has one edge)."""
    width = table.shape[1]
    if width < 2:
        return table
    column = np.arange(width)[None, :]
    size = np.maximum(length, 0)[:, None]
    source = np.where(column < size, size - 1 - column, column)
    return np.take_along_axis(table, source, axis=1)


def _contains(known: Ints, keys: Ints) -> Bools:
    if not len(known):
        return np.zeros(len(keys), bool)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.asarray(known[place] == keys, dtype=bool)


def _understood(edges: pa.Table) -> pa.Table:
    """The edges whose predicate was known; others say too little to back anything."""
    return edges.filter(pc.equal(pc.fill_null(edges.column("original_predicate"), ""), ""))


def _texts(column: pa.ChunkedArray) -> npt.NDArray[np.object_]:
    filled = pc.fill_null(column, "")
    result: npt.NDArray[np.object_] = filled.to_numpy(zero_copy_only=False)
    return result


def _column(size: int, rows: Ints, values: pa.ChunkedArray) -> npt.NDArray[np.object_]:
    filled: npt.NDArray[np.object_] = np.full(size, "", dtype=object)
    filled[rows] = _texts(values)
    return filled
