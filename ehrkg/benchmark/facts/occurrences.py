"""Counts where the two ends of many relations stand, all at once on sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.propose.tasks import ACROSS, Task, TaskRelation

_JOINT = "\x1f"

Positions = npt.NDArray[np.int64]


class OccurrenceCounts:
    """How many places each relation of a task would be a candidate at.

    A place is a visit that holds both ends, or for a task that asks about the next visit a pair of
    visits in a row with the anchor in the first and the answer in the second.

    Args:
        cohort: the visits.
    """

    def __init__(self, cohort: Cohort) -> None:
        from scipy import sparse

        self._cohort = cohort
        self._columns: dict[tuple[str, str], int] = {}
        rows, columns = [], []
        for at, visit in enumerate(cohort.visits.values()):
            keys = [(code, "") for code in (*visit.diagnoses, *visit.procedures)]
            keys += [(order.code, order.route) for order in visit.orders]
            rows += [at] * len(keys)
            columns += [self._columns.setdefault(key, len(self._columns)) for key in keys]
        shape = (len(cohort.visits), len(self._columns))
        self._held = sparse.csr_matrix((np.ones(len(rows), np.int32), (rows, columns)), shape=shape)
        self._together: dict[str, Any] = {}
        self._of_kind: dict[str, tuple[pa.Array, Positions]] = {}

    def total(self, relations: pa.Table, task: Task) -> int:
        """The number of places over all of the relations and all of the task's ways to read them.

        Args:
            relations: needs the columns head, route, predicate, tail.
            task: says which end is asked for, and where.
        """
        return sum(self._of_spec(relations, task, spec) for spec in task.relations)

    def _of_spec(self, relations: pa.Table, task: Task, spec: TaskRelation) -> int:
        named = relations.filter(pc.equal(relations["predicate"], spec.predicate))
        heads, tails = task.end_kinds(spec)
        head = self._find(named["head"], named["route"], heads)
        tail = self._find(named["tail"], named["route"], tails)
        keep = (head >= 0) & (tail >= 0)
        if not keep.any():
            return 0
        answer, anchor = (head, tail) if spec.answer == "head" else (tail, head)
        return int(self._matrix(task.span)[anchor[keep], answer[keep]].sum())

    def _find(self, codes: pa.ChunkedArray, routes: pa.ChunkedArray, kind: str) -> Positions:
        """The column of each code of a kind, -1 for what is of another kind or nowhere."""
        if kind not in self._of_kind:
            known = self._cohort.codes
            keys = [key for key in self._columns if known[key[0]].kind == kind]
            self._of_kind[kind] = (
                pa.array([_JOINT.join(key) for key in keys], pa.string()),
                np.array([*(self._columns[key] for key in keys), -1], np.int64),
            )
        keys, columns = self._of_kind[kind]
        if kind != "drug":
            routes = pa.array([""] * len(codes), pa.string())
        found = pc.index_in(pc.binary_join_element_wise(codes, routes, _JOINT), value_set=keys)
        at: Positions = columns[pc.fill_null(found, len(keys)).to_numpy()]
        return at

    def _matrix(self, span: str) -> Any:
        if span not in self._together:
            first, second = self._held, self._held
            if span == ACROSS:
                pairs = sorted(self._cohort.next_visit.items())
                first = self._held[[one for one, _ in pairs]]
                second = self._held[[other for _, other in pairs]]
            self._together[span] = (first.T @ second).tocsr()
        return self._together[span]
