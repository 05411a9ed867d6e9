"""Builds tiny worlds: a few patients, a few codes, the knowledge and relations one test needs.

world = World()
world.diagnosis("ICD10CM:I50.9", "Heart failure, unspecified", concept="MONDO:0005252")
world.drug("furosemide", concept="DRUGBANK:DB00695", atc="ATC:C03CA")
world.treats("DRUGBANK:DB00695", "MONDO:0005252")
world.patient("p1").visit(["ICD10CM:I50.9"], [("furosemide", "oral")])
world.relation("DRUGNAME:furosemide", "TREATS", "ICD10CM:I50.9", route="oral")
world.hospital, world.knowledge, world.mapping, world.verified, world.cohort
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import pyarrow as pa

from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.ehr import schema as ehr
from ehrkg.foundation.hashing import short_id
from ehrkg.mapping import schema as mapped
from ehrkg.ontology import schema as known
from ehrkg.verify import schema as verified

KINDS = {
    "ICD10CM": "diagnosis",
    "ICD9CM": "diagnosis",
    "DRUGNAME": "drug",
    "ICD10PCS": "procedure",
    "ICD9PROC": "procedure",
}
DAY_ONE = datetime(2150, 1, 1, 8)


def table(rows: Iterable[dict[str, Any]], schema: pa.Schema, *sort: str) -> pa.Table:
    """Rows as a table of a schema; what a row leaves out is null."""
    full = [{name: row.get(name) for name in schema.names} for row in rows]
    made = pa.Table.from_pylist(full, schema=schema)
    return made.sort_by([(name, "ascending") for name in sort])


@dataclass
class Patient:
    """One patient of a world; each ``visit`` comes ``gap`` days after the one before."""

    world: World
    id: str
    clock: datetime = DAY_ONE
    n: int = 0

    def visit(
        self,
        diagnoses: Sequence[str] = (),
        drugs: Sequence[tuple[str, str] | dict[str, Any]] = (),
        procedures: Sequence[str] = (),
        *,
        gap: int = 30,
        age: int = 60,
        kind: str = "URGENT",
    ) -> Patient:
        """Add a visit of three days. A drug is (name, route) or a dict with hours, drug_type."""
        self.n += 1
        visit = f"{self.id}v{self.n}"
        admitted = self.clock + timedelta(days=gap if self.n > 1 else 0)
        discharged = admitted + timedelta(days=3)
        self.clock = discharged
        self.world.visits.append(
            {
                "id": visit,
                "patient": self.id,
                "ordinal": self.n,
                "admitted": admitted,
                "discharged": discharged,
                "kind": kind,
                "age": age,
                "died": False,
                "gap_days": gap if self.n > 1 else None,
            }
        )
        for seq, code in enumerate((*diagnoses, *procedures), start=1):
            self.world.know(code)
            self._event(visit, code, {"seq": seq})
        for drug in drugs:
            order = drug if isinstance(drug, dict) else {"drug": drug[0], "route": drug[1]}
            code = f"DRUGNAME:{order['drug']}"
            self.world.know(code)
            start = order.get("start", admitted + timedelta(hours=2))
            self._event(
                visit,
                code,
                {
                    "route": order.get("route", "oral"),
                    "drug_type": order.get("drug_type", "MAIN"),
                    "start": start,
                    "stop": start + timedelta(hours=order.get("hours", 24)),
                },
            )
        return self

    def _event(self, visit: str, code: str, more: dict[str, Any]) -> None:
        self.world.events.append(
            {
                "patient": self.id,
                "visit": visit,
                "code": code,
                "kind": KINDS[code.split(":")[0]],
                "route": "",
                "drug_type": "",
                "raw_code": code.split(":", 1)[1],
                "source": "made.csv",
                "row": len(self.world.events) + 1,
                **more,
            }
        )


@dataclass
class World:
    """Collects rows; the tables are made when first asked for, and then stay as they are."""

    patients: list[dict[str, Any]] = field(default_factory=list)
    visits: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    codes: dict[str, dict[str, Any]] = field(default_factory=dict)
    concepts: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: list[dict[str, Any]] = field(default_factory=list)
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    links: list[dict[str, Any]] = field(default_factory=list)
    strings: dict[str, dict[str, Any]] = field(default_factory=dict)
    relations: list[dict[str, Any]] = field(default_factory=list)
    evidence: list[dict[str, Any]] = field(default_factory=list)

    # People

    def patient(self, name: str, *, sex: str = "F", split: str = "train") -> Patient:
        self.patients.append({"id": name, "sex": sex, "year_group": "", "split": split})
        return Patient(self, name)

    # Codes

    def know(self, code: str, name: str = "") -> None:
        """Register a code, with its own text as name unless one is given."""
        system, text = code.split(":", 1)
        if code not in self.codes or name:
            self.codes[code] = {
                "id": code,
                "system": system,
                "code": text,
                "name": name or text,
                "kind": KINDS[system],
            }

    def diagnosis(
        self,
        code: str,
        name: str,
        *,
        concept: str | None = None,
        levels: int = 0,
        ccsr: Sequence[str] = (),
        chronic: bool | None = None,
        equivalents: Sequence[str] = (),
        parent: str = "",
        chapter: str = "",
    ) -> str:
        """A diagnosis or procedure code with its link and attributes."""
        self.know(code, name)
        category = code.split(".")[0]
        self.attributes[code] = {
            "code": code,
            "name": name,
            "parent": parent or (category if "." in code else ""),
            "category": category,
            "chapter": chapter,
            "chapter_name": "",
            "ccsr": list(ccsr),
            "chronic": chronic,
            "equivalents": list(equivalents),
        }
        if concept:
            kind = "procedure" if KINDS[code.split(":")[0]] == "procedure" else "disease"
            self.concept(concept, name, kind)
            self.link(code, concept, levels=levels)
        return code

    def drug(
        self,
        name: str,
        *,
        concept: str | None = None,
        atc: str = "",
        drug_kind: str = "drug",
        ingredients: Sequence[str] | None = None,
    ) -> str:
        """A drug string with its ingredient, its ATC class and its kind."""
        code = f"DRUGNAME:{name}"
        self.know(code, name)
        self.strings[code] = {
            "code": code,
            "drug_kind": drug_kind,
            "ingredients": sorted(ingredients if ingredients is not None else [name]),
        }
        if concept:
            self.concept(concept, name, "drug")
            self.link(code, concept, method="ingredient")
            if atc:
                self.concept(atc, atc, "drug_class")
                self.edge(concept, "SUBCLASS_OF", atc)
        return code

    def link(
        self,
        code: str,
        concept: str,
        *,
        levels: int = 0,
        confidence: float = 1.0,
        method: str = "xref",
    ) -> None:
        self.links.append(
            {
                "code": code,
                "concept": concept,
                "predicate": "skos:exactMatch",
                "method": method,
                "levels": levels,
                "confidence": confidence,
                "source": "made",
                "explanation": "",
            }
        )

    # Knowledge

    def concept(self, concept: str, name: str, kind: str = "disease") -> None:
        self.concepts.setdefault(
            concept,
            {
                "id": concept,
                "name": name,
                "kind": kind,
                "definition": "",
                "source": "made",
            },
        )

    def edge(
        self,
        subject: str,
        predicate: str,
        target: str,
        *,
        negated: bool = False,
        route: str = "",
        origin: str = "made",
    ) -> str:
        edge = short_id("e", subject, predicate, target, negated, route, origin)
        self.edges.append(
            {
                "id": edge,
                "subject": subject,
                "predicate": predicate,
                "object": target,
                "negated": negated,
                "route": route,
                "source": "made",
                "origin": origin,
                "licence": "CC0-1.0",
                "provenance": "",
                "original_predicate": "",
            }
        )
        return edge

    def treats(self, drug: str, disease: str) -> str:
        return self.edge(drug, "TREATS", disease)

    def relation(
        self,
        head: str,
        predicate: str,
        tail: str,
        *,
        route: str = "",
        verdict: str = "supported",
        score: float = 0.9,
        n_path: int = 1,
        n_coding_rule: int = 0,
        tasks: Sequence[str] = ("diagnosis", "prognosis", "treatment"),
        lift: float = 3.0,
    ) -> str:
        """A verified relation between two codes; its concepts are those of the nearest links."""
        name = short_id("r", head, route, predicate, tail)
        self.relations.append(
            {
                "id": name,
                "head": head,
                "route": route,
                "predicate": predicate,
                "tail": tail,
                "head_concept": self._best(head),
                "tail_concept": self._best(tail),
                "verdict": verdict,
                "score": score,
                "score_calibrated": False,
                "score_path": score,
                "score_definition": 0.0,
                "score_contradiction": 0.0,
                "score_coding_rule": 0.0,
                "reasons": ["made"],
                "n_path": n_path,
                "n_definition": 0,
                "n_coding_rule": n_coding_rule,
                "n_statistic": 1,
                "n_contradicting": 0,
                "origins": ["made"],
                "sources": ["made"],
                "depends_on": ["made"],
                "tasks": sorted(tasks),
                "proposers": ["made"],
                "n_within": 5,
                "n_across": 5,
                "n_patients": 5,
                "lift": lift,
                "p_value": 0.001,
            }
        )
        return name

    def _best(self, code: str) -> str:
        found = sorted((row["levels"], row["concept"]) for row in self.links if row["code"] == code)
        return found[0][1] if found else ""

    # Tables

    @cached_property
    def hospital(self) -> ehr.Hospital:
        for row in self.events:
            self.know(row["code"])
        grouped: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for row in self.events:
            grouped.setdefault((row["visit"], row["code"], row["route"]), []).append(row)
        visit_codes = [
            {
                **rows[0],
                "n": len(rows),
                "drug_type": "MAIN"
                if any(row["drug_type"] == "MAIN" for row in rows)
                else rows[0]["drug_type"],
            }
            for rows in grouped.values()
        ]
        used = {row["code"] for row in self.events}
        return ehr.Hospital(
            format="made",
            patients=table(self.patients, ehr.PATIENTS, "id"),
            visits=table(self.visits, ehr.VISITS, "patient", "ordinal"),
            events=table(self.events, ehr.EVENTS, "visit", "kind", "code", "route", "row"),
            codes=table((self.codes[code] for code in used), ehr.CODES, "id"),
            visit_codes=table(visit_codes, ehr.VISIT_CODES, "visit", "code", "route"),
        )

    @cached_property
    def knowledge(self) -> known.Knowledge:
        return known.Knowledge(
            concepts=table(self.concepts.values(), known.CONCEPTS, "id"),
            synonyms=table([], known.SYNONYMS, "concept"),
            edges=table(self.edges, known.EDGES, "predicate", "subject", "object", "id"),
            mappings=table([], known.MAPPINGS, "subject"),
            attributes=table(self.attributes.values(), known.CODE_ATTRIBUTES, "code"),
        )

    @cached_property
    def mapping(self) -> mapped.Mapping:
        return mapped.Mapping(
            links=table(self.links, mapped.LINKS, "code", "levels", "concept", "method"),
            drug_strings=table(self.strings.values(), mapped.DRUG_STRINGS, "code"),
        )

    @cached_property
    def verified(self) -> verified.Verified:
        return verified.Verified(
            relations=table(self.relations, verified.RELATIONS, "id"),
            evidence=table(self.evidence, verified.EVIDENCE, "relation", "kind", "id"),
        )

    @cached_property
    def cohort(self) -> Cohort:
        return Cohort(self.hospital, self.knowledge, self.mapping)
