"""Which candidates may stand beside an answer: what might be true is out, by named reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.benchmark.distractors.pools import entity_of, settings_of
from ehrkg.benchmark.facts.codes import ATC_LEVEL_4
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.names import display
from ehrkg.benchmark.facts.possible import Possible
from ehrkg.benchmark.facts.support import Grid, Support
from ehrkg.propose.tasks import tasks

ATC_LEVEL_2 = len("ATC:J01")
"""The length of the CURIE of an ATC group at level 2 (therapeutic subgroup)."""

NOT_IN_POOL = "not_in_pool"
"""Why a candidate is out that may be no distractor of anything."""

Scores = npt.NDArray[np.float64]

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Pool:
    """The pool of one task and ICD version: rows of POOL, with what is asked of all at once.

    Attributes:
        rows: the rows, by entity.
        at: position of an entity.
        clash: which two may not stand in one question (related to each other, or of one name).
    """

    rows: Rows
    at: Mapping[str, int]
    clash: Grid

    @classmethod
    def of(
        cls, table: pa.Table, cohort: Cohort, *, kin: Callable[[str], frozenset[str]] | None = None
    ) -> Pool:
        """The pool of a slice of the POOL table (one task, one era).

        Args:
            table: the slice.
            cohort: the facts about codes.
            kin: the codes that clash with a code; all that are related to it by default.
        """
        rows = table.to_pylist()
        related = Related(rows, cohort, kin)
        clash = related.to_codes([row["code"] for row in rows])
        named = [display(cohort.codes[row["code"]], row["route"]).casefold() for row in rows]
        for name, n in Counter(named).items():
            if n > 1:
                same = np.array([other == name for other in named])
                clash[np.ix_(same, same)] = True
        at = {row["entity"]: position for position, row in enumerate(rows)}
        return cls(rows, at, clash)

    @property
    def asked_for(self) -> npt.NDArray[np.bool_]:
        """Whom any template asks for: whoever knew the others would know them for wrong."""
        found: npt.NDArray[np.bool_] = self.column("n_answers") > 0
        return found

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column as an array."""
        return np.array([row[name] for row in self.rows])


class Related:
    """Which pool members are related to a code; by ``kin``, if another sense of it is meant."""

    def __init__(
        self, rows: Rows, cohort: Cohort, kin: Callable[[str], frozenset[str]] | None = None
    ) -> None:
        self._kin = kin or cohort.related
        self._size = len(rows)
        self._positions: dict[str, list[int]] = {}
        for position, row in enumerate(rows):
            self._positions.setdefault(row["code"], []).append(position)

    def to_code(self, code: str) -> npt.NDArray[np.bool_]:
        """One truth value a member."""
        found = np.zeros(self._size, dtype=bool)
        for other in self._kin(code):
            found[self._positions.get(other, [])] = True
        return found

    def to_codes(self, codes: Sequence[str]) -> Grid:
        """A row of such a code."""
        rows = [self.to_code(code) for code in codes]
        return np.array(rows, dtype=bool).reshape(len(rows), self._size)


@dataclass(frozen=True)
class Questions:
    """The templates of one task and ICD version, beside their pool.

    Attributes:
        templates: rows of TEMPLATES, by id.
        answers: position of each answer in the pool.
        allowed: who may stand beside it: len(templates) x len(pool).
        dropped: how many (question, candidate) pairs each reason ruled out, the first that holds.
    """

    templates: Rows
    pool: Pool
    answers: npt.NDArray[np.int64]
    allowed: Grid
    dropped: Mapping[str, int]


