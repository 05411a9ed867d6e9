"""Chooses what stands in a stem: the anchor, and beside it events drawn blind to the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from ehrkg.benchmark.facts.code_classes import code_class, standing_kind
from ehrkg.benchmark.facts.cohort import Cohort, VisitFacts
from ehrkg.benchmark.facts.giveaways import Answer, Giveaways, context_rules
from ehrkg.benchmark.facts.names import phrase
from ehrkg.benchmark.templates.answer_rules import Claim, Ground, Occurrence, earlier
from ehrkg.foundation.hashing import hash64


@dataclass(frozen=True, slots=True)
class Event:
    """A code in a stem, with its route if it is a drug."""

    code: str
    route: str


@dataclass(frozen=True, slots=True)
class Context:
    """The events of a stem in the order in which they stand, and where the anchor is."""

    events: tuple[Event, ...]
    anchor_position: int
    history: tuple[str, ...]


def choose_context(occurrence: Occurrence, ground: Ground, key: Sequence[object]) -> Context | None:
    """Draw the context of an occurrence; None if fewer than the least number of events may stand.

    How many events there are, which, and in what order depends on hashes of (key, code) alone, so
    nothing but the rules on giveaways looks at the answer.

    Args:
        occurrence: the claim and its visits.
        ground: what the rules stand on.
        key: names the draw: the seed and the template.
    """
    if occurrence.context is not None:
        return _given(occurrence, ground, key)
    size = context_rules()["size"]
    span = int(size["most"]) - int(size["least"]) + 1
    wanted = int(size["least"]) + hash64(*key, "size") % span
    anchor = Event(occurrence.claim.anchor, "")
    pool = _merged(_pool(occurrence, ground), anchor, ground, key)
    chosen = _by_hash(_capped(pool, occurrence, ground, key), key, "draw")[: wanted - 1]
    events = _by_hash([anchor, *chosen], key, "order")
    if len(events) < int(size["least"]):
        return None
    return Context(tuple(events), events.index(anchor), _history(occurrence, ground))


def _given(occurrence: Occurrence, ground: Ground, key: Sequence[object]) -> Context:
    """The context that somebody named, in an order by hash."""
    routes = {order.code: order.route for order in occurrence.visit.orders if order.lasting}
    named = [Event(code, routes.get(code, "")) for code in occurrence.context or ()]
    events = _by_hash(named, key, "order")
    anchor = next(event for event in events if event.code == occurrence.claim.anchor)
    return Context(tuple(events), events.index(anchor), _history(occurrence, ground))


def given_context_breaks(codes: Sequence[str], claim: Claim, ground: Ground) -> str:
    """The first rule that a context somebody named breaks, "" if none: the rules of one drawn.

    Args:
        codes: the context, the anchor among them.
        claim: what is asked.
        ground: what the rules stand on.
    """
    rules, cohort = context_rules(), ground.cohort
    if not rules["size"]["least"] <= len(codes) <= rules["size"]["most"]:
        return "context_size"
    kinds = Counter(cohort.codes[code].kind for code in codes)
    most = rules["tasks"][claim.task.name]["most"]
    if any(n > most[kind] for kind, n in kinds.items()):
        return "context_of_one_kind"
    if any(cohort.same_line(one, other) for one, other in combinations(codes, 2)):
        return "context_says_twice"
    reasons = (
        ground.giveaways.reason(code, claim.as_answer()) for code in codes if code != claim.anchor
    )
    return next((f"context_{reason}" for reason in reasons if reason), "")


def _pool(occurrence: Occurrence, ground: Ground) -> list[Event]:
    """Everything of the visit that may stand beside this answer."""
    claim = occurrence.claim
    every = events_beside(occurrence.visit, claim.as_answer(), ground.giveaways, ground.cohort)
    return [event for event in every if event.code != claim.anchor]


def events_beside(
    visit: VisitFacts, answer: Answer, giveaways: Giveaways, cohort: Cohort
) -> list[Event]:
    """Every event of a visit that may stand in a stem beside an answer, giving it not away.

    Args:
        visit: whose diagnoses, procedures and lasting orders they are; clutter is none.
        answer: what is asked for.
        giveaways: the rules on what gives it away.
        cohort: facts about codes.
    """
    events = [Event(code, "") for code in (*visit.diagnoses, *visit.procedures)]
    clutter = context_rules()["clutter"]
    events += [
        Event(order.code, order.route)
        for order in visit.orders
        if order.lasting and standing_kind(cohort.codes[order.code], order.route) not in clutter
    ]
    return [event for event in events if not giveaways.reason(event.code, answer)]


def _merged(
    pool: Sequence[Event], anchor: Event, ground: Ground, key: Sequence[object]
) -> list[Event]:
    """One event a problem: an ancestor gives way to its descendant, all relatives to the anchor.

    Nor is one name said twice ("paracentesis" of either ICD version's codes, or of two sites).
    """
    cohort = ground.cohort
    anchored = cohort.line(anchor.code)
    rest = {event.code: event for event in pool if event.code not in anchored}

    def above(event: Event) -> int:
        """How many events of the pool stand below this one."""
        line = cohort.line(event.code)
        return sum(cohort.is_above(event.code, code) for code in rest if code in line)

    kept: list[Event] = []
    taken: set[str] = set()
    said = {phrase(cohort.codes[anchor.code])}
    for event in sorted(_by_hash(rest.values(), key, "merge"), key=above):
        name = phrase(cohort.codes[event.code], event.route)
        if event.code not in taken and name not in said:
            kept.append(event)
            taken |= cohort.line(event.code)
            said.add(name)
    return kept


def _capped(
    pool: Sequence[Event], occurrence: Occurrence, ground: Ground, key: Sequence[object]
) -> list[Event]:
    """At most so many events a kind, by hash; the anchor counts for its own kind."""
    most = dict(context_rules()["tasks"][occurrence.claim.task.name]["most"])
    kinds = {event.code: ground.cohort.codes[event.code].kind for event in pool}
    most[ground.cohort.codes[occurrence.claim.anchor].kind] -= 1
    chosen: list[Event] = []
    for event in _by_hash(pool, key, "kind"):
        if most[kinds[event.code]] > 0:
            most[kinds[event.code]] -= 1
            chosen.append(event)
    return chosen


def _by_hash(events: Iterable[Event], key: Sequence[object], draw: str) -> list[Event]:
    return sorted(
        events,
        key=lambda event: (hash64(*key, draw, event.code, event.route), event.code, event.route),
    )


def _history(occurrence: Occurrence, ground: Ground) -> tuple[str, ...]:
    """Diagnoses of the last visits before the context's, in time order, no kin of the answer."""
    table = context_rules()["history"]
    answer = occurrence.claim.as_answer()
    codes: list[str] = []
    for visit in earlier(occurrence.visit, ground.cohort)[-int(table["visits"]) :]:
        codes += history_of(visit.diagnoses, answer, ground)[: int(table["codes"])]
    return tuple(codes)


def history_of(diagnoses: Sequence[str], answer: Answer, ground: Ground) -> list[str]:
    """The diagnoses of one earlier visit that may be told, one a problem, in the order of codes."""
    classes = context_rules()["history"]["classes"]
    cohort = ground.cohort
    told: list[str] = []
    for code in diagnoses:
        if (
            code_class(cohort.codes[code]) in classes
            and not ground.giveaways.reason(code, answer)
            and not any(cohort.same_line(code, other) for other in told)
        ):
            told.append(code)
    return told


def related_codes(codes: Iterable[str], answer: str, ground: Ground) -> int:
    """How many of a context's codes a supported relation joins with the answer.

    Args:
        codes: of the events.
        answer: its code.
        ground: knows the relations.
    """
    return sum((code, answer) in ground.supported_pairs for code in codes)
