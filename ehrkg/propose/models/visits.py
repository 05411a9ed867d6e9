"""Questions about single visits: a model reads what was recorded and names what is related."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.hashing import order_by_hash, short_id
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.propose.models.answers import MOST_CONTEXT, visit_schema
from ehrkg.propose.models.asking import Question
from ehrkg.propose.models.pairs import Names
from ehrkg.propose.models.prompts import Prompt
from ehrkg.propose.tasks import ACROSS, Task

MOST_EVENTS = 40
"""Events of a visit that are shown; of more a choice by hash, the same each time."""

CONTEXT = (2, MOST_CONTEXT)
"""Events that a model must name beside a relation, at least and at most (arXiv 2605.30637)."""


@dataclass(frozen=True)
class Event:
    """A code at a visit, as it stands in a prompt."""

    code: str
    route: str
    kind: str
    name: str


@dataclass(frozen=True)
class AskedVisit:
    """A question about a visit, and what its numbers stand for."""

    question: Question
    events: tuple[Event, ...]
    here: int
    """How many of the events are of the visit itself; the others are new at the next one."""


def visit_questions(
    hospital: Hospital, tasks: Sequence[Task], names: Names, prompt: Prompt
) -> Iterator[AskedVisit]:
    """One question a visit that holds two events or more, sorted by patient and time.

    Args:
        hospital: what was read.
        tasks: whose predicates may be named; the next visit is shown where one of them looks there.
        names: what codes are called.
        prompt: the ``visit`` prompt.
    """
    by_visit = _events_by_visit(hospital.visit_codes, names)
    predicates = sorted({relation.predicate for task in tasks for relation in task.relations})
    described = [_described(predicate, tasks) for predicate in predicates]
    looks_ahead = any(task.span == ACROSS for task in tasks)
    following = _following(hospital.visits) if looks_ahead else {}
    for visit in hospital.visits["id"].to_pylist():
        here = _some(by_visit[visit], visit)
        held = {event.code for event in by_visit[visit]}
        later = [
            event
            for event in by_visit.get(following.get(visit, ""), ())
            if event.kind == "diagnosis" and event.code not in held
        ]
        later = _some(later, visit)
        if len(here) < 2:
            continue
        events = (*here, *later)
        text = prompt.fill(events=here, later=later, predicates=described)
        yield AskedVisit(
            Question(
                scope="visit",
                prompt=prompt.label,
                system=prompt.system,
                text=text,
                schema=visit_schema(len(events), tuple(predicates)),
            ),
            events,
            len(here),
        )


def stated(asked: AskedVisit, relation: Mapping[str, Any]) -> tuple[str, str]:
    """The candidate that a relation of an answer names, or why it names none.

    Returns:
        The candidate's id and "", or "" and the reason: ``index_out_of_range``, ``context_size``,
        ``same_event``.
    """
    size = len(asked.events)
    numbers = [relation["head"], relation["tail"], *relation["context"]]
    if not all(0 <= number < size for number in numbers):
        return "", "index_out_of_range"
    if relation["head"] == relation["tail"]:
        return "", "same_event"
    context = set(relation["context"]) - {relation["head"], relation["tail"]}
    if not CONTEXT[0] <= len(context) <= CONTEXT[1] and size > CONTEXT[0] + 1:
        return "", "context_size"
    head, tail = asked.events[relation["head"]], asked.events[relation["tail"]]
    return short_id("r", head.code, head.route, relation["predicate"], tail.code), ""


def _events_by_visit(visit_codes: pa.Table, names: Names) -> Mapping[str, list[Event]]:
    found: dict[str, list[Event]] = defaultdict(list)
    columns = (visit_codes[name].to_pylist() for name in ("visit", "code", "route", "kind"))
    for visit, code, route, kind in zip(*columns, strict=True):
        found[visit].append(Event(code, route, kind, names.name(code, route)))
    return found


def _some(events: Sequence[Event], visit: str) -> list[Event]:
    """At most ``MOST_EVENTS``, grouped by kind; neither choice nor order follows the table's."""
    by_key = {f"{event.code}|{event.route}": event for event in events}
    chosen = order_by_hash(by_key, "shown", visit)[:MOST_EVENTS]
    return sorted((by_key[key] for key in chosen), key=lambda one: (one.kind, one.name, one.route))


def _following(visits: pa.Table) -> dict[str, str]:
    rows = list(zip(*(visits[name].to_pylist() for name in ("patient", "id")), strict=True))
    return {visit: after for (patient, visit), (owner, after) in pairwise(rows) if patient == owner}


def _described(predicate: str, tasks: Sequence[Task]) -> dict[str, str]:
    ends = {
        task.end_kinds(relation)
        for task in tasks
        for relation in task.relations
        if relation.predicate == predicate
    }
    heads, tails = ({kinds[side] for kinds in ends} for side in (0, 1))
    return {
        "name": predicate,
        "words": PREDICATES[predicate].words,
        "head": " or ".join(sorted(heads)),
        "tail": " or ".join(sorted(tails)),
    }
