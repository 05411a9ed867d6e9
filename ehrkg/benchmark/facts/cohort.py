"""What the rules ask of a hospital and its knowledge, worked out once and then only looked up.

Codes are named by their ids, visits by their ids. Nothing here depends on the order of rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.codes import (
    CodeFacts,
    Hierarchy,
    code_facts,
    hierarchy_of,
    lines_of,
    related_codes,
)
from ehrkg.benchmark.facts.residual import rule_data
from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.garbage import uncollected
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.ontology.schema import Knowledge

INDICATING = ("TREATS", "PREVENTS")
"""The predicates by which the graph lets a drug be given for a diagnosis."""

INSTRUCTING = ("CODE_FIRST", "USE_ADDITIONAL_CODE", "CODE_ALSO")
"""The coding instructions that make two codes stand together."""

_NO_CODES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Order:
    """One drug by one route at one visit.

    Attributes:
        main: some row of it has drug_type MAIN (or the tables know no drug types).
        lasting: some MAIN row of it lasted longer than an hour, or has no stop.
        start: the earliest start of those, else of any.
        entity: the drug's ingredient concepts and the route class, "DRUGBANK:DB00695|oral".
    """

    code: str
    route: str
    entity: str
    main: bool
    lasting: bool
    start: datetime | None


@dataclass(frozen=True, slots=True)
class VisitFacts:
    """One visit, with its codes by kind (sorted) and its orders (by code, route)."""

    id: str
    patient: str
    ordinal: int
    kind: str
    age: int | None
    gap_days: int | None
    era: str
    diagnoses: tuple[str, ...]
    procedures: tuple[str, ...]
    orders: tuple[Order, ...]
    codes: frozenset[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PatientFacts:
    """One patient, visits in time order; ``codes`` are those of any visit."""

    id: str
    sex: str
    split: str
    visits: tuple[VisitFacts, ...]
    codes: frozenset[str] = field(repr=False)


class Cohort:
    """Facts about patients, visits and codes that templates, distractors and checks share.

    Args:
        hospital: what reading gave.
        knowledge: what knowing gave.
        mapping: what mapping gave.

    Attributes:
        codes: ``CodeFacts`` by code id.
        patients: ``PatientFacts`` by patient id.
        visits: ``VisitFacts`` by visit id.
        hierarchy: SUBCLASS_OF over concepts and code trees.
    """

    def __init__(self, hospital: Hospital, knowledge: Knowledge, mapping: CodeMapping) -> None:
        self.hierarchy: Hierarchy = hierarchy_of(knowledge)
        self.codes: dict[str, CodeFacts] = code_facts(hospital, knowledge, mapping, self.hierarchy)
        self._lines = lines_of(self.codes)
        self._related = related_codes(self.codes, self._lines)
        with uncollected():
            self.visits: dict[str, VisitFacts] = _visits(hospital, self.codes)
            self.patients: dict[str, PatientFacts] = _patients(hospital, self.visits)
        self._indications = _objects(knowledge, INDICATING)
        self._instructions = _objects(knowledge, INSTRUCTING)
        self._exclusions = _objects(knowledge, ("EXCLUDES1",))

    # What is related to what

    def related(self, code: str) -> frozenset[str]:
        """Codes that are the same, above, below, in a CCSR group of it, or equivalent; and itself.

        For a drug: the strings that share an ingredient with it.
        """
        return self._related.get(code, frozenset({code}))

    def line(self, code: str) -> frozenset[str]:
        """Codes that are the same, above or below, and the code itself; no CCSR siblings."""
        return self._lines.get(code, frozenset({code}))

    def same_line(self, one: str, other: str) -> bool:
        """Whether one of two codes is in the other's ``line``."""
        return other in self.line(one)

    def is_above(self, one: str, other: str) -> bool:
        """Whether the first of two codes is a proper ancestor of the second."""
        first, second = self.codes[one], self.codes[other]
        return not first.near.isdisjoint(second.up) and second.near.isdisjoint(first.up)

    def drug_entity(self, code: str, route: str) -> str:
        """The name under which drugs are the same: ingredient concepts and route class."""
        return f"{self.codes[code].entity}|{route}"

    def entity(self, code: str, route: str = "") -> str:
        """What counts as the same thing: see ``CodeFacts.entity``; drugs with their route."""
        return (
            self.drug_entity(code, route)
            if self.codes[code].kind == "drug"
            else (self.codes[code].entity)
        )

    # What the graph lets a drug treat

    def indicated(self, drug: str) -> frozenset[str]:
        """Diagnosis codes that the graph lets the drug treat or prevent, by its classes too.

        The object of an edge licenses its descendants, at any distance, and the routes of edges
        are not looked at: this is used to rule out, so it errs towards yes.
        """
        return self._indicated.get(drug, _NO_CODES)

    def n_conditions(self, drug: str) -> int:
        """How many conditions the graph lets a drug treat or prevent, kinds of one counted once."""
        up = self.codes[drug].up
        targets = {item for node in up for item in self._indications.get(node, ())}
        return sum(targets.isdisjoint(self.hierarchy.above(target)) for target in targets)

    @cached_property
    def _indicated(self) -> dict[str, frozenset[str]]:
        by_node: dict[str, set[str]] = defaultdict(set)
        for code in self.codes.values():
            if code.kind == "diagnosis":
                for node in code.up:
                    by_node[node].add(code.id)
        found = {}
        for code in self.codes.values():
            if code.kind == "drug":
                targets = {item for node in code.up for item in self._indications.get(node, ())}
                found[code.id] = frozenset(
                    diagnosis for node in targets for diagnosis in by_node.get(node, ())
                )
        return found

    # What the code systems say about two codes

    def bound(self, one: str, other: str) -> bool:
        """Whether a coding instruction (code first, use additional, code also) joins two codes.

        Instructions of an ancestor hold for its descendants, and through equivalents for ICD-9.
        """
        return self._joined(self._instructions, one, other)

    def excluded(self, one: str, other: str) -> bool:
        """Whether an Excludes1 note bars two codes from standing in one visit."""
        return self._joined(self._exclusions, one, other)

    def _joined(self, table: Mapping[str, frozenset[str]], one: str, other: str) -> bool:
        first, second = self.codes[one].up, self.codes[other].up
        return any(not table[node].isdisjoint(second) for node in first if node in table) or any(
            not table[node].isdisjoint(first) for node in second if node in table
        )

    # Which visits hold what: sets of positions in ``visit_ids``

    @cached_property
    def visit_ids(self) -> tuple[str, ...]:
        """Visits by patient and ordinal: the positions that the ``visits_with_*`` sets name."""
        return tuple(self.visits)

    @cached_property
    def next_visit(self) -> dict[int, int]:
        """Position of the same patient's next visit; the last visit is not a key."""
        ids = self.visit_ids
        return {
            at: at + 1
            for at in range(len(ids) - 1)
            if self.visits[ids[at]].patient == self.visits[ids[at + 1]].patient
        }

    @cached_property
    def visits_with_code(self) -> Mapping[str, frozenset[int]]:
        """Visits that hold a code, by code id."""
        return self._positions(lambda visit: visit.codes)

    @cached_property
    def visits_with_ccsr(self) -> Mapping[str, frozenset[int]]:
        """Visits that hold a diagnosis of a CCSR group, by group."""
        return self._positions(
            lambda visit: {group for code in visit.codes for group in self.codes[code].ccsr}
        )

    @cached_property
    def visits_with_node(self) -> Mapping[str, frozenset[int]]:
        """Visits that hold a code at or below a concept (or tree node), by its CURIE."""
        return self._positions(
            lambda visit: {node for code in visit.codes for node in self.codes[code].up}
        )

    @cached_property
    def visits_with_drug(self) -> Mapping[str, frozenset[int]]:
        """Visits with any order of a drug entity (ingredients and route), by entity."""
        return self._positions(lambda visit: {order.entity for order in visit.orders})

    @cached_property
    def visits_with_lasting_drug(self) -> Mapping[str, frozenset[int]]:
        """Visits with a usable order (MAIN, over an hour) of a drug entity, by entity."""
        return self._positions(
            lambda visit: {order.entity for order in visit.orders if order.lasting}
        )

    def standing_share(self, entity: str) -> float:
        """Share of all visits in which a drug entity was ordered, in [0, 1]."""
        return len(self.visits_with_drug.get(entity, ())) / max(1, len(self.visits))

    def _positions(self, of: Callable[[VisitFacts], Iterable[str]]) -> dict[str, frozenset[int]]:
        index: dict[str, set[int]] = defaultdict(set)
        for at, visit in enumerate(self.visits.values()):
            for key in of(visit):
                index[key].add(at)
        return {key: frozenset(positions) for key, positions in index.items()}