class Screen:
    """Rules out, for any templates of one task and ICD version, who may not be their distractors.

    What is found out about a code is kept as bits, a bit a member of the pool; a template's own
    bits are those of its codes together.

    Args:
        task: the task.
        pool: its pool.
        cohort: the facts about codes and visits.
        support: what the knowledge joins.
    """

    apart_at = ATC_LEVEL_2
    """Drugs whose ATC classes begin with the same so many characters don't stand side by side."""

    def __init__(self, task: str, pool: Pool, cohort: Cohort, support: Support) -> None:
        self.task, self.pool, self._cohort, self._support = task, pool, cohort, support
        rows = pool.rows
        self._codes = [row["code"] for row in rows]
        self._eligible = pool.column("eligible").astype(bool)
        self._roles = _roles(task, rows)
        self._classes = [
            {node[: self.apart_at] for node in cohort.codes[code].atc4} for code in self._codes
        ]
        self._possible = [Possible(row["sexes"], row["first_age"], row["last_age"]) for row in rows]
        rules = settings_of(task)
        self._related = AnyOf(len(rows), Related(rows, cohort).to_codes)
        self._excluded = AnyOf(
            len(rows), lambda codes: support.stated(codes, self._codes, ["EXCLUDES1"])
        )
        self._maybe_true = {
            "supported_in_context": self._joined(rules["true_by"]),
            "treats_visit_diagnosis": self._joined(rules["visit_by"]),
            "supported_by_two_edges": AnyOf(
                len(rows), lambda codes: support.chained(codes, self._codes, rules["true_via"])
            ),
        }
        self._same_class: dict[int, npt.NDArray[np.bool_]] = {}
        self._meets: dict[tuple[str, int | None], npt.NDArray[np.bool_]] = {}

    def _joined(self, predicates: Sequence[str]) -> AnyOf:
        if not predicates:
            return AnyOf(len(self._codes), None)
        return AnyOf(
            len(self._codes),
            lambda codes: self._joining(codes, predicates),
        )

    def _joining(self, codes: list[str], predicates: Sequence[str]) -> Grid:
        """Whom the knowledge joins to some codes, or joins the kin of."""
        return self._support.joined(codes, self._codes, predicates)

    def questions(self, templates: Sequence[Mapping[str, Any]]) -> Questions:
        """The templates beside their pool, with who may stand beside each answer.

        Args:
            templates: rows of TEMPLATES, in any order.
        """
        ordered = sorted(templates, key=lambda row: str(row["id"]))
        answers = self.answers(ordered)
        allowed = np.ones((len(ordered), len(self.pool.rows)), dtype=bool)
        dropped: dict[str, int] = {}
        for reason, grid in self._rules(ordered, answers):
            dropped[reason] = int((allowed & grid).sum())
            allowed &= ~grid
        return Questions(ordered, self.pool, answers, allowed, dropped)

    def reasons(self, templates: Rows) -> Iterator[tuple[str, Grid]]:
        """Every reason with a grid of the pairs it rules out: len(templates) x len(pool)."""
        return self._rules(templates, self.answers(templates))

    def answers(self, templates: Rows) -> npt.NDArray[np.int64]:
        """The position of each template's answer in the pool."""
        task, cohort = self.task, self._cohort
        return np.array(
            [
                self.pool.at[entity_of(task, row["answer"][0], row["answer_route"], cohort)]
                for row in templates
            ],
            dtype=np.int64,
        )

    def _rules(self, templates: Rows, answers: npt.NDArray[np.int64]) -> Iterator[tuple[str, Grid]]:
        """Every reason with a grid of the pairs it rules out, in the order in which they count."""
        pool, size = self.pool, (len(templates), len(self.pool.rows))
        group, grain = pool.column("group"), pool.column("grain")
        yield NOT_IN_POOL, np.broadcast_to(~self._eligible, size)
        yield "other_route_group", group[answers][:, None] != group
        yield "no_edge_of_predicate", ~self._same_role(templates).reshape(size)
        yield "other_granularity", grain[answers][:, None] != grain
        yield "related_to_answer", pool.clash[answers] | self._of_class(answers).reshape(size)
        yield "recorded_in_patient", self._recorded(templates, answers)
        contexts = [row["context"] for row in templates]
        visits = [self._cohort.visits[row["visit"]].diagnoses for row in templates]
        for reason, any_of in self._maybe_true.items():
            yield reason, any_of.of(visits if reason == "treats_visit_diagnosis" else contexts)
        yield "excludes1_of_answer", self._excluded.of([[self._codes[at]] for at in answers])
        yield "impossible_for_patient", ~self._meet(templates).reshape(size)

    def _recorded(self, templates: Rows, answers: npt.NDArray[np.int64]) -> Grid:
        patients = self._cohort.patients
        return self._related.of([patients[row["patient"]].codes for row in templates])

    def _same_role(self, templates: Rows) -> Grid:
        nobody = np.zeros(len(self.pool.rows), dtype=bool)
        return np.array([self._roles.get(row["predicate"], nobody) for row in templates])

    def _of_class(self, answers: npt.NDArray[np.int64]) -> Grid:
        """Whether two drugs share an ATC group (``apart_at``); the pool against the answers.

        Such a group is of drugs for one purpose ("J01", antibacterials): another one of it is as
        likely right as the answer, whether or not the knowledge states it.
        """
        for at in set(answers.tolist()) - set(self._same_class):
            mine = self._classes[at]
            self._same_class[at] = np.array([bool(mine & other) for other in self._classes], bool)
        return np.array([self._same_class[at] for at in answers.tolist()])

    def _meet(self, templates: Rows) -> Grid:
        people = [(row["sex"], row["age"]) for row in templates]
        for person in set(people) - set(self._meets):
            self._meets[person] = np.array([one.meets(*person) for one in self._possible], bool)
        return np.array([self._meets[person] for person in people])


