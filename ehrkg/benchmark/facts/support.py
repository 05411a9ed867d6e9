"""What the knowledge joins, at any strength: used to rule out, so every doubt counts as a yes.

An edge joins two codes when one of its ends is a concept of the first code, or anything above or
below one, and the other end is the same for the second code. Direction and route are not looked at.

No graph is complete, and what holds of a code's next of kin often holds of it without being stated:
so a candidate is also joined by the edges of its kin (drugs of its chemical subgroup, codes
of its CCSR groups). How much that saves is what ``hiding`` measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.schema import Verified

ATC_SUBGROUP = len("ATC:C07AB")
"""The length of the CURIE of a chemical subgroup, whose drugs are next of kin: ATC level 4."""

Grid = npt.NDArray[np.bool_]

DOUBTFUL = ("supported", "ambiguous")
"""Verdicts under which a relation may be true."""


class Support:
    """Answers, for whole sets of codes at once, which of them the knowledge joins.

    Args:
        cohort: the facts about codes.
        knowledge: its edges; negated ones join nothing.
        verified: relations whose verdict is not a plain no count as edges between their concepts.
    """

    def __init__(self, cohort: Cohort, knowledge: Knowledge, verified: Verified) -> None:
        self._cohort = cohort
        self._edges = _edges(knowledge, verified)
        self._negated = _negated(knowledge)
        nodes = {node for pairs in self._edges.values() for pair in pairs for node in pair}
        self._nodes = {node: at for at, node in enumerate(sorted(nodes))}
        self._classes = [
            node
            for node in knowledge.concepts["id"].to_pylist()
            if node.startswith("ATC:") and len(node) >= ATC_SUBGROUP
        ]
        self._matrices: dict[tuple[str, ...], Any] = {}

    def predicates(self) -> tuple[str, ...]:
        """The predicates that have at least one edge."""
        return tuple(sorted(self._edges))

    def joined(
        self, rows: Sequence[str], columns: Sequence[str], predicates: Iterable[str]
    ) -> Grid:
        """Whether an edge of one of the predicates, in either direction, joins row and column.

        Args:
            rows: code ids, taken as they are.
            columns: ids of candidates, taken with their kin.
            predicates: names; unknown ones have no edges.

        Returns:
            A grid of len(rows) x len(columns).
        """
        return self._grid(self._reach(rows), self._reach(columns, self._kin), predicates)

    def stated(
        self, rows: Sequence[str], columns: Sequence[str], predicates: Iterable[str]
    ) -> Grid:
        """The same as ``joined``, of the candidates as they are, without their kin."""
        return self._grid(self._reach(rows), self._reach(columns), predicates)

    def _grid(self, left: Any, right: Any, predicates: Iterable[str]) -> Grid:
        matrix = self._matrix(tuple(sorted(set(predicates))))
        grid: Grid = ((left @ matrix) @ right.T).toarray() > 0
        return grid

    def denied(
        self, rows: Sequence[str], columns: Sequence[str], predicates: Iterable[str]
    ) -> Grid:
        """Whether a negated edge of one of the predicates, either way round, is about both.

        What is denied of a class is denied of its kinds, so an edge is about a code if it is about
        a concept of the code or one above; not if it is about a kind of what the code names.

        Args:
            rows: code ids.
            columns: code ids.
            predicates: names.

        Returns:
            A grid of len(rows) x len(columns).
        """
        grid = np.zeros((len(rows), len(columns)), dtype=bool)
        above = [self._cohort.codes[code].up for code in rows]
        for at, code in enumerate(columns):
            against = frozenset().union(
                *(
                    self._negated[predicate, node]
                    for predicate in predicates
                    for node in self._cohort.codes[code].up
                    if (predicate, node) in self._negated
                )
            )
            if against:
                grid[:, at] = [not against.isdisjoint(nodes) for nodes in above]
        return grid

    def chained(
        self, rows: Sequence[str], columns: Sequence[str], chains: Iterable[Sequence[str]]
    ) -> Grid:
        """Whether two edges lead from the column through one concept to the row, or back.

        Only the near concepts of both ends count: this is the weakest kind of support.

        Args:
            rows: code ids.
            columns: code ids.
            chains: pairs of predicates: [TREATS, CAUSES] finds a column that treats what causes the
                row.

        Returns:
            A grid of len(rows) x len(columns).
        """
        grid = np.zeros((len(rows), len(columns)), dtype=bool)
        left, right = self._near(rows), self._near(columns)
        for first, second in chains:
            path = self._directed(first) @ self._directed(second)
            grid |= ((left @ (path + path.T)) @ right.T).toarray() > 0
        return grid

    def edges_at(
        self, codes: Sequence[str], predicates: Iterable[str]
    ) -> dict[str, set[tuple[str, str]]]:
        """The distinct edges at each code's concepts and what stands above them.

        Each is a role (predicate and the side on which the code stands, "CAUSES:tail") and the
        concept at the other end.
        """
        wanted = set(predicates)
        at_node: dict[str, set[tuple[str, str]]] = {}
        for predicate, pairs in self._edges.items():
            if predicate not in wanted:
                continue
            for subject, target in pairs:
                at_node.setdefault(subject, set()).add((f"{predicate}:head", target))
                at_node.setdefault(target, set()).add((f"{predicate}:tail", subject))
        return {
            code: set().union(*(at_node.get(node, set()) for node in self._cohort.codes[code].up))
            for code in codes
        }

    def _reach(
        self, codes: Sequence[str], kin: Callable[[str], frozenset[str]] | None = None
    ) -> Any:
        """One row a code: which nodes stand for it, and which for its kin."""
        hierarchy = self._cohort.hierarchy
        sets = []
        for code in codes:
            facts = self._cohort.codes[code]
            reach = set(facts.up) | (kin(code) if kin else frozenset())
            for node in facts.near:
                reach |= hierarchy.below(node)
            sets.append(reach)
        return self._rows(sets)

    def _near(self, codes: Sequence[str]) -> Any:
        """One row a code: its near concepts."""
        return self._rows([self._cohort.codes[code].near for code in codes])

    def _rows(self, sets: Sequence[Set[str]]) -> Any:
        from scipy import sparse

        rows, columns = [], []
        for at, nodes in enumerate(sets):
            found = sorted(self._nodes[node] for node in nodes if node in self._nodes)
            rows += [at] * len(found)
            columns += found
        shape = (len(sets), len(self._nodes))
        return sparse.csr_matrix((np.ones(len(rows), np.int32), (rows, columns)), shape=shape)

    def _kin(self, code: str) -> frozenset[str]:
        """Concepts of a code's next of kin: by ATC subgroup for a drug, else by CCSR and tree."""
        facts = self._cohort.codes[code]
        if facts.kind == "drug":
            classes = {node[:ATC_SUBGROUP] for node in facts.atc4}
            return frozenset().union(*(self._subgroups.get(name, ()) for name in classes))
        related = self._cohort.related(code)
        return frozenset().union(*(self._cohort.codes[other].near for other in related))

    @cached_property
    def _subgroups(self) -> dict[str, frozenset[str]]:
        """Everything below the ATC classes of a subgroup, and they themselves."""
        found: dict[str, set[str]] = {}
        for node in self._classes:
            below = {node, *self._cohort.hierarchy.below(node)}
            found.setdefault(node[:ATC_SUBGROUP], set()).update(below)
        return {name: frozenset(nodes) for name, nodes in found.items()}

    def _matrix(self, predicates: tuple[str, ...]) -> Any:
        """Edges of any of the predicates, both ways."""
        if predicates not in self._matrices:
            directed = sum(
                (self._directed(name) for name in predicates), start=self._directed("no predicate")
            )
            self._matrices[predicates] = directed + directed.T
        return self._matrices[predicates]

    def _directed(self, predicate: str) -> Any:
        """Edges of one predicate, from subject to object."""
        from scipy import sparse

        ends = [
            (self._nodes[one], self._nodes[other])
            for one, other in sorted(self._edges.get(predicate, ()))
        ]
        rows, columns = [one for one, _ in ends], [other for _, other in ends]
        shape = (len(self._nodes), len(self._nodes))
        return sparse.csr_matrix((np.ones(len(rows), np.int32), (rows, columns)), shape=shape)