def _objects(knowledge: Knowledge, predicates: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Objects of the edges of some predicates, by subject; negated edges aside."""
    edges = knowledge.edges.filter(
        pc.and_(
            pc.is_in(knowledge.edges["predicate"], pa.array(predicates)),
            pc.invert(knowledge.edges["negated"]),
        )
    )
    found: dict[str, set[str]] = defaultdict(set)
    for subject, target in zip(
        edges["subject"].to_pylist(), edges["object"].to_pylist(), strict=True
    ):
        found[subject].add(target)
    return {subject: frozenset(targets) for subject, targets in found.items()}


def _visits(hospital: Hospital, codes: Mapping[str, CodeFacts]) -> dict[str, VisitFacts]:
    held = _codes_by_visit(hospital.visit_codes)
    kinds = {code: facts.kind for code, facts in codes.items()}
    eras = {code: facts.era for code, facts in codes.items()}
    orders = _orders(hospital.events, codes)
    found = {}
    for row in sorted(
        hospital.visits.to_pylist(), key=lambda row: (row["patient"], row["ordinal"])
    ):
        its_codes = held.get(row["id"], ())
        diagnoses = tuple([code for code in its_codes if kinds[code] == "diagnosis"])
        found[row["id"]] = VisitFacts(
            id=row["id"],
            patient=row["patient"],
            ordinal=row["ordinal"],
            kind=row["kind"] or "",
            age=row["age"],
            gap_days=row["gap_days"],
            era=_era([eras[code] for code in diagnoses]),
            diagnoses=diagnoses,
            procedures=tuple([code for code in its_codes if kinds[code] == "procedure"]),
            orders=tuple(orders.get(row["id"], ())),
            codes=frozenset(its_codes),
        )
    return found


def _codes_by_visit(pairs: pa.Table) -> dict[str, list[str]]:
    """The codes of each visit, each once and sorted."""
    once = pairs.group_by(["visit", "code"]).aggregate([])
    once = once.sort_by([("visit", "ascending"), ("code", "ascending")])
    if not once.num_rows:
        return {}
    visits, codes = once["visit"].combine_chunks(), once["code"].to_pylist()
    first = np.flatnonzero(pc.not_equal(visits[1:], visits[:-1]).to_numpy(zero_copy_only=False)) + 1
    starts = [0, *first.tolist()]
    return {
        visit: codes[start:end]
        for visit, start, end in zip(
            visits.take(pa.array(starts)).to_pylist(), starts, [*first.tolist(), None], strict=True
        )
    }


def _era(eras: Sequence[str]) -> str:
    """The ICD version most of a visit's diagnoses are written in; "" where it has none."""
    once = set(eras)
    if len(once) < 2:
        return eras[0] if eras else ""
    return max(sorted(once), key=lambda era: (eras.count(era), len(era), era))


def _only_days(times: pa.ChunkedArray) -> bool:
    """Whether a column of times holds days: then nobody knows how long an order lasted."""
    return bool(pc.all(pc.equal(times, pc.floor_temporal(times, unit="day"))).as_py())


def _orders(events: pa.Table, codes: Mapping[str, CodeFacts]) -> dict[str, list[Order]]:
    drugs = events.filter(pc.equal(events["kind"], "drug"))
    if drugs.num_rows == 0:
        return {}
    typed = pc.any(pc.not_equal(drugs["drug_type"], "")).as_py()
    main = pc.equal(drugs["drug_type"], "MAIN") if typed else pc.equal(drugs["kind"], "drug")
    shortest = rule_data()["thresholds"]["shortest_order"]
    # Whatever unit the times have: Parquet holds no seconds and gives milliseconds back.
    seconds = pc.seconds_between(drugs["start"], drugs["stop"])
    long = pc.fill_null(pc.greater(seconds, shortest), True)
    lasting = main if _only_days(drugs["start"]) else pc.and_(main, long)
    table = pa.table(
        {
            "visit": drugs["visit"],
            "code": drugs["code"],
            "route": drugs["route"],
            "main": main,
            "lasting": lasting,
            "start": drugs["start"],
            "first": pc.if_else(lasting, drugs["start"], pa.scalar(None, drugs["start"].type)),
        }
    )
    grouped = table.group_by(["visit", "code", "route"]).aggregate(
        [("main", "max"), ("lasting", "max"), ("start", "min"), ("first", "min")]
    )
    found: dict[str, list[Order]] = defaultdict(list)

    @cache
    def entity(code: str, route: str) -> str:  # one text for the same drug of all visits
        return f"{codes[code].entity}|{route}"

    for row in grouped.sort_by(
        [(name, "ascending") for name in ("visit", "code", "route")]
    ).to_pylist():
        found[row["visit"]].append(
            Order(
                code=row["code"],
                route=row["route"],
                entity=entity(row["code"], row["route"]),
                main=row["main_max"],
                lasting=row["lasting_max"],
                start=row["first_min"] or row["start_min"],
            )
        )
    return found


def _patients(hospital: Hospital, visits: Mapping[str, VisitFacts]) -> dict[str, PatientFacts]:
    by_patient: dict[str, list[VisitFacts]] = defaultdict(list)
    for visit in visits.values():
        by_patient[visit.patient].append(visit)
    return {
        row["id"]: PatientFacts(
            id=row["id"],
            sex=row["sex"],
            split=row["split"],
            visits=tuple(by_patient[row["id"]]),
            codes=_codes_of(by_patient[row["id"]]),
        )
        for row in sorted(hospital.patients.to_pylist(), key=lambda row: str(row["id"]))
    }


def _codes_of(visits: Sequence[VisitFacts]) -> frozenset[str]:
    if len(visits) == 1:  # most patients: no second set of the same codes
        return visits[0].codes
    return frozenset().union(*(visit.codes for visit in visits))
