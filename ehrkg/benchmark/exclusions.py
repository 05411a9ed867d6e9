"""Which candidates may stand beside an answer: what might be true is out, by named reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.benchmark.cohort import Cohort
from ehrkg.benchmark.names import display
from ehrkg.benchmark.pools import entity_of, era_of, settings_of
from ehrkg.benchmark.possible import Possible
from ehrkg.benchmark.support import Grid, Support
from ehrkg.propose.tasks import tasks

ATC_LEVEL_2 = len("ATC:J01")
"""The length of the CURIE of an ATC group at level 2 (therapeutic subgroup)."""

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pool:
    """The pool of one task and ICD version: rows of POOL, with what is asked of all at once.

    Attributes:
        rows: the rows, by entity.
        at: position of an entity.
        clash: which two may not stand in one question (related to each other, or of one name).
    """

    rows: list[dict[str, Any]]
    at: Mapping[str, int]
    clash: Grid

    @classmethod
    def of(cls, table: pa.Table, cohort: Cohort) -> Pool:
        """The pool of a slice of the POOL table (one task, one era)."""
        rows = table.to_pylist()
        related = Related(rows, cohort)
        clash = np.array([related.to_code(row["code"]) for row in rows], dtype=bool)
        clash = clash.reshape(len(rows), len(rows))
        named = [display(cohort.codes[row["code"]], row["route"]).casefold() for row in rows]
        for name, n in Counter(named).items():
            if n > 1:
                same = np.array([other == name for other in named])
                clash[np.ix_(same, same)] = True
        at = {row["entity"]: position for position, row in enumerate(rows)}
        return cls(rows, at, clash)

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column as an array."""
        return np.array([row[name] for row in self.rows])


