"""A small hospital, its knowledge and a benchmark's tables, with names that break careless code."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from ehrkg.benchmark.schema import TEMPLATES
from ehrkg.ehr.schema import CODES, EVENTS, PATIENTS, VISIT_CODES, VISITS, Hospital
from ehrkg.graph import writers
from ehrkg.graph.store import GraphStore
from ehrkg.mapping.schema import LINKS
from ehrkg.ontology.schema import (
    CODE_ATTRIBUTES,
    CONCEPTS,
    EDGES,
    MAPPINGS,
    PASSAGES,
    SYNONYMS,
    Knowledge,
)
from ehrkg.verify.schema import EVIDENCE, RELATIONS

HARD = """Carrión's "disease"; \\n`x` } {$p} \\\n\tsecond line; DROP TABLE Code; 寒 🫀"""


@dataclass(frozen=True)
class World:
    """The tables of all stages."""

    hospital: Hospital
    knowledge: Knowledge
    links: pa.Table
    relations: pa.Table
    evidence: pa.Table
    templates: pa.Table


def rows(schema: pa.Schema, *records: dict[str, Any]) -> pa.Table:
    """A table in which every column that a record leaves out holds a harmless value."""
    harmless = {
        pa.string(): "",
        pa.int32(): 0,
        pa.int64(): 0,
        pa.float64(): 0.0,
        pa.bool_(): False,
        pa.list_(pa.string()): [],
        pa.timestamp("s"): None,
    }
    filled = [{f.name: r.get(f.name, harmless[f.type]) for f in schema} for r in records]
    return pa.Table.from_pylist(filled, schema=schema)


def hospital() -> Hospital:
    day = datetime(2150, 3, 1, 12)
    visit_codes = rows(
        VISIT_CODES,
        {
            "visit": "v1",
            "code": "DRUGNAME:furosemide",
            "kind": "drug",
            "route": "intravenous",
            "seq": None,
            "start": day,
            "stop": datetime(2150, 3, 4),
            "drug_type": "MAIN",
            "n": 3,
            "raw_code": "Furosemide",
            "source": "hosp/prescriptions.csv.gz",
            "row": 11,
        },
        {
            "visit": "v1",
            "code": "DRUGNAME:furosemide",
            "kind": "drug",
            "route": "oral",
            "seq": None,
            "n": 1,
            "drug_type": "MAIN",
            "raw_code": HARD,
            "source": "hosp/prescriptions.csv.gz",
            "row": 2**40,
        },
        {
            "visit": "v1",
            "code": "ICD10CM:I50.23",
            "kind": "diagnosis",
            "seq": 1,
            "n": 1,
            "raw_code": "I5023",
            "source": "hosp/diagnoses_icd.csv.gz",
            "row": 7,
        },
        {
            "visit": "v1",
            "code": "ICD10PCS:5A1D70Z",
            "kind": "procedure",
            "seq": 1,
            "n": 1,
            "start": day,
            "raw_code": "5A1D70Z",
            "source": "hosp/procedures_icd.csv.gz",
            "row": 5,
        },
        {
            "visit": "v2",
            "code": "ICD10CM:N17.9",
            "kind": "diagnosis",
            "seq": 2,
            "n": 1,
            "raw_code": "N179",
            "source": "hosp/diagnoses_icd.csv.gz",
            "row": 9,
        },
    )
    events = pa.Table.from_pylist(
        [
            {"patient": "p1", "ndc": "", **row}
            for row in visit_codes.drop_columns(["n"]).to_pylist()
        ],
        schema=EVENTS,
    ).sort_by([(n, "ascending") for n in ("visit", "kind", "code", "route", "source", "row")])
    return Hospital(
        format="mimic4",
        patients=rows(
            PATIENTS,
            {"id": "p1", "sex": "F", "year_group": "2014 - 2016", "split": "train"},
            {"id": "p2", "sex": "M"},
        ),
        visits=rows(
            VISITS,
            {
                "id": "v1",
                "patient": "p1",
                "ordinal": 1,
                "admitted": day,
                "age": 71,
                "died": False,
                "gap_days": None,
                "kind": "URGENT",
            },
            {
                "id": "v2",
                "patient": "p1",
                "ordinal": 2,
                "admitted": datetime(2151, 1, 1),
                "age": 72,
                "died": None,
                "gap_days": 63,
            },
            {"id": "v0", "patient": "p2", "ordinal": 1, "age": None},
        ),
        events=events,
        codes=rows(
            CODES,
            {
                "id": "DRUGNAME:furosemide",
                "system": "DRUGNAME",
                "code": "furosemide",
                "name": "Furosemide",
                "kind": "drug",
            },
            {
                "id": "ICD10CM:I50.23",
                "system": "ICD10CM",
                "code": "I50.23",
                "kind": "diagnosis",
                "name": "Acute on chronic systolic (congestive) heart failure",
            },
            {
                "id": "ICD10CM:N17.9",
                "system": "ICD10CM",
                "code": "N17.9",
                "name": HARD,
                "kind": "diagnosis",
            },
            {
                "id": "ICD10PCS:5A1D70Z",
                "system": "ICD10PCS",
                "code": "5A1D70Z",
                "name": None,
                "kind": "procedure",
            },
        ),
        visit_codes=visit_codes,
    )


