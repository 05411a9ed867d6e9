"""Every rule by which templates and distractors were chosen, applied again to the finished tables.

The rules are the ones of ``answer_rules``, ``context`` and ``exclusions``; here they judge what
stands in the files. A rule that nothing breaks is told of too: it was measured.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.distractors.draws import PIECE, SHARED, group_rows, slice_of
from ehrkg.benchmark.distractors.exclusions import NOT_IN_POOL, Questions, Screen, SiblingScreen
from ehrkg.benchmark.distractors.pools import entity_of
from ehrkg.benchmark.distractors.right_ones import asked_of
from ehrkg.benchmark.distractors.shortlists import TOO_FAR, Ints
from ehrkg.benchmark.distractors.strategies import STRATEGIES
from ehrkg.benchmark.distractors.surroundings import Surroundings
from ehrkg.benchmark.distractors.wrong_options import Options, Wrong, options_by_template, ruled_out
from ehrkg.benchmark.facts.cohort import Cohort, VisitFacts
from ehrkg.benchmark.facts.support import Support
from ehrkg.benchmark.templates.answer_rules import (
    SUPPORTED,
    Claim,
    Ground,
    Occurrence,
    claim_rules,
    occurrence_rules,
)
from ehrkg.benchmark.templates.caps import CapKeys, Caps, most_of_an_answer
from ehrkg.benchmark.templates.context import given_context_breaks, related_codes
from ehrkg.benchmark.templates.places import claim_of
from ehrkg.foundation.workers import in_order, workers_for
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose.tasks import TaskRelation, tasks
from ehrkg.verify.schema import Verified

Found = tuple[str, str, int, list[str]]
"""A rule's name, what it says, how many were looked at, and the ids of those that break it."""


@dataclass(frozen=True)
class Facts:
    """What a benchmark was made from.

    Attributes:
        cohort: facts about codes and visits.
        knowledge: its edges.
        verified: the relations with their verdicts.
    """

    cohort: Cohort
    knowledge: Knowledge
    verified: Verified


def templates_again(templates: pa.Table, facts: Facts) -> Iterator[Found]:
    """The rules on answers and on context, for every template.

    Args:
        templates: TEMPLATES.
        facts: what they were made from.

    Returns:
        One finding a rule, in the order of the rules; ids are of templates.
    """
    ground = Ground(facts.cohort, facts.knowledge, facts.verified, frozenset())
    relations = {row["id"]: row for row in _named(templates, facts.verified)}
    counted = Caps(facts.cohort)

    def judged(start: int) -> _Judged:
        found = _Judged()
        for row in templates.slice(start, PIECE).to_pylist():
            _judge_template(row, relations.get(row["relation"]), ground, counted, found)
        return found

    says: dict[str, str] = {
        "relation_supported": "The relation of every template is supported.",
        "context_drawn_by_the_rules": "No event of a stem gives its answer away.",
        "capped": "No hub code, patient or pair of codes has more templates than its cap.",
        "sole_indication": "A problem is named as a drug's reason only where it is the sole one.",
        "flags_told": "Every template carries its flags, such as newly_recorded.",
        "context_recorded": "Every event of a stem is recorded at its visit, a drug by its route.",
        "n_related_counted": "Its n_related events of a stem are related to the answer.",
        "answer_share": "No answer holds more than its share of a task's templates.",
    }
    broken: dict[str, list[str]] = defaultdict(list)
    caps = {name: Caps(facts.cohort) for name in tasks()}
    starts = range(0, templates.num_rows, PIECE)
    for found in in_order(judged, starts, workers=workers_for(len(starts), least=SHARED)):
        for name, text in found.says.items():
            says.setdefault(name, text)
        for name, ids in found.broken.items():
            broken[name] += ids
        for template, task, keys in found.keys:
            if caps[task].full(keys):
                broken["capped"].append(template)
            caps[task].take(keys)
    broken["answer_share"] = _beyond_share(templates, facts.cohort)
    for name, text in says.items():
        yield f"template: {name}", text, templates.num_rows, broken[name]


def _beyond_share(templates: pa.Table, cohort: Cohort) -> list[str]:
    """Templates whose answer is that of more than its share of the task's."""
    names = ("id", "task", "answer", "answer_route")
    rows = zip(*(templates[name].to_pylist() for name in names), strict=True)
    held: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for template, task, answer, route in rows:
        held[task][cohort.entity(answer[0], route)].append(template)
    most = {
        task: most_of_an_answer([len(ids) for ids in answers.values()])
        for task, answers in held.items()
    }
    return [
        template
        for task, answers in held.items()
        for ids in answers.values()
        if len(ids) > most[task]
        for template in ids
    ]


