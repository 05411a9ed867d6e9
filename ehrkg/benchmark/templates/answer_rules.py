"""The rules on answers, each a small function under the name that the ledger counts it by.

Rules on a claim look at a relation (anchor, answer, route) and hold wherever it stands; rules on
an occurrence look at one visit or pair of visits. Thresholds are in ``answer_rules.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ehrkg.benchmark.facts.code_classes import (
    is_answerable,
    is_care,
    is_residual,
    is_unaskable,
    rule_data,
    standing_kind,
    states_cause,
)
from ehrkg.benchmark.facts.cohort import Cohort, Order, VisitFacts
from ehrkg.benchmark.facts.giveaways import Answer, Giveaways
from ehrkg.benchmark.facts.intervals import ratio_lower_bound
from ehrkg.ehr.routes import APART
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose.tasks import ACROSS, Task
from ehrkg.verify.schema import Verified

Counts = npt.NDArray[np.int64]

_NOWHERE: frozenset[int] = frozenset()

SUPPORTED = "supported"
"""The only verdict under which a relation makes templates; others count as ``not_supported``."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A relation read as a question of one task: given the anchor, the answer.

    Attributes:
        task: the task. relation: the row of the relations table.
        anchor, answer: code ids. route: the answer's route class, "" for what is no drug.
        concept: the answer's concept in the relation. problem: the anchor's.
    """

    task: Task
    relation: Mapping[str, Any]
    anchor: str
    answer: str
    route: str
    concept: str
    problem: str

    def as_answer(self) -> Answer:
        """The answer as the rules on giveaways see it."""
        return Answer(self.task.name, self.answer, self.route, self.task.span)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A claim at a visit (context) and a target visit (answer); the same visit but for prognosis.

    Attributes:
        order: the order of the answer, if it is a drug.
        context: the codes that shall stand in the stem; ``None``: drawn by hash.
    """

    claim: Claim
    visit: VisitFacts
    target: VisitFacts
    order: Order | None
    context: tuple[str, ...] | None = None


class Ground:
    """What the rules stand on: cohort, giveaways, the routes that edges name, open flags.

    Args:
        cohort: facts about codes and visits.
        knowledge: for the routes that TREATS edges name.
        verified: relations, for what else is a drug's indication.
        allow: flags that do not keep a template out, of those off by default.
    """

    def __init__(
        self, cohort: Cohort, knowledge: Knowledge, verified: Verified, allow: frozenset[str]
    ) -> None:
        self.cohort = cohort
        self.giveaways = Giveaways(cohort)
        self.barred_flags = frozenset(rule_data()["off_by_default"]) - allow
        self.limits: Mapping[str, float] = rule_data()["thresholds"]
        self._routes = _routes_named(knowledge)
        self._specific: dict[tuple[str, str], float] = {}
        number = {patient: at for at, patient in enumerate(cohort.patients)}
        self._patient_of = np.array(
            [number[visit.patient] for visit in cohort.visits.values()], dtype=np.int64
        )
        self._n_visits = np.bincount(self._patient_of, minlength=len(number))
        self.supported_pairs, self.treated = _supported(verified, cohort)

    def route_named(self, claim: Claim) -> bool:
        """Whether a TREATS edge between the claim's concepts or their classes names the route."""
        drug, problem = (self.cohort.codes[code].up for code in (claim.answer, claim.anchor))
        return any(
            claim.route in routes
            for (subject, target), routes in self._routes.items()
            if subject in drug and target in problem
        )

    def specificity(self, claim: Claim) -> float:
        """Lower 95 % bound of P(drug | problem) / P(drug | no problem), by entity and concept.

        Visits of one patient are alike, so each patient counts once among those with the problem
        and once among those without it, with the share of such visits that have the drug: the two
        proportions are those of a random visit of a random patient. Shares vary at most as much
        as a yes or no of the same mean does, so the bound errs downwards.
        """
        entity = self.cohort.entity(claim.answer, claim.route)
        problem = claim.problem or claim.anchor
        if (entity, problem) not in self._specific:
            drug = self.cohort.visits_with_lasting_drug.get(entity, _NOWHERE)
            sick = self.cohort.visits_with_node.get(problem, _NOWHERE)
            n_sick, n_both = self._by_patient(sick), self._by_patient(drug & sick)
            n_well, n_other = self._n_visits - n_sick, self._by_patient(drug - sick)
            self._specific[entity, problem] = round(
                ratio_lower_bound(*_counted_once(n_both, n_sick), *_counted_once(n_other, n_well)),
                4,
            )
        return self._specific[entity, problem]

    def _by_patient(self, visits: frozenset[int]) -> Counts:
        """How many of the visits each patient has."""
        at = np.fromiter(visits, np.int64, len(visits))
        return np.bincount(self._patient_of[at], minlength=len(self.cohort.patients))

    def flags(self, claim: Claim) -> frozenset[str]:
        """Flags that the claim carries wherever it stands.

        Excludes1 keeps codes apart and binds none; evidence that consists of it flags nothing.
        """
        instructed = claim.relation["n_coding_rule"] and not self.cohort.excluded(
            claim.anchor, claim.answer
        )
        bound = instructed or self.cohort.bound(claim.anchor, claim.answer)
        return frozenset({"coding_rule"}) if bound else frozenset()

    def all_flags(self, occurrence: Occurrence) -> frozenset[str]:
        """Flags of a template: those of its claim, and whether what is new may be an old disease.

        A chronic answer of a later visit (and one of which nobody knows) is ``newly_recorded``.
        """
        claim = occurrence.claim
        late = claim.task.span == ACROSS and self.cohort.codes[claim.answer].chronic is not False
        return self.flags(claim) | (frozenset({"newly_recorded"}) if late else frozenset())

    def sole_indication(self, occurrence: Occurrence) -> bool:
        """Whether the anchor is the only diagnosis of the visit that the graph lets the drug treat.

        Ancestors and descendants of the anchor are the anchor's own problem.
        """
        claim = occurrence.claim
        entity = self.cohort.entity(claim.answer, claim.route)
        indications = self.cohort.indicated(claim.answer) | self.treated.get(entity, frozenset())
        return all(
            self.cohort.same_line(code, claim.anchor)
            for code in occurrence.visit.diagnoses
            if code in indications
        )