def knowledge() -> Knowledge:
    edge = {"source": "infores:ehrkg", "origin": "infores:ehrkg", "licence": "CC0-1.0"}
    return Knowledge(
        concepts=rows(
            CONCEPTS,
            {
                "id": "DRUGBANK:DB00695",
                "name": "furosemide",
                "kind": "drug",
                "definition": "A loop diuretic.",
                "source": "infores:ehrkg",
            },
            {
                "id": "ICD10CM:I50.23",
                "name": "Acute on chronic systolic heart failure",
                "kind": "disease",
                "source": "infores:icd10cm",
            },
            {
                "id": "MONDO:0002492",
                "name": HARD,
                "kind": "disease",
                "definition": "d" * 50_000,
                "source": "infores:mondo",
            },
            {
                "id": "MONDO:0005252",
                "name": "heart failure",
                "kind": "disease",
                "definition": "The heart pumps too little blood.",
                "source": "infores:mondo",
            },
        ),
        synonyms=rows(
            SYNONYMS,
            {
                "concept": "MONDO:0005252",
                "text": "CHF",
                "scope": "abbreviation",
                "source": "infores:ehrkg",
            },
            {"concept": "MONDO:0005252", "text": HARD, "scope": "exact", "source": "infores:a"},
            {"concept": "MONDO:0005252", "text": HARD, "scope": "exact", "source": "infores:b"},
        ),
        edges=rows(
            EDGES,
            {
                "id": "e1",
                "subject": "MONDO:0005252",
                "predicate": "CAUSES",
                "object": "MONDO:0002492",
                "provenance": HARD,
                **edge,
            },
            {
                "id": "e9",
                "subject": "MONDO:0005252",
                "predicate": "CAUSES",
                "object": "MONDO:0005252",
                "negated": True,
                **edge,
            },
            {
                "id": "e2",
                "subject": "DRUGBANK:DB00695",
                "predicate": "TREATS",
                "object": "MONDO:0005252",
                "route": "oral|intravenous",
                **edge,
            },
            {
                "id": "e3",
                "subject": "DRUGBANK:DB00695",
                "predicate": "TREATS",
                "object": "MONDO:0005252",
                **{**edge, "source": "infores:other"},
            },
            {
                "id": "e4",
                "subject": "MONDO:0002492",
                "predicate": "TREATS",
                "object": "HP:0000001",
                **{**edge, "source": "infores:other"},
            },
            {
                "id": "e5",
                "subject": "MONDO:0002492",
                "predicate": "RELATED_TO",
                "object": "HP:0000001",
                "original_predicate": HARD,
                **{**edge, "source": "infores:other"},
            },
        ),
        mappings=rows(
            MAPPINGS,
            {
                "subject": "MONDO:0005252",
                "predicate": "skos:exactMatch",
                "object": "ICD10CM:I50",
                "confidence": 1.0,
                "source": "infores:mondo",
            },
            {
                "subject": "MONDO:0005252",
                "predicate": "skos:exactMatch",
                "object": "ICD10CM:I50",
                "confidence": 0.5,
                "source": "infores:other",
            },
            {
                "subject": "MONDO:0005252",
                "predicate": "skos:narrowMatch",
                "object": "ICD10CM:I50.23",
                "confidence": None,
                "source": "infores:mondo",
            },
        ),
        attributes=rows(
            CODE_ATTRIBUTES,
            {
                "code": "ICD10CM:I50",
                "name": "Heart failure",
                "category": "ICD10CM:I50",
                "chapter": "ICD10CM:9",
                "chapter_name": "Circulatory",
                "chronic": None,
            },
            {
                "code": "ICD10CM:I50.23",
                "name": "Acute on chronic systolic heart failure",
                "parent": "ICD10CM:I50.2",
                "category": "ICD10CM:I50",
                "chapter": "ICD10CM:9",
                "ccsr": ["CIR019", "X"],
                "chronic": True,
                "equivalents": ["ICD9CM:428.23"],
            },
        ),
        passages=rows(
            PASSAGES,
            {"id": "p2", "concept": "HP:0000001", "text": "A long word.", **edge},
            {
                "id": "p1",
                "concept": "MONDO:0005252",
                "kind": "treatment",
                "title": "How is it treated?",
                "text": HARD,
                "url": "https://example.org/1",
                **edge,
            },
        ),
    )


def links() -> pa.Table:
    return rows(
        LINKS,
        {
            "code": "DRUGNAME:furosemide",
            "concept": "DRUGBANK:DB00695",
            "method": "ingredient",
            "predicate": "skos:exactMatch",
            "confidence": 1.0,
            "source": "infores:drugbank",
        },
        {
            "code": "ICD10CM:I50.23",
            "concept": "MONDO:0005252",
            "predicate": "skos:broadMatch",
            "method": "tree",
            "levels": 2,
            "confidence": 0.8,
            "explanation": HARD,
        },
        {
            "code": "ICD10CM:I50.23",
            "concept": "MONDO:0005252",
            "predicate": "skos:broadMatch",
            "method": "xref",
            "levels": 2,
            "confidence": 0.9,
        },
        {
            "code": "ICD10CM:N17.9",
            "concept": "MONDO:0002492",
            "predicate": "skos:exactMatch",
            "method": "sssom",
            "confidence": 1.0,
        },
    )


