"""Perturbations of what a stem tells: its words, its events, their order, earlier admissions.

Each writes the stem anew with the makers of the benchmark, so that grammar and names hold; a stem
that those do not give back as it stands is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ehrkg.benchmark.distractors.pools import settings_of
from ehrkg.benchmark.facts.giveaways import Answer, context_rules
from ehrkg.benchmark.facts.names import phrase
from ehrkg.benchmark.questions.stems import n_phrasings
from ehrkg.benchmark.templates.context import Event, events_beside
from ehrkg.evaluation.perturbations.asked import NO_POOL, NOT_RESTATED, Asked, Outcome, Row
from ehrkg.foundation.hashing import hash64, order_by_hash
from ehrkg.propose.tasks import tasks

UNCHANGED = "stem_unchanged"
"""The reason where the change would show nowhere."""

ADDED = 2
"""Irrelevant events that are added at most: with the anchor they are half of the longest stem."""

LISTS = ("context", "context_routes")


class Phrasing:
    """Another of the task's phrasings."""

    name = "phrasing"
    says = "The next of the task's phrasings asks for the same."
    holds = "All phrasings of a task and format ask one question of one list of events."

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """See ``Perturbation.apply``."""
        return [self._other(row, asked) for row in rows]

    def template(self, row: Row, asked: Asked) -> Row:
        """See ``Perturbation.template``."""
        return row

    def _other(self, row: Row, asked: Asked) -> Outcome:
        number = (row["phrasing"] + 1) % n_phrasings(row["task"])
        return _with_stem(row, asked, phrasing=number)


class HistoryLength:
    """Earlier admissions told where none were, and none where some were."""

    name = "history_length"
    says = "The stem tells of earlier admissions where it told of none, and the other way about."
    holds = "A template keeps what may be told of them: nothing that gives the answer away."

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """See ``Perturbation.apply``."""
        most = int(context_rules()["history"]["visits"])
        return [_with_stem(row, asked, history=0 if row["history"] else most) for row in rows]

    def template(self, row: Row, asked: Asked) -> Row:
        """See ``Perturbation.template``."""
        return row


class _OtherEvents:
    """A change of a template's events, and so of the stems of all its questions alike."""

    name: str

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """See ``Perturbation.apply``."""
        return [self._outcome(row, asked) for row in rows]

    def template(self, row: Row, asked: Asked) -> Row:
        """See ``Perturbation.template``."""
        changed = self._changed(row, asked)
        return row if isinstance(changed, str) else changed

    def _outcome(self, row: Row, asked: Asked) -> Outcome:
        changed = self._changed(asked.templates[row["template_id"]], asked)
        if isinstance(changed, str):
            return changed
        return _with_stem(row, asked, template=changed)

    def _changed(self, template: Row, asked: Asked) -> Outcome:
        raise NotImplementedError


class ContextOrder(_OtherEvents):
    """The same events in another order."""

    name = "context_order"
    says = "The events of each kind stand in the reverse of their order."
    holds = "Their order is a hash and tells nothing."

    def _changed(self, template: Row, asked: Asked) -> Outcome:
        kinds = Counter(asked.cohort.codes[code].kind for code in template["context"])
        if max(kinds.values()) < 2:
            return "one_event_of_each_kind"
        return _with_events(template, range(len(template["context"]) - 1, -1, -1))


class FewerEvents(_OtherEvents):
    """One event less; never the one that the question rests on."""

    name = "fewer_events"
    says = "One event is left out of the stem, by hash, but never the problem asked about."
    holds = "The relation's own event stays, and so does the set of answers that are accepted."

    def _changed(self, template: Row, asked: Asked) -> Outcome:
        n = len(template["context"])
        if n <= int(context_rules()["size"]["least"]):
            return "fewest_already"
        true_before = asked.accepted.also_true(template)
        others = [str(at) for at in range(n) if at != template["anchor_position"]]
        for drawn in order_by_hash(others, asked.seed, self.name, template["id"]):
            left = _with_events(template, [at for at in range(n) if at != int(drawn)])
            if asked.accepted.also_true(left) == true_before:
                return left
        return "accepted_answers_would_change"