def _counted_once(n: Counts, of: Counts) -> tuple[float, int]:
    """The shares n / of summed over the patients who have any, and how many these are."""
    there = of > 0
    return float((n[there] / of[there]).sum()), int(there.sum())


ClaimRule = Callable[[Claim, Ground], bool]
OccurrenceRule = Callable[[Occurrence, Ground], bool]


def _answer_not_near(claim: Claim, ground: Ground) -> bool:
    """The answer is linked to no concept at an exact or near level."""
    return not ground.cohort.codes[claim.answer].concepts


def _by_coding_rule(claim: Claim, ground: Ground) -> bool:
    """A coding instruction binds anchor and answer; off by default."""
    return bool(ground.flags(claim) & ground.barred_flags)


def _anchor_gives_away(reason: str) -> ClaimRule:
    """The anchor must be in the stem, and may not be, for this reason."""

    def rule(claim: Claim, ground: Ground) -> bool:
        return ground.giveaways.reason(claim.anchor, claim.as_answer()) == reason

    return rule


def _not_a_drug(claim: Claim, ground: Ground) -> bool:
    """What was ordered is a fluid, a nutrient, a vaccine, a device or unclear."""
    return ground.cohort.codes[claim.answer].drug_kind != "drug"


def _route_apart(claim: Claim, ground: Ground) -> bool:
    """Given so, it is not the systemic drug, and no edge says that it treats given so."""
    if claim.route in rule_data()["never_routes"]:
        return True
    return claim.route in APART and not ground.route_named(claim)


def _standing_order(claim: Claim, ground: Ground) -> bool:
    """Ordered in a fifth of all visits, or of a kind that is ordered for everybody."""
    cohort = ground.cohort
    share = cohort.standing_share(cohort.entity(claim.answer, claim.route))
    return share >= ground.limits["standing_share"] or bool(
        standing_kind(cohort.codes[claim.answer], claim.route)
    )


def _not_specific(claim: Claim, ground: Ground) -> bool:
    """Patients with the problem do not get the drug clearly more often than others."""
    return ground.specificity(claim) <= ground.limits["specificity"]


def _care_itself(claim: Claim, ground: Ground) -> bool:
    """The answer is a complication of a procedure or an adverse effect: care, not a disease."""
    return is_care(ground.cohort.codes[claim.answer])


def _residual(claim: Claim, ground: Ground) -> bool:
    """The answer is "other specified" or "not elsewhere classified"."""
    return is_residual(ground.cohort.codes[claim.answer])


def _name_cut(claim: Claim, ground: Ground) -> bool:
    """The answer has no name of at most sixty characters."""
    return is_unaskable(ground.cohort.codes[claim.answer])


def _not_a_disease(claim: Claim, ground: Ground) -> bool:
    """A symptom, status, history, screening, external-cause or administrative code."""
    return not is_answerable(ground.cohort.codes[claim.answer])


def _other_cause(claim: Claim, ground: Ground) -> bool:
    """The answer is a kind of the relation's effect that names a cause of its own.

    "Bleeding causes anemia" licenses anemia, not "anemia in chronic kidney disease".
    """
    facts = ground.cohort.codes[claim.answer]
    is_effect = claim.relation["tail"] == claim.answer
    return is_effect and claim.concept not in facts.exact and states_cause(facts)


def _not_main(occurrence: Occurrence, _: Ground) -> bool:
    """Ordered only as base or additive."""
    return occurrence.order is not None and not occurrence.order.main


def _within_the_hour(occurrence: Occurrence, _: Ground) -> bool:
    """Every order was stopped within the hour."""
    return occurrence.order is not None and not occurrence.order.lasting