def verified() -> tuple[pa.Table, pa.Table]:
    relations = rows(
        RELATIONS,
        {
            "id": "r1",
            "head": "ICD10CM:I50.23",
            "predicate": "CAUSES",
            "tail": "ICD10CM:N17.9",
            "head_concept": "MONDO:0005252",
            "tail_concept": "MONDO:0002492",
            "verdict": "supported",
            "score": 0.9123,
            "reasons": ["one origin", HARD],
            "n_path": 1,
            "origins": ["infores:a"],
            "sources": ["infores:ehrkg"],
            "depends_on": ["infores:ehrkg"],
            "tasks": ["diagnosis"],
            "proposers": ["cooccurrence", "llm"],
            "lift": 1.5,
            "p_value": 0.000001,
        },
        {
            "id": "r2",
            "head": "DRUGNAME:furosemide",
            "route": "intravenous",
            "predicate": "TREATS",
            "tail": "MONDO:0005252",
            "verdict": "unsupported",
            "reasons": ["unlinked"],
            "lift": None,
        },
    )
    evidence = rows(
        EVIDENCE,
        {
            "id": "v1",
            "relation": "r1",
            "kind": "definition",
            "polarity": "neutral",
            "text": "x" * 50_000,
            "source": "infores:mondo",
            "concepts": ["MONDO:0002492"],
        },
        {
            "id": "v2",
            "relation": "r1",
            "kind": "path",
            "polarity": "supports",
            "text": HARD,
            "source": "infores:ehrkg",
            "origin": "infores:ehrkg",
            "weight": 0.5,
            "meta_path": "direct",
            "edges": ["e1"],
            "concepts": ["MONDO:0005252", "MONDO:0002492"],
        },
        {"id": "v3", "relation": "r1", "kind": "statistic", "polarity": "neutral", "text": "12"},
    )
    return relations, evidence


def templates() -> pa.Table:
    return rows(
        TEMPLATES,
        {
            "id": "t1",
            "task": "prognosis",
            "patient": "p1",
            "visit": "v1",
            "target_visit": "v2",
            "context": ["DRUGNAME:furosemide", "ICD10CM:I50.23", "DRUGNAME:furosemide"],
            "context_routes": ["intravenous", "", "oral"],
            "anchor_position": 1,
            "answer": ["ICD10CM:N17.9"],
            "answer_concept": "MONDO:0002492",
            "relation": "r1",
            "predicate": "CAUSES",
            "age": 71,
            "age_band": "65-79",
            "sex": "F",
            "gap_days": 63,
            "icd_version": "10",
            "timing": "discharge_coded",
            "n_context": 3,
            "score": 0.9123,
            "sole_indication": None,
            "flags": ["newly_recorded"],
        },
        {
            "id": "t2",
            "task": "diagnosis",
            "patient": "p1",
            "visit": "v1",
            "target_visit": "v1",
            "context": [],
            "context_routes": [],
            "history": ["ICD10CM:I50.23"],
            "answer": ["ICD10CM:N17.9"],
            "relation": "r1",
            "gap_days": None,
        },
    )


def fill(store: GraphStore, world: World) -> None:
    """Write every stage's tables."""
    writers.write_hospital(store, world.hospital)
    writers.write_knowledge(store, world.knowledge)
    writers.write_links(store, world.links)
    writers.write_relations(store, world.relations, world.evidence)
    writers.write_templates(store, world.templates)


ODD = {
    "Code": pa.table(
        {
            "id": ["a", "b", "c", "d", "e"],
            "name": ["x\\", "\\", "\r\n", " sp ", '"'],
            "ccsr": pa.array([[], [""], ["", ""], None, ["", "x,y"]], pa.list_(pa.string())),
        }
    ),
    "Relation": pa.table(
        {
            "id": ["x1", "x2", HARD],
            "lift": [1e-300, float("inf"), -2.5],
            "score": [-0.1, 123456789.123456789, 1e22],
            "reasons": pa.array([[" "], ["a,b", '"', HARD], ["\\", "'"]], pa.list_(pa.string())),
        }
    ),
}
"""What a format in between would lose."""


def add_odd(store: GraphStore) -> None:
    for label, table in ODD.items():
        store.write_nodes(label, table)
    store.write_nodes("Concept", pa.table({"id": ["p", "q"]}))
    store.write_edges(
        "TREATS",
        pa.table(
            {
                "from": ["p", "p", "p"],
                "to": ["q", "q", "p"],
                "id": ["1", "2", "3"],
                "route": ["", None, HARD],
                "negated": [True, False, None],
            }
        ),
    )
