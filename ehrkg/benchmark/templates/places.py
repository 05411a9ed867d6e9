"""Places to ask at that a query names: (visit, context codes, answer code, predicate).

Each becomes an occurrence of a supported relation, or is counted out under the first rule it
breaks; then the rules on answers and on context hold as for every other template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ehrkg.benchmark.facts.cohort import VisitFacts
from ehrkg.benchmark.templates.answer_rules import SUPPORTED, Claim, Ground, Occurrence
from ehrkg.benchmark.templates.context import given_context_breaks
from ehrkg.foundation.errors import UsageError
from ehrkg.propose.tasks import ACROSS, Task, TaskRelation
from ehrkg.verify.schema import Verified


@dataclass(frozen=True)
class Place:
    """One row of such a query.

    Attributes:
        visit: where the context stands.
        context: code ids of the stem, the anchor among them.
        answer: the code that is asked for.
        predicate: that licenses it.
        route: of the answer, if it is a drug and the query says; "" for any.
    """

    visit: str
    context: tuple[str, ...]
    answer: str
    predicate: str
    route: str


def read_places(table: pa.Table) -> list[Place]:
    """The rows of a query's answer.

    Raises:
        UsageError: a context is no list, or a value is missing.
    """
    found = []
    for number, row in enumerate(table.to_pylist(), start=1):
        context = row["context"]
        if not isinstance(context, list | tuple):
            raise UsageError(
                f"row {number} of the query: its context is {context!r}, no list of codes",
                todo="collect the codes: collect(DISTINCT c.id) AS context",
            )
        missing = [name for name in ("visit", "answer", "predicate") if not row[name]]
        if missing:
            raise UsageError(
                f"row {number} of the query holds no {missing[0]}",
                todo="return visit, context, answer and predicate in every row",
            )
        codes = tuple(dict.fromkeys(str(code) for code in context if code))
        found.append(
            Place(
                str(row["visit"]),
                codes,
                str(row["answer"]),
                str(row["predicate"]),
                str(row.get("route") or ""),
            )
        )
    return found


class Places:
    """Turns places into occurrences.

    Args:
        ground: what the rules stand on.
        verified: the relations with their verdicts.
        tasks: the tasks that may ask.
    """

    def __init__(self, ground: Ground, verified: Verified, tasks: Sequence[Task]) -> None:
        self._ground, self._tasks = ground, tasks
        self._relations: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for row in verified.relations.to_pylist():
            key = (row["head"], row["predicate"], row["tail"])
            self._relations.setdefault(key, []).append(row)

    def occurrences(
        self, places: Sequence[Place], dropped: Counter[str]
    ) -> Iterator[tuple[Task, Occurrence]]:
        """The occurrences, each with its task.

        Args:
            places: what was asked for.
            dropped: counts the others, by the rule each breaks.
        """
        for place in places:
            found = self._occurrence(place)
            if isinstance(found, str):
                dropped[found] += 1
            else:
                yield found

    def _occurrence(self, place: Place) -> tuple[Task, Occurrence] | str:
        cohort = self._ground.cohort
        visit = cohort.visits.get(place.visit)
        if visit is None:
            return "unknown_visit"
        if not {place.answer, *place.context} <= cohort.codes.keys():
            return "unknown_code"
        if not set(place.context) <= visit.codes:
            return "context_not_recorded"
        read = list(self._readings(place, visit))
        if not read:
            return "answer_not_recorded"
        claims = [
            (task, claim, target)
            for task, spec, target in read
            for claim in self._claims(place, task, spec)
        ]
        orders = {(order.code, order.route): order for order in visit.orders}
        if read[0][0].answer_kind == "drug":
            claims = [one for one in claims if (one[1].answer, one[1].route) in orders]
        held = [one for one in claims if one[1].relation["verdict"] == SUPPORTED]
        if not held:
            return "not_supported" if claims else "no_relation"
        # Of several relations the best scored is asked about, the first of equals.
        task, claim, target = max(held, key=lambda one: float(one[1].relation["score"]))
        broken = given_context_breaks(place.context, claim, self._ground)
        if broken:
            return broken
        order = orders.get((claim.answer, claim.route))
        return task, Occurrence(claim, visit, target, order, place.context)

    def _readings(
        self, place: Place, visit: VisitFacts
    ) -> Iterator[tuple[Task, TaskRelation, VisitFacts]]:
        """Tasks that ask by the predicate and find the answer where they look for it."""
        visits = self._ground.cohort.patients[visit.patient].visits
        after = next((one for one in visits if one.ordinal > visit.ordinal), None)
        for task in self._tasks:
            target = after if task.span == ACROSS else visit
            for spec in task.relations:
                if (
                    spec.predicate == place.predicate
                    and target is not None
                    and place.answer in target.codes
                    and self._ground.cohort.codes[place.answer].kind == task.answer_kind
                ):
                    yield task, spec, target

    def _claims(self, place: Place, task: Task, spec: TaskRelation) -> Iterator[Claim]:
        """The relations between the answer and an event of the context, as claims."""
        codes = self._ground.cohort.codes
        for anchor in place.context:
            if codes[anchor].kind != spec.anchor:
                continue
            ends = (place.answer, anchor) if spec.answer == "head" else (anchor, place.answer)
            for relation in self._relations.get((ends[0], spec.predicate, ends[1]), ()):
                if place.route in ("", relation["route"]):
                    yield claim_of(task, spec, relation, codes)


def claim_of(
    task: Task, spec: TaskRelation, relation: Mapping[str, Any], codes: Mapping[str, Any]
) -> Claim:
    """A relation read as a question of a task.

    Args:
        task: the task.
        spec: which end is asked for.
        relation: a row of RELATIONS between two codes.
        codes: ``CodeFacts`` by id.
    """
    head, tail = relation["head"], relation["tail"]
    answer, anchor = (head, tail) if spec.answer == "head" else (tail, head)
    concepts = {head: relation["head_concept"], tail: relation["tail_concept"]}
    return Claim(
        task=task,
        relation=relation,
        anchor=anchor,
        answer=answer,
        route=relation["route"] if codes[answer].kind == "drug" else "",
        concept=concepts[answer],
        problem=concepts[anchor],
    )