class Related:
    """Which pool members are related to a code, or to anything a patient has in any visit."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], cohort: Cohort) -> None:
        self._cohort = cohort
        self._size = len(rows)
        self._positions: dict[str, list[int]] = {}
        for position, row in enumerate(rows):
            self._positions.setdefault(row["code"], []).append(position)
        self._known: dict[str, npt.NDArray[np.bool_]] = {}
        self._patients: dict[str, npt.NDArray[np.bool_]] = {}

    def to_code(self, code: str) -> npt.NDArray[np.bool_]:
        """One truth value a member."""
        if code not in self._known:
            found = np.zeros(self._size, dtype=bool)
            for other in self._cohort.related(code):
                found[self._positions.get(other, [])] = True
            self._known[code] = found
        return self._known[code]

    def to_patient(self, patient: str) -> npt.NDArray[np.bool_]:
        """One truth value a member, over every visit of the patient."""
        if patient not in self._patients:
            found = np.zeros(self._size, dtype=bool)
            for code in self._cohort.patients[patient].codes:
                found |= self.to_code(code)
            self._patients[patient] = found
        return self._patients[patient]


@dataclass(frozen=True)
class Questions:
    """The templates of one task and ICD version, beside their pool.

    Attributes:
        templates: rows of TEMPLATES, by id.
        answers: position of each answer in the pool.
        allowed: who may stand beside it: len(templates) x len(pool).
        dropped: how many (question, candidate) pairs each reason ruled out, the first that holds.
    """

    templates: list[dict[str, Any]]
    pool: Pool
    answers: npt.NDArray[np.int64]
    allowed: Grid
    dropped: Mapping[str, int]


def questions_of(
    task: str,
    templates: Sequence[dict[str, Any]],
    pool: Pool,
    cohort: Cohort,
    support: Support,
) -> Questions:
    """Rule out, for each template, the candidates that may not be its distractors."""
    ordered = sorted(templates, key=lambda row: str(row["id"]))
    answers = np.array(
        [
            pool.at[entity_of(task, row["answer"][0], row["answer_route"], cohort)]
            for row in ordered
        ],
        dtype=np.int64,
    )
    allowed = np.ones((len(ordered), len(pool.rows)), dtype=bool)
    dropped: dict[str, int] = {}
    for reason, grid in _rules(task, ordered, answers, pool, cohort, support):
        dropped[reason] = int((allowed & grid).sum())
        allowed &= ~grid
    return Questions(ordered, pool, answers, allowed, dropped)


def group_templates(
    templates: pa.Table, cohort: Cohort
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Rows of TEMPLATES by task and ICD version of the answer."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in templates.to_pylist():
        key = (row["task"], era_of(row["answer"][0], row["icd_version"], cohort))
        groups.setdefault(key, []).append(row)
    return dict(sorted(groups.items()))


Rows = Sequence[Mapping[str, Any]]


def _rules(
    task: str,
    templates: Rows,
    answers: npt.NDArray[np.int64],
    pool: Pool,
    cohort: Cohort,
    support: Support,
) -> list[tuple[str, Grid]]:
    """Every reason with a grid of the pairs it rules out, in the order in which they count."""
    rows = pool.rows
    related = Related(rows, cohort)
    size = (len(templates), len(rows))
    codes = [row["code"] for row in rows]
    eligible = pool.column("eligible").astype(bool)
    return [
        ("not_in_pool", np.broadcast_to(~eligible, size)),
        ("other_route_group", pool.column("group")[answers][:, None] != pool.column("group")),
        ("no_edge_of_predicate", ~_same_role(task, templates, rows)),
        ("other_granularity", pool.column("grain")[answers][:, None] != pool.column("grain")),
        ("related_to_answer", pool.clash[answers] | _same_class(answers, rows, cohort)),
        (
            "recorded_in_patient",
            np.array([related.to_patient(row["patient"]) for row in templates]).reshape(size),
        ),
        *maybe_true(task, templates, codes, cohort, support),
        (
            "excludes1_of_answer",
            _any_of(
                [[rows[at]["code"]] for at in answers],
                codes,
                support.stated(codes, codes, ["EXCLUDES1"]),
            ),
        ),
        ("impossible_for_patient", ~_possible(templates, rows)),
    ]


def maybe_true(
    task: str, templates: Rows, codes: Sequence[str], cohort: Cohort, support: Support
) -> list[tuple[str, Grid]]:
    """The reasons for which the knowledge says that a candidate might be true.

    Args:
        task: its row of ``pools.yaml`` says which predicates count.
        templates: rows of TEMPLATES.
        codes: the candidates.
        cohort: which diagnoses the whole visit has.
        support: the edges.

    Returns:
        Each reason with a grid of len(templates) x len(codes).
    """
    contexts = [row["context"] for row in templates]
    visits = [cohort.visits[row["visit"]].diagnoses for row in templates]
    rules = settings_of(task)
    return [
        ("supported_in_context", _joined(contexts, codes, rules["true_by"], support)),
        ("treats_visit_diagnosis", _joined(visits, codes, rules["visit_by"], support)),
        ("supported_by_two_edges", _chained(contexts, codes, rules["true_via"], support)),
    ]


def _same_role(task: str, templates: Rows, rows: Rows) -> Grid:
    """Whether the candidate stands on the answer's side of some edge of the question's predicate.

    Where a task asks for either end of a predicate, either side will do: the question does not say
    which end is asked for.
    """
    ends: dict[str, set[str]] = {}
    for relation in tasks()[task].relations:
        ends.setdefault(relation.predicate, set()).add(f"{relation.predicate}:{relation.answer}")
    by_predicate = {
        predicate: np.array([not roles.isdisjoint(row["roles"]) for row in rows], dtype=bool)
        for predicate, roles in ends.items()
    }
    nobody = np.zeros(len(rows), dtype=bool)
    grid: Grid = np.array([by_predicate.get(row["predicate"], nobody) for row in templates])
    return grid.reshape(len(templates), len(rows))


def _same_class(answers: npt.NDArray[np.int64], rows: Rows, cohort: Cohort) -> Grid:
    """Whether two drugs share an ATC group of level 2; the pool's members against the answers.

    Such a group is of drugs for one purpose ("J01", antibacterials): another one of it is as likely
    right as the answer, whether or not the knowledge states it.
    """
    classes = [{node[:ATC_LEVEL_2] for node in cohort.codes[row["code"]].atc4} for row in rows]
    share = {
        at: np.array([bool(classes[at] & other) for other in classes], dtype=bool)
        for at in set(answers.tolist())
    }
    grid: Grid = np.array([share[at] for at in answers.tolist()])
    return grid.reshape(len(answers), len(rows))


def _joined(
    sets: Sequence[Sequence[str]],
    codes: Sequence[str],
    predicates: Sequence[str],
    support: Support,
) -> Grid:
    """Whether any code of a row's set is joined to the candidate by one of the predicates."""
    names = sorted({code for held in sets for code in held})
    if not names or not predicates:
        return np.zeros((len(sets), len(codes)), dtype=bool)
    return _any_of(sets, names, support.joined(names, codes, predicates))


def _chained(
    sets: Sequence[Sequence[str]],
    codes: Sequence[str],
    chains: Sequence[Sequence[str]],
    support: Support,
) -> Grid:
    """Whether the candidate reaches any code of a row's set by one of the chains."""
    names = sorted({code for held in sets for code in held})
    if not names or not chains:
        return np.zeros((len(sets), len(codes)), dtype=bool)
    return _any_of(sets, names, support.chained(names, codes, chains))


def _any_of(sets: Sequence[Sequence[str]], names: Sequence[str], grid: Grid) -> Grid:
    """A grid by name turned into one by set: true where it is true of any of the set."""
    found = np.zeros((len(sets), grid.shape[1]), dtype=bool)
    at = {name: position for position, name in enumerate(names)}
    for position, held in enumerate(sets):
        if held:
            found[position] = grid[[at[code] for code in held]].any(axis=0)
    return found


def _possible(templates: Rows, rows: Rows) -> Grid:
    possible = [Possible(row["sexes"], row["first_age"], row["last_age"]) for row in rows]
    people = {(row["sex"], row["age"]) for row in templates}
    meets = {
        person: np.array([item.meets(*person) for item in possible], dtype=bool)
        for person in people
    }
    grid: Grid = np.array([meets[row["sex"], row["age"]] for row in templates])
    return grid.reshape(len(templates), len(rows))
