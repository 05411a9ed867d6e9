"""What an open answer may name: the answer, what means it, and whatever else is true there."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import pyarrow.compute as pc

from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.propose.tasks import tasks
from ehrkg.verify.schema import Verified


class Accepted:
    """Codes and concepts by which a grader accepts an open answer.

    Args:
        cohort: facts about codes and visits.
        verified: the supported relations say what else of the visit answers the question.
    """

    def __init__(self, cohort: Cohort, verified: Verified) -> None:
        self._cohort = cohort
        self._linked: dict[str, dict[str, set[tuple[str, str]]]] = {name: {} for name in tasks()}
        relations = verified.relations.filter(pc.equal(verified.relations["verdict"], "supported"))
        rows = zip(
            *(relations[name].to_pylist() for name in ("head", "route", "predicate", "tail")),
            strict=True,
        )
        ends = {
            name: {(one.predicate, one.answer) for one in task.relations}
            for name, task in tasks().items()
        }
        for head, route, predicate, tail in rows:
            for task, held in self._linked.items():
                if (predicate, "head") in ends[task]:
                    held.setdefault(tail, set()).add((head, route))
                if (predicate, "tail") in ends[task]:
                    held.setdefault(head, set()).add((tail, ""))
        self._meanings: dict[str, frozenset[str]] = {}

    def of(self, template: Mapping[str, Any]) -> list[str]:
        """Codes and concepts, sorted.

        The answer with its concepts, equivalents in the other ICD version, descendants and (for a
        drug) other strings of it; and the same for everything else recorded at the answer's visit
        that a supported relation of the task joins to the context, or to the one problem that the
        stem asks about.
        """
        context = template["context"]
        sole = template["sole_indication"]
        asked = {context[template["anchor_position"]]} if sole else set(context)
        found = set(self._meaning(template["answer"][0]))
        for code in self._linked_to(asked, template):
            found |= self._meaning(code)
        return sorted(found)

    def also_true(self, template: Mapping[str, Any]) -> set[str]:
        """Codes recorded where the answer is, not in the stem, and linked to it as the answer is.

        Linked by a supported relation of the task to some event of the context.
        """
        return self._linked_to(set(template["context"]), template)

    def _linked_to(self, given: Set[str], template: Mapping[str, Any]) -> set[str]:
        """What is recorded where the answer is, not in the stem, and linked to some of these."""
        visit = self._cohort.visits[template["target_visit"]]
        recorded = (
            {(order.code, order.route) for order in visit.orders if order.lasting}
            if tasks()[template["task"]].asks_for_drugs
            else {(code, "") for code in visit.diagnoses}
        )
        linked = self._linked[template["task"]]
        found: set[str] = set()
        for code in given:
            found |= {answer for answer, _ in linked.get(code, set()) & recorded}
        return found - set(template["context"])

    def _meaning(self, code: str) -> frozenset[str]:
        if code not in self._meanings:
            facts = self._cohort.codes[code]
            below = self._cohort.hierarchy.below
            found = {code, *facts.concepts, *facts.equivalents, *below(code)}
            if facts.kind == "drug":
                found |= {
                    other
                    for other in self._cohort.related(code)
                    if self._cohort.codes[other].entity == facts.entity
                }
            else:
                found |= below(facts.entity)
            self._meanings[code] = frozenset(found)
        return self._meanings[code]
