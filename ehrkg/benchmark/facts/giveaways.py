"""What gives an answer away: kinship, code families, names, statistics, coding instructions.

Each question here is about one context code and one answer, and is answered once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ehrkg.benchmark.facts.code_classes import REMEMBERED, code_class, in_ranges, rule_data
from ehrkg.benchmark.facts.codes import CodeFacts
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.names import display, drug_name, general_words, says_something, words
from ehrkg.benchmark.rules import rule_rows, rule_table

NEXT = "next"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as the rules see it: its code, its route if it is a drug, where it stands."""

    task: str
    code: str
    route: str
    span: str


def context_rules() -> Mapping[str, Any]:
    """The rules of context.yaml."""
    return rule_table("context")


def families() -> Sequence[Mapping[str, Any]]:
    """The rows of revealing.yaml."""
    return rule_rows("revealing")


class Giveaways:
    """Decides whether a code may stand in a stem beside an answer, and says why not.

    Args:
        cohort: the facts about codes and visits.
    """

    def __init__(self, cohort: Cohort) -> None:
        self._cohort = cohort
        self._known: dict[tuple[str, Answer], str] = {}
        self._after: dict[str, frozenset[int]] = {}
        self._bars = (
            ("not_context", self._not_context),
            ("related_to_answer", self._related),
            ("revealing_family", self._family),
            ("drug_of_few", self._drug_of_few),
            ("names_answer", self._names),
            ("coding_rule", self._bound),
            ("gives_away", self._statistic),
        )

    def reason(self, code: str, answer: Answer) -> str:
        """The first reason why the code may not be context of the answer, "" if it may."""
        key = (code, answer)
        if key not in self._known:
            context, facts = self._cohort.codes[code], self._cohort.codes[answer.code]
            self._known[key] = next(
                (name for name, bars in self._bars if bars(context, facts, answer)), ""
            )
        return self._known[key]

    def _not_context(self, context: CodeFacts, _: CodeFacts, answer: Answer) -> bool:
        """The table by task does not list the code's class, or its name says nothing.

        A drug string without a known ingredient is as often a device, a paste or a contrast agent.
        """
        table = context_rules()["tasks"][answer.task]
        if context.kind == "diagnosis" and code_class(context) not in table["classes"]:
            return True
        if context.kind == "drug" and (
            context.drug_kind not in table["drug_kinds"] or not context.ingredients
        ):
            return True
        return is_unreadable(context) or not says_something(context)

    def _related(self, context: CodeFacts, facts: CodeFacts, _: Answer) -> bool:
        """Same concept, ancestor, descendant, CCSR sibling; a drug of the answer's ATC class."""
        if context.id in self._cohort.related(facts.id):
            return True
        return context.kind == facts.kind == "drug" and not context.atc4.isdisjoint(facts.atc4)

    def _family(self, context: CodeFacts, facts: CodeFacts, answer: Answer) -> bool:
        rows = families_of(context, answer.task)
        return bool(rows) and not rows.isdisjoint(families_named(facts))

    def _drug_of_few(self, context: CodeFacts, facts: CodeFacts, _: Answer) -> bool:
        """A drug for a handful of conditions, the answer or kin of it among them."""
        if context.kind != "drug" or facts.kind != "diagnosis":
            return False
        if self._cohort.indicated(context.id).isdisjoint(self._cohort.related(facts.id)):
            return False
        return self._cohort.n_conditions(context.id) <= int(
            rule_data()["thresholds"]["drug_of_few"]
        )

    def _names(self, context: CodeFacts, facts: CodeFacts, _: Answer) -> bool:
        """One name holds the allowed share of the answer's words or more, general ones aside."""
        asked = words(drug_name(facts) if facts.kind == "drug" else display(facts))
        if not asked:
            return False
        said = words(context.name) | words(display(context))
        share = len((asked & said) - general_words()) / len(asked)
        return asked <= said or share >= float(rule_data()["thresholds"]["revealed_share"])

    def _bound(self, context: CodeFacts, facts: CodeFacts, _: Answer) -> bool:
        return self._cohort.bound(context.id, facts.id)

    def _statistic(self, context: CodeFacts, facts: CodeFacts, answer: Answer) -> bool:
        """P(answer | code) reaches the limit, over enough visits, at the CCSR group's level."""
        limits = rule_data()["thresholds"]
        with_answer = self._visits_with(facts)
        cohort = self._cohort
        for node in sorted(context.near):
            visits = cohort.visits_with_node.get(node, frozenset())
            if len(visits) < int(limits["given_away_visits"]):
                continue
            looked_in = self._visits_after(node) if answer.span == NEXT else visits
            if len(looked_in) < int(limits["given_away_visits"]):
                continue
            both = len(looked_in & with_answer)
            if both >= float(limits["given_away"]) * len(looked_in):
                return True
        return False

    def _visits_after(self, node: str) -> frozenset[int]:
        """The visits that follow one with this concept."""
        if node not in self._after:
            after = self._cohort.next_visit
            visits = self._cohort.visits_with_node.get(node, frozenset())
            self._after[node] = frozenset(after[at] for at in visits if at in after)
        return self._after[node]

    def _visits_with(self, facts: CodeFacts) -> frozenset[int]:
        """Visits that hold the answer: its CCSR groups, or a drug's ingredients, else its code."""
        cohort = self._cohort
        if facts.kind != "drug" and facts.ccsr:
            sets = [cohort.visits_with_ccsr.get(group, frozenset()) for group in facts.ccsr]
        else:
            sets = [cohort.visits_with_node.get(node, frozenset()) for node in facts.near]
        # most answers have one group: no copy is made of it
        return sets[0] if len(sets) == 1 else frozenset().union(*sets)


@lru_cache(maxsize=REMEMBERED)
def is_unreadable(facts: CodeFacts) -> bool:
    """Whether a code's displayed name says nothing to a reader of a stem."""
    name = display(facts)
    return any(re.search(pattern, name, re.IGNORECASE) for pattern in context_rules()["unreadable"])


@lru_cache(maxsize=REMEMBERED)
def families_of(context: CodeFacts, task: str) -> frozenset[int]:
    """Rows of revealing.yaml, by position, that keep a context code out of stems of a task."""
    return frozenset(
        at
        for at, row in enumerate(families())
        if task in row["tasks"] and _holds(row["context"], context)
    )


@lru_cache(maxsize=REMEMBERED)
def families_named(answer: CodeFacts) -> frozenset[int]:
    """Rows of revealing.yaml, by position, whose codes would name this answer."""
    return frozenset(
        at
        for at, row in enumerate(families())
        if "answer" not in row or _holds(row["answer"], answer)
    )


def _holds(wanted: Mapping[str, Any], facts: CodeFacts) -> bool:
    """Whether a code fits one of the ways in which a row of revealing.yaml names codes."""
    if in_ranges(facts.id, wanted):
        return True
    if wanted.get("kind") == facts.kind:
        return True
    if "name" in wanted and re.search(wanted["name"], facts.name, re.IGNORECASE):
        return True
    return any(
        node.startswith(f"ATC:{beginning}")
        for beginning in wanted.get("atc", ())
        for node in facts.atc4
    )
