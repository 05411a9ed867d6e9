"""Caps on hub codes, patients and near-duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ehrkg.benchmark.facts.code_classes import rule_data
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.templates.answer_rules import Occurrence

CapKeys = Mapping[str, tuple[str, ...]]
"""By cap: what a template is counted under."""


class Caps:
    """Counts templates by patient and by pair of entities, and says which cap is full."""

    def __init__(self, cohort: Cohort) -> None:
        self._cohort = cohort
        self._most: dict[str, int] = rule_data()["caps"]
        self._counts: Counter[tuple[str, ...]] = Counter()

    def keys(self, occurrence: Occurrence) -> CapKeys:
        """What a template is counted under, by cap."""
        claim = occurrence.claim
        pair = (
            claim.relation["predicate"],
            self._cohort.entity(claim.anchor),
            self._cohort.entity(claim.answer, claim.route),
        )
        patient = occurrence.visit.patient
        return {
            "patient": (patient,),
            "relation": pair,
            "patient_relation": (patient, *pair),
        }

    def full(self, keys: CapKeys) -> str:
        """The name of the first full cap, as the ledger counts it, or ""."""
        for name, key in keys.items():
            if self._counts[name, *key] >= self._most[name]:
                return f"{name}_cap"
        return ""

    def take(self, keys: CapKeys) -> None:
        """Count one more template."""
        for name, key in keys.items():
            self._counts[name, *key] += 1


def most_of_an_answer(counts: Iterable[int]) -> int:
    """How many of a task's templates one answer may have, by ``caps`` of answer_rules.yaml.

    Args:
        counts: how many each answer has.
    """
    caps = rule_data()["caps"]
    return max(int(caps["answer_least"]), most_of_share(counts, caps["answer_share"]))


def most_of_share(counts: Iterable[int], share: float) -> int:
    """The greatest cap under which none has more than a share of what the cap leaves.

    Capping makes the whole smaller, and the share of it with that; so the cap is lowered until it
    no longer moves. It is 0 where there are too few for any to have so small a share.

    Args:
        counts: how many each has.
        share: in (0, 1].

    >>> most_of_share([100, *[9] * 10], 0.1)  # 10 of 100; a tenth of all 190 were 19
    10
    >>> most_of_share([100, *[9] * 11], 0.1)
    11
    >>> most_of_share([5, 5], 0.1)
    0
    """
    held = list(counts)
    most = max(held, default=0)
    while most:
        # The millionth keeps a tenth of 30 from being 2.
        allowed = int(share * sum(min(count, most) for count in held) + 1e-6)
        if allowed >= most:
            break
        most = allowed
    return most