@dataclass
class _Judged:
    """What was found of a piece of the templates: what rules say, who breaks them, caps' keys."""

    says: dict[str, str] = field(default_factory=dict)
    broken: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    keys: list[tuple[str, str, CapKeys]] = field(default_factory=list)


def _judge_template(
    row: Mapping[str, Any],
    relation: Mapping[str, Any] | None,
    ground: Ground,
    caps: Caps,
    found: _Judged,
) -> None:
    occurrence = _occurrence(row, relation, ground.cohort) if relation else None
    if occurrence is None or relation is None or relation["verdict"] != SUPPORTED:
        found.broken["relation_supported"].append(row["id"])
        return
    claim = occurrence.claim
    for name, breaks in claim_rules(claim.task):
        found.says.setdefault(name, _first_line(breaks))
        if breaks(claim, ground):
            found.broken[name].append(row["id"])
    for name, breaks_here in occurrence_rules(claim.task):
        found.says.setdefault(name, _first_line(breaks_here))
        if breaks_here(occurrence, ground):
            found.broken[name].append(row["id"])
    if not ground.all_flags(occurrence) <= set(row["flags"]):
        found.broken["flags_told"].append(row["id"])
    if row["sole_indication"] and not ground.sole_indication(occurrence):
        found.broken["sole_indication"].append(row["id"])
    if given_context_breaks(row["context"], claim, ground):
        found.broken["context_drawn_by_the_rules"].append(row["id"])
    if not _recorded(row) <= _events(occurrence.visit):
        found.broken["context_recorded"].append(row["id"])
    if row["n_related"] != related_codes(row["context"], claim.answer, ground):
        found.broken["n_related_counted"].append(row["id"])
    found.keys.append((row["id"], row["task"], caps.keys(occurrence)))


def _recorded(row: Mapping[str, Any]) -> set[tuple[str, str]]:
    """What a template says was recorded: codes, each with its route."""
    return set(zip(row["context"], row["context_routes"], strict=True))


def _events(visit: VisitFacts) -> set[tuple[str, str]]:
    """What was recorded at a visit: codes, each with its route if that is told."""
    said = {(code, "") for code in (*visit.diagnoses, *visit.procedures)}
    return said | {(order.code, order.route if order.lasting else "") for order in visit.orders}


def _first_line(rule: Any) -> str:
    """What a rule keeps out, as its own text says."""
    said = (
        rule.__doc__ or "The anchor is kept out of the stem, for the reason named."
    ).splitlines()
    return f"Of none it holds that: {said[0]}"


def _named(templates: pa.Table, verified: Verified) -> list[dict[str, Any]]:
    wanted = pc.is_in(verified.relations["id"], value_set=templates["relation"].unique())
    rows: list[dict[str, Any]] = verified.relations.filter(wanted).to_pylist()
    return rows


def _occurrence(
    row: Mapping[str, Any], relation: Mapping[str, Any], cohort: Cohort
) -> Occurrence | None:
    """The occurrence that a template was made of; none if it fits no task or visit."""
    task = tasks().get(row["task"])
    visit, target = cohort.visits.get(row["visit"]), cohort.visits.get(row["target_visit"])
    known = {relation["head"], relation["tail"], *row["context"]} <= cohort.codes.keys()
    if task is None or visit is None or target is None or not known:
        return None
    claim = next(_claims(row, relation, cohort), None)
    if claim is None:
        return None
    asked = (claim.answer, claim.route)
    order = next((one for one in visit.orders if (one.code, one.route) == asked), None)
    return Occurrence(claim, visit, target, order)


def _claims(row: Mapping[str, Any], relation: Mapping[str, Any], cohort: Cohort) -> Iterator[Claim]:
    anchor = row["context"][row["anchor_position"]]
    for spec in tasks()[row["task"]].relations:
        claim = _claim(row, spec, relation, cohort)
        if claim.answer == row["answer"][0] and claim.anchor == anchor:
            yield claim


def _claim(
    row: Mapping[str, Any], spec: TaskRelation, relation: Mapping[str, Any], cohort: Cohort
) -> Claim:
    return claim_of(tasks()[row["task"]], spec, relation, cohort.codes)