class IrrelevantEvents(_OtherEvents):
    """Up to two events more, of the same visit, that have nothing to do with any option."""

    name = "irrelevant_events"
    says = f"Up to {ADDED} events of the same visit are added that nothing joins to any option."
    holds = (
        "Neither graph nor statistics tie them, or kin of them, to the answer or an option at any "
        "strength, no rule on revealing codes bars them, and the accepted answers stay."
    )

    def __init__(self) -> None:
        self._made: dict[str, Outcome] = {}

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """See ``Perturbation.apply``; what the graph joins is asked for all rows at once."""
        if asked.pool is None:
            return [NO_POOL for _ in rows]
        ids = sorted({row["template_id"] for row in rows} - self._made.keys())
        fresh = [asked.templates[one] for one in ids]
        beside = [_beside(template, asked) for template in fresh]
        ties = _Ties(fresh, beside, asked)
        for template, events in zip(fresh, beside, strict=True):
            self._made[template["id"]] = self._longer(template, events, ties, asked)
        return super().apply(rows, asked)

    def _changed(self, template: Row, asked: Asked) -> Outcome:
        return self._made[template["id"]]

    def _longer(self, template: Row, events: Sequence[Event], ties: _Ties, asked: Asked) -> Outcome:
        drawn = {f"{event.code}\x1f{event.route}": event for event in events}
        order = order_by_hash(drawn, asked.seed, self.name, template["id"])
        longest, added, changed = int(context_rules()["size"]["most"]), 0, template
        for event in (drawn[key] for key in order):
            if added == ADDED or len(changed["context"]) == longest:
                break
            if self._fits(event, changed, asked) and not ties.holds(event, template):
                longer = _and_event(changed, event, asked)
                if asked.accepted.also_true(longer) == asked.accepted.also_true(template):
                    changed, added = longer, added + 1
        return changed if added else "no_irrelevant_event"

    @staticmethod
    def _fits(event: Event, template: Row, asked: Asked) -> bool:
        """Whether the rules on a stem's events let it stand beside those that are there."""
        cohort, codes = asked.cohort, template["context"]
        kinds = Counter(cohort.codes[code].kind for code in codes)
        kind = cohort.codes[event.code].kind
        said = {
            phrase(cohort.codes[code], route)
            for code, route in zip(codes, template["context_routes"], strict=True)
        }
        return (
            kinds[kind] < context_rules()["tasks"][template["task"]]["most"][kind]
            and not any(cohort.same_line(event.code, code) for code in codes)
            and phrase(cohort.codes[event.code], event.route) not in said
        )


def _beside(template: Row, asked: Asked) -> list[Event]:
    """Every event of a template's visit that may stand in its stem."""
    task = tasks()[template["task"]]
    answer = Answer(task.name, template["answer"][0], template["answer_route"], task.span)
    visit = asked.cohort.visits[template["visit"]]
    return events_beside(visit, answer, asked.giveaways, asked.cohort)


class _Ties:
    """What ties events to options: kinship, an edge at any strength, two that support, statistics.

    Args:
        templates: whose options are meant: all that stand in any of their questions.
        beside: events of each.
        asked: what they were made from.
    """

    def __init__(
        self, templates: Sequence[Row], beside: Sequence[Sequence[Event]], asked: Asked
    ) -> None:
        self._asked = asked
        self._options = {
            row["id"]: sorted({row["answer"][0], *asked.options_of.get(row["id"], ())})
            for row in templates
        }
        events = sorted({event.code for one in beside for event in one})
        options = sorted({code for codes in self._options.values() for code in codes})
        self._row = {code: at for at, code in enumerate(events)}
        self._column = {code: at for at, code in enumerate(options)}
        self._by_hospital = self._associated(templates, events)
        support = asked.support
        edges = support.joined(events, options, support.predicates())
        self._tied = {
            task: edges | support.chained(events, options, settings_of(task)["true_via"])
            for task in sorted({row["task"] for row in templates})
        }

    def holds(self, event: Event, template: Row) -> bool:
        """Whether an event is tied to the answer or an option of a template."""
        options = self._options[template["id"]]
        if not self._asked.cohort.related(event.code).isdisjoint(options):
            return True
        columns = [self._column[code] for code in options]
        if self._tied[template["task"]][self._row[event.code], columns].any():
            return True
        known = self._by_hospital[template["task"], self._asked.era(template)]
        return not known.get(event.code, frozenset()).isdisjoint(options)

    def _associated(
        self, templates: Sequence[Row], events: Sequence[str]
    ) -> dict[tuple[str, str], dict[str, frozenset[str]]]:
        """By task and ICD version: the codes of the pool that the hospital's visits tie to each."""
        found: dict[tuple[str, str], dict[str, frozenset[str]]] = {}
        for task, era in sorted({(row["task"], self._asked.era(row)) for row in templates}):
            group = self._asked.group(task, era, of_kin=False)
            grid = group.about.associated([{"context": [code]} for code in events])
            codes = np.array([row["code"] for row in group.pool.rows], dtype=object)
            found[task, era] = {
                code: frozenset(codes[tied].tolist())
                for code, tied in zip(events, grid, strict=True)
                if tied.any()
            }
        return found


def _and_event(template: Row, event: Event, asked: Asked) -> Row:
    """A template with one event more, at a place by hash."""
    n = len(template["context"])
    at = hash64(asked.seed, "irrelevant event", template["id"], event.code, event.route) % (n + 1)
    lists = {
        "context": [*template["context"][:at], event.code, *template["context"][at:]],
        "context_routes": [
            *template["context_routes"][:at],
            event.route,
            *template["context_routes"][at:],
        ],
    }
    anchor = template["anchor_position"] + (at <= template["anchor_position"])
    return template | lists | {"anchor_position": anchor, "n_context": n + 1}


def _with_events(template: Row, places: Sequence[int]) -> Row:
    """A template with some of its events, in some order."""
    lists = {name: [template[name][at] for at in places] for name in LISTS}
    anchor = list(places).index(template["anchor_position"])
    return template | lists | {"anchor_position": anchor, "n_context": len(places)}


def _with_stem(row: Row, asked: Asked, **changed: Any) -> Outcome:
    """A question with its stem written anew, with something changed; or why there is none."""
    stem = asked.restated(row, **changed)
    if stem is None:
        return NOT_RESTATED
    if stem == row["stem"]:
        return UNCHANGED
    columns = {name: changed[name] for name in ("phrasing", "history") if name in changed}
    return row | columns | {"stem": stem}
