"""Every rule by which templates and distractors were chosen, applied again to the finished tables.

The rules are the ones of ``answer_rules``, ``context`` and ``exclusions``; here they judge what
stands in the files. A rule that nothing breaks is told of too: it was measured.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.answer_rules import (
    SUPPORTED,
    Claim,
    Ground,
    Occurrence,
    claim_rules,
    occurrence_rules,
)
from ehrkg.benchmark.caps import CapKeys, Caps
from ehrkg.benchmark.cohort import Cohort
from ehrkg.benchmark.context import given_context_breaks
from ehrkg.benchmark.draws import SHARED, group_rows, slice_of
from ehrkg.benchmark.exclusions import NOT_IN_POOL, Screen, SiblingScreen
from ehrkg.benchmark.places import claim_of
from ehrkg.benchmark.pools import entity_of
from ehrkg.benchmark.support import Support
from ehrkg.foundation.workers import in_order, workers_for
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose.tasks import TaskRelation, tasks
from ehrkg.verify.schema import Verified

PIECE = 8192
SIBLING = "sibling"

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
    for name, text in says.items():
        yield f"template: {name}", text, templates.num_rows, broken[name]


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
    if given_context_breaks(row["context"], claim, ground):
        found.broken["context_drawn_by_the_rules"].append(row["id"])
    found.keys.append((row["id"], row["task"], caps.keys(occurrence)))


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
    by_template = _options_by_template(items)
    for (task, era), at in group_rows(templates, facts.cohort).items():
        for of_kin in (False, True):
            mine = by_template[of_kin]
            if not mine:
                continue
            members = slice_of(pool, task, era, facts.cohort, of_kin=of_kin)
            screen = (SiblingScreen if of_kin else Screen)(task, members, facts.cohort, support)
            ids = templates["id"].take(pa.array(at)).to_pylist()
            asked = at[np.array([one in mine for one in ids], dtype=bool)]

            def judged(
                start: int, asked: Any = asked, mine: Options = mine, screen: Screen = screen
            ) -> tuple[dict[str, list[str]], Counter[str]]:
                rows = templates.take(pa.array(asked[start : start + PIECE])).to_pylist()
                return _judge(screen, rows, mine, facts.cohort)

            starts = range(0, len(asked), PIECE)
            for ids_by_rule, n in in_order(
                judged, starts, workers=workers_for(len(starts), least=SHARED)
            ):
                looked.update(n)
                for reason, found in ids_by_rule.items():
                    broken[reason] += found
    for reason in looked:
        text = f"No distractor is ruled out as {reason.replace('_', ' ')}."
        yield f"distractor: {reason}", text, looked[reason], sorted(set(broken[reason]))


Options = dict[str, list[tuple[str, list[str]]]]


def _options_by_template(items: pa.Table) -> dict[bool, Options]:
    """Question and wrong options of every template; those of strategy ``sibling`` apart."""
    found: dict[bool, Options] = {False: defaultdict(list), True: defaultdict(list)}
    names = ["item_id", "template_id", "strategy", "option_codes", "distractor_reasons", "format"]
    for batch in items.select(names).to_batches(max_chunksize=PIECE):
        for row in batch.to_pylist():
            wrong = [
                code
                for code, why in zip(row["option_codes"], row["distractor_reasons"], strict=True)
                if why not in ("answer", "")
            ]
            if row["format"] == "yesno" and row["distractor_reasons"][:1] == ["answer"]:
                wrong = []
            if wrong:
                kin = row["strategy"] == SIBLING
                found[kin][row["template_id"]].append((row["item_id"], wrong))
    return found


def _judge(
    screen: Screen, rows: Sequence[Mapping[str, Any]], options: Options, cohort: Cohort
) -> tuple[dict[str, list[str]], Counter[str]]:
    """Which rules the distractors of some templates break, and how many questions each judged.

    A drug's code may stand in the pool by several routes: one that fits is enough. So a pair of
    question and code breaks a rule where the grid rules out every place of the code.
    """
    positions: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(screen.pool.rows):
        positions[row["code"]].append(place)
    ordered = [
        row
        for row in sorted(rows, key=lambda row: str(row["id"]))
        if entity_of(screen.task, row["answer"][0], row["answer_route"], cohort) in screen.pool.at
    ]
    broken: dict[str, list[str]] = {}
    looked: Counter[str] = Counter()
    if not ordered:
        return broken, looked
    asked = [
        (at, item, positions[code])
        for at, row in enumerate(ordered)
        for item, wrong in options[row["id"]]
        for code in wrong
    ]
    questions = sum(len(options[row["id"]]) for row in ordered)
    lengths = np.array([len(places) for _, _, places in asked], dtype=np.int64)
    there, strangers = np.flatnonzero(lengths > 0), np.flatnonzero(lengths == 0)
    flat = np.array([place for _, _, places in asked for place in places], dtype=np.int64)
    row_of = np.repeat(np.array([at for at, _, _ in asked], dtype=np.int64), lengths)
    ends = (np.cumsum(lengths) - lengths)[there]
    for reason, grid in screen.reasons(ordered):
        looked[reason] += questions
        out = np.asarray(grid)[row_of, flat]
        ruled_out = there[np.logical_and.reduceat(out, ends)] if len(ends) else there
        wrong = [*ruled_out.tolist(), *(strangers.tolist() if reason == NOT_IN_POOL else ())]
        broken[reason] = [asked[at][1] for at in wrong]
    return broken, looked
