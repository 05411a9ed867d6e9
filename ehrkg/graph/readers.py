"""From the graph back to the tables between stages, equal to what was written.

The tables of linking, verifying and instantiating are named by stages further down the way of the
data; the columns here are theirs, which a test holds together.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.schema import CODES, EVENTS, VISIT_CODES, Hospital
from ehrkg.graph.schema import EDGES, MAPPING_PREDICATES, RECORDED_AS
from ehrkg.graph.store import GraphStore
from ehrkg.graph.writers import MAPPING_ID
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.ontology.schema import (
    CODE_ATTRIBUTES,
    CONCEPTS,
    MAPPINGS,
    PASSAGES,
    SYNONYMS,
    Knowledge,
)
from ehrkg.ontology.schema import EDGES as STATEMENTS
from ehrkg.ontology.sources import Source, learn


def read_hospital(store: GraphStore) -> Hospital:
    """The hospital's tables.

    Returns:
        All tables as written, except ``events``: one row for each (visit, code, route), its first,
        and no NDC, since the graph keeps no more (events.parquet does).
    """
    visits = _sorted(store.read_nodes("Visit"), "patient", "ordinal")
    codes = store.read_nodes("Code")
    codes = codes.filter(pc.fill_null(codes.column("recorded"), False)).select(CODES.names)
    visit_codes = _visit_codes(store)
    patients = visits.select(["id", "patient"]).rename_columns(["visit", "patient"])
    events = visit_codes.drop_columns(["n"]).join(patients, "visit")
    events = events.append_column("ndc", pa.array([""] * events.num_rows, pa.string()))
    formats = store.read_nodes("Build").column("ehr_format").to_pylist()
    return Hospital(
        format=formats[0] or "" if formats else "",
        patients=store.read_nodes("Patient"),
        visits=visits,
        events=_sorted(
            events.select(EVENTS.names), "visit", "kind", "code", "route", "source", "row"
        ),
        codes=codes,
        visit_codes=visit_codes,
    )


def _visit_codes(store: GraphStore) -> pa.Table:
    parts = []
    for kind, edge_type in RECORDED_AS.items():
        table = store.read_edges(edge_type).rename_columns(
            {"from": "visit", "to": "code"} | ({"time": "start"} if kind == "procedure" else {})
        )
        table = table.append_column("kind", pa.array([kind] * table.num_rows, pa.string()))
        parts.append(table.select(VISIT_CODES.names))
    return _sorted(pa.concat_tables(parts), "visit", "code", "route")


def read_knowledge(store: GraphStore) -> Knowledge:
    """What the ontologies said; bare nodes that only an edge names are no concepts."""
    _meet_sources(store)
    concepts = store.read_nodes("Concept")
    concepts = concepts.filter(pc.fill_null(concepts.column("declared"), False))
    statements, mappings = [], []
    words = {edge_type: word for word, edge_type in MAPPING_PREDICATES.items()}
    for predicate in PREDICATES:
        table = store.read_edges(predicate)
        if not table.num_rows:
            continue
        table = table.rename_columns({"from": "subject", "to": "object"})
        is_mapping = pc.starts_with(table.column("id"), MAPPING_ID)
        statements.append(_as(table.filter(pc.invert(is_mapping)), STATEMENTS, predicate))
        if predicate in words:
            mappings.append(_as(table.filter(is_mapping), MAPPINGS, words[predicate]))
    codes = store.read_nodes("Code")
    codes = codes.filter(pc.fill_null(codes.column("described"), False)).drop_columns(
        ["code", "name"]
    )
    attributes = codes.rename_columns({"id": "code", "tree_name": "name"})
    return Knowledge(
        concepts=concepts.select(CONCEPTS.names),
        synonyms=_sorted(
            store.read_nodes("Synonym").select(SYNONYMS.names), "concept", "text", "source", "scope"
        ),
        edges=_sorted(
            pa.concat_tables([STATEMENTS.empty_table(), *statements]),
            "predicate",
            "subject",
            "object",
            "source",
            "id",
        ),
        mappings=_sorted(
            pa.concat_tables([MAPPINGS.empty_table(), *mappings]),
            "subject",
            "predicate",
            "object",
            "source",
            "confidence",
        ),
        attributes=attributes.select(CODE_ATTRIBUTES.names),
        passages=_sorted(
            store.read_nodes("Passage").select(PASSAGES.names), "concept", "kind", "id"
        ),
    )


def _meet_sources(store: GraphStore) -> None:
    """Know the sources that the graph describes, so that their statements weigh as they did."""
    for row in store.read_nodes("Source").to_pylist():
        if row["name"] and row["reliability"] is not None:
            told = {key: value or "" for key, value in row.items() if key != "id"}
            learn(Source(infores=row["id"], **told | {"reliability": row["reliability"]}))


def _as(table: pa.Table, schema: pa.Schema, predicate: str) -> pa.Table:
    named = table.append_column("predicate", pa.array([predicate] * table.num_rows, pa.string()))
    return named.select(schema.names)


def read_links(store: GraphStore) -> pa.Table:
    """Links from codes to concepts, with the columns of mapping's LINKS."""
    names = EDGES["MAPS_TO"].properties.names
    table = store.read_edges("MAPS_TO").rename_columns({"from": "code", "to": "concept"})
    return _sorted(
        table.select(["code", "concept", *names]),
        "code",
        "levels",
        "concept",
        "method",
        "predicate",
        "source",
    )


def read_relations(store: GraphStore) -> pa.Table:
    """Relations, with the columns of verify's RELATIONS, sorted by id."""
    return store.read_nodes("Relation")


def read_evidence(store: GraphStore) -> pa.Table:
    """Evidence, with the columns of verify's EVIDENCE, sorted by relation, kind, id."""
    return _sorted(store.read_nodes("Evidence"), "relation", "kind", "id")


def read_templates(store: GraphStore) -> pa.Table:
    """Templates, with the columns of benchmark's TEMPLATES, sorted by id."""
    return store.read_nodes("Template")


def _sorted(table: pa.Table, *names: str) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in names]).combine_chunks()
