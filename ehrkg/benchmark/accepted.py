"""What an open answer may name: the answer, what means it, and whatever else is true there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow.compute as pc

from ehrkg.benchmark.cohort import Cohort
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
        relations = verified.relations.filter(pc.equal(verified.relations["verdict"], "supported"))
        self._supported = set(
            zip(
                *(relations[name].to_pylist() for name in ("head", "route", "predicate", "tail")),
                strict=True,
            )
        )

    def of(self, template: Mapping[str, Any]) -> list[str]:
        """Codes and concepts, sorted.

        The answer with its concepts, equivalents in the other ICD version, descendants and (for a
        drug) other strings of it; and the same for everything else recorded at the answer's visit
        that a supported relation of the task joins to the context.
        """
        found: set[str] = set()
        for code in (template["answer"][0], *self._also_true(template)):
            found |= self._meaning(code)
        return sorted(found)

    def _also_true(self, template: Mapping[str, Any]) -> Iterable[str]:
        visit = self._cohort.visits[template["target_visit"]]
        context = set(template["context"])
        treatment = template["task"] == "treatment"
        recorded = (
            [(order.code, order.route) for order in visit.orders if order.lasting]
            if treatment
            else [(code, "") for code in visit.diagnoses]
        )
        for code, route in recorded:
            if code not in context and self._answers(template["task"], code, route, context):
                yield code

    def _answers(self, task: str, code: str, route: str, context: set[str]) -> bool:
        return any(
            ((code, route, relation.predicate, other) in self._supported)
            if relation.answer == "head"
            else ((other, "", relation.predicate, code) in self._supported)
            for relation in tasks()[task].relations
            for other in context
        )

    def _meaning(self, code: str) -> set[str]:
        facts = self._cohort.codes[code]
        below = self._cohort.hierarchy.below
        found = {code, *facts.concepts, *facts.equivalents, *below(code)}
        if facts.kind == "drug":
            return found | {
                other
                for other in self._cohort.related(code)
                if self._cohort.codes[other].entity == facts.entity
            }
        return found | below(facts.entity)
