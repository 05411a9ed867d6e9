"""The schema as data is what the engine holds and what the stages need."""

from __future__ import annotations

from ehrkg.benchmark.schema import TEMPLATES
from ehrkg.graph.ladybug_session import TYPES
from ehrkg.graph.schema import EDGES, NODES, RECORDED_AS
from ehrkg.graph.store import GraphStore
from ehrkg.mapping.schema import LINKS
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.verify.schema import EVIDENCE, RELATIONS


def test_the_engine_holds_these_tables_and_no_others(embedded: GraphStore) -> None:
    found = embedded.query("CALL show_tables() RETURN name, type").to_pylist()
    assert {row["name"] for row in found if row["type"] == "NODE"} == set(NODES)
    assert {row["name"] for row in found if row["type"] == "REL"} == set(EDGES)


def test_the_engine_holds_these_properties(embedded: GraphStore) -> None:
    for name, properties in [
        *((n.label, n.properties) for n in NODES.values()),
        *((e.type, e.properties) for e in EDGES.values()),
    ]:
        found = embedded.query(f"CALL table_info('{name}') RETURN name, type").to_pylist()
        columns = {row["name"]: row["type"] for row in found}
        if name in NODES:
            assert columns.pop("key") == "STRING"
            assert columns.pop("build") == "STRING"
        assert columns == {f.name: TYPES[f.type] for f in properties}, name


def test_the_engine_joins_these_labels(embedded: GraphStore) -> None:
    for edge in EDGES.values():
        found = embedded.query(f"CALL show_connection('{edge.type}') RETURN *").to_pylist()
        joins = {(r["source table name"], r["destination table name"]) for r in found}
        assert joins == set(edge.joins), edge.type


def test_stages_further_down_find_their_columns() -> None:
    assert NODES["Relation"].properties.equals(RELATIONS)
    assert NODES["Evidence"].properties.equals(EVIDENCE)
    assert NODES["Template"].properties.equals(TEMPLATES)
    assert ["code", "concept", *EDGES["MAPS_TO"].properties.names] == LINKS.names


def test_every_predicate_is_an_edge_type_and_keys_are_properties() -> None:
    assert set(PREDICATES) <= set(EDGES)
    assert set(RECORDED_AS.values()) <= set(EDGES)
    for edge in EDGES.values():
        assert set(edge.key) <= set(edge.properties.names)
        assert all(start in NODES and end in NODES for start, end in edge.joins)
