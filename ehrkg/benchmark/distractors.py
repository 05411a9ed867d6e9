"""Which candidates may stand beside an answer, and which of them a strategy draws.

First every candidate that might be true, or would give something away, is ruled out, each under a
named reason. Then a strategy says how far the rest stand from the answer, and a keyed hash draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.benchmark.cohort import Cohort
from ehrkg.benchmark.pools import entity_of, era_of, settings_of
from ehrkg.benchmark.possible import Possible, settings
from ehrkg.benchmark.support import Grid, Support
from ehrkg.foundation.hashing import hash_strings, uniform
from ehrkg.propose.tasks import tasks

Scores = npt.NDArray[np.float64]
Steps = npt.NDArray[np.int64]

TOO_FAR = -1
"""In a grid of steps: this candidate can't stand beside this answer under the strategy."""


@dataclass(frozen=True)
class Pool:
    """The pool of one task and ICD version: rows of POOL, with what is asked of all at once.

    Attributes:
        rows: the rows, by entity.
        at: position of an entity.
        clash: which two may not stand in one question (related to each other).
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
        at = {row["entity"]: position for position, row in enumerate(rows)}
        return cls(rows, at, clash.reshape(len(rows), len(rows)))

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column as an array."""
        return np.array([row[name] for row in self.rows])

    def prices(self, n_options: int) -> Scores:
        """Prices for questions of so many options; minus infinity where never drawn."""
        values = [row[f"price_{n_options}"] for row in self.rows]
        return np.array([-np.inf if value is None else value for value in values], np.float64)


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
    era: str,
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
    contexts = [[*row["context"], *(row["history"] or ())] for row in templates]
    visits = [cohort.visits[row["visit"]].diagnoses for row in templates]
    rules = settings_of(task)
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
        ("supported_in_context", _joined(contexts, codes, rules["true_by"], support)),
        ("treats_visit_diagnosis", _joined(visits, codes, rules["visit_by"], support)),
        (
            "excludes1_of_answer",
            _joined([[rows[at]["code"]] for at in answers], codes, ["EXCLUDES1"], support),
        ),
        ("impossible_for_patient", ~_possible(templates, rows)),
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
    """Whether two drugs share a class of ATC level 4; the pool's members against the answers."""
    classes = [cohort.codes[row["code"]].atc4 for row in rows]
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
    found = np.zeros((len(sets), len(codes)), dtype=bool)
    names = sorted({code for held in sets for code in held})
    if not names or not predicates:
        return found
    grid = support.joined(names, codes, predicates)
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


class Strategy(Protocol):
    """A way to choose among the candidates that are left."""

    name: str

    def steps(self, questions: Questions) -> Steps:
        """How far each candidate stands from the answer, in steps; TOO_FAR where it is out."""

    def reason(self, answer: Mapping[str, Any], distractor: Mapping[str, Any]) -> str:
        """Why this distractor, in a few words (both are rows of the pool)."""


class Frequency:
    """Distractors as frequent in this hospital, and as well known to the graph, as the answer."""

    name = "frequency"

    def steps(self, questions: Questions) -> Steps:
        """Steps of one band or one decile; see ``Strategy.steps``."""
        bounds = settings()["widening"]
        bands, deciles = questions.pool.column("band"), questions.pool.column("decile")
        band = np.abs(bands[questions.answers][:, None] - bands)
        decile = np.abs(deciles[questions.answers][:, None] - deciles)
        near = (band <= bounds["bands"]) & (decile <= bounds["deciles"])
        return np.where(near, band + decile, TOO_FAR)

    def reason(self, answer: Mapping[str, Any], distractor: Mapping[str, Any]) -> str:
        """See ``Strategy.reason``."""
        band, decile = distractor["band"], distractor["decile"]
        steps = abs(band - answer["band"]) + abs(decile - answer["decile"])
        widened = f" ({steps} {'step' if steps == 1 else 'steps'} from the answer)" if steps else ""
        return (
            f"frequency band {band}, degree decile {decile}{widened}; "
            "not in any visit of the patient; no knowledge path"
        )


STRATEGIES: Mapping[str, Strategy] = {"frequency": Frequency()}
"""Every strategy by name; a new one is one new entry."""


def luck(questions: Questions, steps: Steps, *, n_options: int, seed: int) -> Scores:
    """What a draw gives each candidate before prices: a Gumbel number from a hash, less its steps.

    The n best of ``luck + price`` are a weighted draw without replacement (Efraimidis and
    Spirakis 2006, in the form with Gumbel numbers), in which each candidate's number comes from
    (seed, template, entity, n_options) alone.

    Returns:
        len(questions) x len(pool); minus infinity for whom the question may not have.
    """
    template = hash_strings(seed, [row["id"] for row in questions.templates])
    entity = hash_strings(seed, [row["entity"] for row in questions.pool.rows])
    draw = uniform(seed, template[:, None], entity[None, :], n_options)
    with np.errstate(divide="ignore"):
        gumbel = -np.log(-np.log(np.clip(draw, 1e-12, 1 - 1e-12)))
    cost = settings()["widening"]["step_cost"]
    scores = np.round(gumbel - cost * steps, 9)
    return np.where(questions.allowed & (steps != TOO_FAR), scores, -np.inf)


def draw(scores: Scores, clash: Grid, n: int) -> npt.NDArray[np.int64]:
    """The n best of each row that do not clash with one another.

    Args:
        scores: rows of ``luck`` plus prices.
        clash: which two members may not stand together.
        n: how many.

    Returns:
        len(scores) x n positions, best first; -1 from the place where a row has no more.
    """
    left = scores.copy()
    chosen = np.full((len(left), n), -1, dtype=np.int64)
    rows = np.arange(len(left))
    for place in range(n):
        if not left.size:
            break
        best = left.argmax(axis=1)
        found = np.isfinite(left[rows, best])
        chosen[found, place] = best[found]
        left[rows[found], best[found]] = -np.inf
        left[found] = np.where(clash[best[found]], -np.inf, left[found])
    return chosen