def _edges(knowledge: Knowledge, verified: Verified) -> dict[str, set[tuple[str, str]]]:
    """Pairs of concepts by predicate, from the knowledge and from the relations not refused."""
    edges = knowledge.edges.filter(pc.invert(knowledge.edges["negated"]))
    found: dict[str, set[tuple[str, str]]] = {}
    for predicate, subject, target in zip(
        *(edges[name].to_pylist() for name in ("predicate", "subject", "object")), strict=True
    ):
        if predicate != "SUBCLASS_OF":
            found.setdefault(predicate, set()).add((subject, target))
    relations = verified.relations.select(
        ["predicate", "head", "tail", "head_concept", "tail_concept", "verdict", "n_path"]
    )
    for row in relations.to_pylist():
        if row["verdict"] in DOUBTFUL or row["n_path"]:
            pair = (row["head_concept"] or row["head"], row["tail_concept"] or row["tail"])
            found.setdefault(row["predicate"], set()).update({pair, (row["head"], row["tail"])})
    return found


def _negated(knowledge: Knowledge) -> dict[tuple[str, str], set[str]]:
    """By predicate and concept: the concepts at the other end of its negated edges."""
    edges = knowledge.edges.filter(knowledge.edges["negated"])
    found: dict[tuple[str, str], set[str]] = {}
    for predicate, subject, target in zip(
        *(edges[name].to_pylist() for name in ("predicate", "subject", "object")), strict=True
    ):
        found.setdefault((predicate, subject), set()).add(target)
        found.setdefault((predicate, target), set()).add(subject)
    return found