def distractors_again(
    items: pa.Table, templates: pa.Table, pool: pa.Table, facts: Facts
) -> Iterator[Found]:
    """The rules on candidates, for every distractor of every question with options.

    Args:
        items: ITEMS.
        templates: TEMPLATES, sorted by id.
        pool: POOL.
        facts: what they were made from.

    Returns:
        One finding a rule; ids are of questions.
    """
    support = Support(facts.cohort, facts.knowledge, facts.verified)
    broken: dict[str, list[str]] = defaultdict(list)
    looked: Counter[str] = Counter()
    by_template = options_by_template(items)
    for (task, era), at in group_rows(templates, facts.cohort).items():
        for of_kin in (False, True):
            mine = by_template[of_kin]
            if not mine:
                continue
            members = slice_of(pool, task, era, facts.cohort, of_kin=of_kin)
            screen = (SiblingScreen if of_kin else Screen)(task, members, facts.cohort, support)
            about = Surroundings(task, era, members, facts.cohort, support, facts.verified)
            ids = templates["id"].take(pa.array(at)).to_pylist()
            asked = at[np.array([one in mine for one in ids], dtype=bool)]
            judged = partial(_Judge(screen, about, facts.cohort).piece, templates, asked, mine)
            starts = range(0, len(asked), PIECE)
            workers = workers_for(len(starts), least=SHARED)
            if workers > 1:
                about.share()
            for ids_by_rule, n in in_order(judged, starts, workers=workers):
                looked.update(n)
                for reason, found in ids_by_rule.items():
                    broken[reason] += found
    for reason in looked:
        text = (
            STRATEGIES[reason].promise
            if reason in STRATEGIES
            else f"No distractor is ruled out as {reason.replace('_', ' ')}."
        )
        yield f"distractor: {reason}", text, looked[reason], sorted(set(broken[reason]))


class _Judge:
    """Judges the distractors of the templates of one task and ICD version.

    Args:
        screen: who may not stand beside an answer. about: what strategies choose by.
        cohort: names the answers' entities.
    """

    def __init__(self, screen: Screen, about: Surroundings, cohort: Cohort) -> None:
        self._screen, self._about, self._cohort = screen, about, cohort
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, row in enumerate(screen.pool.rows):
            self._places[row["code"]].append(place)
        self._routes = sorted({row["route"] for row in screen.pool.rows})

    def piece(
        self, templates: pa.Table, asked: Ints, options: Options, start: int
    ) -> tuple[dict[str, list[str]], Counter[str]]:
        """``broken`` of one piece of the templates at some positions."""
        at = pa.array(asked[start : start + PIECE])
        return self.broken(templates.take(at).to_pylist(), options)

    def broken(
        self, rows: Sequence[Mapping[str, Any]], options: Options
    ) -> tuple[dict[str, list[str]], Counter[str]]:
        """Which rules the distractors of some templates break, and how many questions each judged.

        A drug's code may stand in the pool by several routes: one that fits is enough. So a code
        breaks a rule where that rules out all of its places.
        """
        screen, task = self._screen, self._screen.task
        ordered = [
            row
            for row in sorted(rows, key=lambda row: str(row["id"]))
            if entity_of(task, row["answer"][0], row["answer_route"], self._cohort)
            in screen.pool.at
        ]
        found: dict[str, list[str]] = {}
        looked: Counter[str] = Counter()
        if not ordered:
            return found, looked
        asked = [
            Wrong(one.item, [(at, place) for place in self._places[code]])
            for at, row in enumerate(ordered)
            for one in options[row["id"]]
            for code in one.wrong
        ]
        questions = Counter(one.strategy for row in ordered for one in options[row["id"]])
        for reason, grid in screen.reasons(ordered):
            looked[reason] += questions.total()
            found[reason] = ruled_out(asked, grid)
        found[NOT_IN_POOL] += [one.item for one in asked if not one.cells]
        for name, n in questions.items():
            looked[name] += n
            rows_too, wrong = self._promised(name, ordered, options)
            everybody = np.ones((len(rows_too), len(screen.pool.rows)), dtype=bool)
            aside = Questions(rows_too, screen.pool, screen.answers(rows_too), everybody, {})
            out = STRATEGIES[name].steps(aside, self._about) == TOO_FAR
            found[name] = ruled_out(wrong, out)
        return found, looked

    def _promised(
        self, strategy: str, ordered: Sequence[Mapping[str, Any]], options: Options
    ) -> tuple[list[Mapping[str, Any]], list[Wrong]]:
        """The wrong options of a strategy, each beside what is right: near to one is enough.

        Returns:
            The templates, and after them these as if they asked for what else is right; and the
            wrong options, with their places in both.
        """
        pool, task = self._screen.pool, self._screen.task
        rows, wrong = list(ordered), list[Wrong]()
        for at, row in enumerate(ordered):
            for one in options[row["id"]]:
                if one.strategy != strategy:
                    continue
                here = [at]
                for option in itertools.product(one.right, self._routes):
                    if (
                        option[0] != row["answer"][0]
                        and entity_of(task, *option, self._cohort) in pool.at
                    ):
                        here.append(len(rows))
                        rows.append(asked_of(row, option))
                wrong += [
                    Wrong(one.item, list(itertools.product(here, self._places[code])))
                    for code in one.wrong
                ]
        return rows, wrong