def _same_episode(occurrence: Occurrence, ground: Ground) -> bool:
    """Readmitted in less than a day, or at an unknown distance."""
    gap = occurrence.target.gap_days
    return gap is None or gap < ground.limits["shortest_gap"]


def _too_late(occurrence: Occurrence, ground: Ground) -> bool:
    """Readmitted after more than a year."""
    gap = occurrence.target.gap_days
    return gap is not None and gap > ground.limits["longest_gap"]


def _not_new(occurrence: Occurrence, ground: Ground) -> bool:
    """The answer, or a relative of it, stands in an earlier visit, in either ICD version."""
    related = ground.cohort.related(occurrence.claim.answer)
    return any(
        not related.isdisjoint(visit.codes) for visit in earlier(occurrence.target, ground.cohort)
    )


def _chronic_too_soon(occurrence: Occurrence, ground: Ground) -> bool:
    """A chronic answer (or one not known to be acute) without enough earlier coded visits."""
    if ground.cohort.codes[occurrence.claim.answer].chronic is False:
        return False
    coded = [visit for visit in earlier(occurrence.target, ground.cohort) if visit.diagnoses]
    return len(coded) < ground.limits["visits_before_chronic"]


def earlier(visit: VisitFacts, cohort: Cohort) -> Sequence[VisitFacts]:
    """The same patient's visits before this one, in time order."""
    visits = cohort.patients[visit.patient].visits
    return [other for other in visits if other.ordinal < visit.ordinal]


_FIRST: tuple[tuple[str, ClaimRule], ...] = (
    ("answer_not_near", _answer_not_near),
    ("coding_rule", _by_coding_rule),
)
_ANCHOR: tuple[tuple[str, ClaimRule], ...] = tuple(
    (f"anchor_{reason}", _anchor_gives_away(reason))
    for reason in (
        "not_context",
        "related_to_answer",
        "revealing_family",
        "drug_of_few",
        "names_answer",
        "coding_rule",
        "gives_away",
    )
)
_OF_DRUGS: tuple[tuple[str, ClaimRule], ...] = (
    ("not_a_drug", _not_a_drug),
    ("route_apart", _route_apart),
    ("standing_order", _standing_order),
    ("not_specific", _not_specific),
    ("name_cut", _name_cut),
)
_OF_DISEASES: tuple[tuple[str, ClaimRule], ...] = (
    ("care_itself", _care_itself),
    ("residual", _residual),
    ("name_cut", _name_cut),
    ("not_a_disease", _not_a_disease),
    ("other_cause", _other_cause),
)
_ORDERS: tuple[tuple[str, OccurrenceRule], ...] = (
    ("not_main", _not_main),
    ("within_the_hour", _within_the_hour),
)
_NEXT: tuple[tuple[str, OccurrenceRule], ...] = (
    ("same_episode", _same_episode),
    ("too_late", _too_late),
    ("not_new", _not_new),
    ("chronic_too_soon", _chronic_too_soon),
)


def claim_rules(task: Task) -> tuple[tuple[str, ClaimRule], ...]:
    """The rules on a task's claims, in the order in which they are asked."""
    middle = _OF_DRUGS if task.answer_kind == "drug" else _OF_DISEASES
    return (*_FIRST, *middle, *_ANCHOR)


def occurrence_rules(task: Task) -> tuple[tuple[str, OccurrenceRule], ...]:
    """The rules on a task's occurrences, in the order in which they are asked."""
    return (
        *(_ORDERS if task.answer_kind == "drug" else ()),
        *(_NEXT if task.span == ACROSS else ()),
    )


def _routes_named(knowledge: Knowledge) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for row in knowledge.edges.select(
        ["predicate", "subject", "object", "negated", "route"]
    ).to_pylist():
        if row["predicate"] == "TREATS" and row["route"] and not row["negated"]:
            found.setdefault((row["subject"], row["object"]), set()).update(row["route"].split("|"))
    return found


def _supported(
    verified: Verified, cohort: Cohort
) -> tuple[frozenset[tuple[str, str]], dict[str, frozenset[str]]]:
    """Pairs of codes that a supported relation joins; diagnoses that a drug entity treats."""
    pairs: set[tuple[str, str]] = set()
    treated: dict[str, set[str]] = {}
    holds = pc.equal(verified.relations["verdict"], SUPPORTED)
    columns = verified.relations.filter(holds).select(["head", "route", "predicate", "tail"])
    for row in columns.to_pylist():
        pairs |= {(row["head"], row["tail"]), (row["tail"], row["head"])}
        if row["predicate"] in ("TREATS", "PREVENTS") and row["head"] in cohort.codes:
            entity = cohort.entity(row["head"], row["route"])
            treated.setdefault(entity, set()).add(row["tail"])
    return frozenset(pairs), {entity: frozenset(codes) for entity, codes in treated.items()}