class SiblingScreen(Screen):
    """Lets the answer's next of kin stand: CCSR siblings, and drugs of one ATC group of level 3.

    What is on one line with the answer stays out, and so does whatever is related to anything else
    that the patient has. A candidate is joined to the stem by its own edges, not by those of its
    kin: the answer is its kin, and is joined, so that nobody could stand beside it. What is left
    must be contradicted (strategy ``sibling``).
    """

    apart_at = ATC_LEVEL_4

    def _joining(self, codes: list[str], predicates: Sequence[str]) -> Grid:
        return self._support.stated(codes, self._codes, predicates)

    def _recorded(self, templates: Rows, answers: npt.NDArray[np.int64]) -> Grid:
        line, patients = self._cohort.line, self._cohort.patients
        return self._related.of(
            [patients[row["patient"]].codes - line(row["answer"][0]) for row in templates]
        )


class AnyOf:
    """Truth values by code, put together for sets of codes: true where it is of any of the set.

    Args:
        size: how many values a code has.
        rows: gives a row of values a code, of several codes at once; ``None``: never true.
    """

    def __init__(self, size: int, rows: Callable[[list[str]], Grid] | None) -> None:
        self._size, self._rows = size, rows
        self._at: dict[str, int] = {}
        self._bits = np.zeros((0, -(-size // 8)), dtype=np.uint8)

    def of(self, sets: Sequence[Iterable[str]]) -> Grid:
        """A row a set."""
        if self._rows is None or not self._size:
            return np.zeros((len(sets), self._size), dtype=bool)
        held = [sorted(one) for one in sets]
        fresh = sorted({code for one in held for code in one} - self._at.keys())
        if fresh:
            self._at |= {code: at for at, code in enumerate(fresh, len(self._at))}
            grid = np.asarray(self._rows(fresh), dtype=bool).reshape(len(fresh), self._size)
            self._bits = np.concatenate([self._bits, np.packbits(grid, axis=1)])
        lengths = np.array([len(one) for one in held], dtype=np.int64)
        found = np.zeros((len(held), self._bits.shape[1]), dtype=np.uint8)
        at = np.fromiter((self._at[code] for one in held for code in one), np.int64, lengths.sum())
        if len(at):
            starts = (np.cumsum(lengths) - lengths)[lengths > 0]
            found[lengths > 0] = np.bitwise_or.reduceat(self._bits[at], starts, axis=0)
        return np.unpackbits(found, axis=1, count=self._size).astype(bool)


def questions_of(
    task: str,
    templates: Sequence[Mapping[str, Any]],
    pool: Pool,
    cohort: Cohort,
    support: Support,
) -> Questions:
    """Rule out, for each template, the candidates that may not be its distractors."""
    return Screen(task, pool, cohort, support).questions(templates)


def _roles(task: str, rows: Rows) -> dict[str, npt.NDArray[np.bool_]]:
    """By predicate: which candidates stand on the answer's side of some edge of it.

    Where a task asks for either end of a predicate, either side will do: the question does not say
    which end is asked for.
    """
    ends: dict[str, set[str]] = {}
    for relation in tasks()[task].relations:
        ends.setdefault(relation.predicate, set()).add(f"{relation.predicate}:{relation.answer}")
    return {
        predicate: np.array([not roles.isdisjoint(row["roles"]) for row in rows], dtype=bool)
        for predicate, roles in ends.items()
    }
