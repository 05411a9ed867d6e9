"""Who can have a code at all: sexes and ages, by rule and by what the hospital shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ehrkg.benchmark.facts.codes import CodeFacts
from ehrkg.benchmark.facts.cohort import VisitFacts
from ehrkg.benchmark.rules import rule_table

OLDEST = 120
BOTH = "FM"


def settings() -> Mapping[str, Any]:
    """The rules of ``pools.yaml``."""
    return rule_table("pools")


@dataclass(frozen=True, slots=True)
class Possible:
    """Sexes ("F", "M" or "FM") and ages, both ends included, in which a code is possible.

    >>> Possible("F", 10, 60).meets("F", 30), Possible("F", 10, 60).meets("M", 30)
    (True, False)
    >>> Possible("F", 10, 60).meets("", 30)
    False
    """

    sexes: str = BOTH
    first: int = 0
    last: int = OLDEST

    def meets(self, sex: str, age: int | None) -> bool:
        """Whether a patient can have it; an unknown sex meets only what is possible in both."""
        fits_sex = sex in self.sexes if sex else self.sexes == BOTH
        return fits_sex and (age is None or self.first <= age <= self.last)

    def narrowed(self, other: Possible) -> Possible:
        """What both allow."""
        return Possible(
            "".join(sex for sex in BOTH if sex in self.sexes and sex in other.sexes),
            max(self.first, other.first),
            min(self.last, other.last),
        )


def by_rule(code: CodeFacts) -> Possible:
    """What the rules of ``pools.yaml`` say about a diagnosis or a drug."""
    found = Possible()
    if code.kind == "drug":
        for rule in settings()["possible_drugs"]:
            if set(code.ingredients) & set(rule["ingredients"]):
                found = found.narrowed(Possible(rule["sexes"]))
        return found
    category = code.id.partition(":")[2].partition(".")[0]
    for rule in settings()["possible"]:
        first, last = rule["categories"]
        if rule["system"] == code.system and first <= category <= last:
            found = found.narrowed(Possible(rule["sexes"], *rule["ages"]))
    return found


def as_observed(visits: Iterable[tuple[VisitFacts, str]]) -> Possible:
    """What the visits (each with the patient's sex) in which a code stands show about it."""
    bounds = settings()["observed"]
    seen = list(visits)
    people = {visit.patient for visit, _ in seen}
    sexes = {sex for _, sex in seen if sex}
    ages = [visit.age for visit, _ in seen if visit.age is not None]
    found = Possible()
    if len(people) >= bounds["patients_for_sex"] and len(sexes) == 1:
        found = found.narrowed(Possible(next(iter(sexes))))
    if ages:
        around = bounds["years_around"] + bounds["years_for_one"] // len(people)
        found = found.narrowed(
            Possible(BOTH, max(0, min(ages) - around), min(OLDEST, max(ages) + around))
        )
    return found
