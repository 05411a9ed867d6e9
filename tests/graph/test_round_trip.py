"""What is written comes back equal, and writing it again changes nothing."""

from __future__ import annotations

from dataclasses import fields, replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from graph_world import World, fill
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ehrkg.ehr.schema import CODES, EVENTS, PATIENTS, VISIT_CODES, VISITS
from ehrkg.foundation.errors import InputError
from ehrkg.graph import readers, writers
from ehrkg.graph.store import GraphStore
from ehrkg.mapping.schema import LINKS
from ehrkg.ontology.schema import CODE_ATTRIBUTES, CONCEPTS, EDGES, MAPPINGS, PASSAGES, SYNONYMS
from ehrkg.verify.schema import EVIDENCE, RELATIONS


def same(found: pa.Table, written: pa.Table) -> None:
    assert found.schema.equals(written.schema), (found.schema, written.schema)
    assert found.to_pylist() == written.to_pylist()


def test_the_hospital_comes_back(full: GraphStore, world: World) -> None:
    found = readers.read_hospital(full)
    for field in fields(found):
        if field.name == "format":
            assert found.format == "mimic4"
        else:
            same(getattr(found, field.name), getattr(world.hospital, field.name))


def test_the_knowledge_comes_back(full: GraphStore, world: World) -> None:
    found = readers.read_knowledge(full)
    for field in fields(found):
        written = getattr(world.knowledge, field.name)
        if field.name == "edges":
            written = written.sort_by(
                [(n, "ascending") for n in ("predicate", "subject", "object", "source", "id")]
            )
        same(getattr(found, field.name), written)


def test_links_relations_evidence_and_templates_come_back(full: GraphStore, world: World) -> None:
    same(
        readers.read_links(full),
        world.links.sort_by([(n, "ascending") for n in ("code", "levels", "concept", "method")]),
    )
    same(readers.read_relations(full), world.relations)
    same(readers.read_evidence(full), world.evidence)
    same(readers.read_templates(full), world.templates)


def test_writing_twice_changes_nothing(filled: GraphStore, world: World) -> None:
    counts, fingerprint = filled.counts(), filled.content_hash()
    fill(filled, world)
    assert filled.counts() == counts
    assert filled.content_hash() == fingerprint


def test_the_order_of_writing_does_not_matter(
    store: GraphStore, world: World, embedded: GraphStore
) -> None:
    writers.write_links(store, world.links)
    writers.write_knowledge(store, world.knowledge)
    writers.write_hospital(store, world.hospital)
    writers.write_relations(store, world.relations, world.evidence)
    writers.write_templates(store, world.templates)
    assert store.counts() == embedded.counts()
    assert store.content_hash() == embedded.content_hash()


def test_empty_tables_are_fine(store: GraphStore, world: World) -> None:
    hospital = replace(
        world.hospital,
        patients=PATIENTS.empty_table(),
        visits=VISITS.empty_table(),
        events=EVENTS.empty_table(),
        codes=CODES.empty_table(),
        visit_codes=VISIT_CODES.empty_table(),
    )
    knowledge = replace(
        world.knowledge,
        concepts=CONCEPTS.empty_table(),
        synonyms=SYNONYMS.empty_table(),
        edges=EDGES.empty_table(),
        mappings=MAPPINGS.empty_table(),
        attributes=CODE_ATTRIBUTES.empty_table(),
        passages=PASSAGES.empty_table(),
    )
    writers.write_hospital(store, hospital)
    writers.write_knowledge(store, knowledge)
    writers.write_links(store, LINKS.empty_table())
    writers.write_relations(store, RELATIONS.empty_table(), EVIDENCE.empty_table())
    writers.write_templates(store, world.templates.slice(0, 0))
    assert store.counts() == {}
    same(readers.read_hospital(store).visit_codes, VISIT_CODES.empty_table())
    same(readers.read_knowledge(store).edges, EDGES.empty_table())
    same(readers.read_links(store), LINKS.empty_table())


def test_a_new_verdict_replaces_the_old_one_and_its_evidence(
    filled: GraphStore, world: World
) -> None:
    store = filled
    verdict = pc.if_else(
        pc.equal(world.relations.column("id"), "r1"), "ambiguous", world.relations.column("verdict")
    )
    relations = world.relations.set_column(
        world.relations.column_names.index("verdict"), "verdict", verdict
    )
    evidence = world.evidence.slice(0, 1)
    writers.write_relations(store, relations, evidence)
    same(readers.read_relations(store), relations)
    same(readers.read_evidence(store), evidence)
    assert store.counts()["BACKED_BY"] == 1
    assert store.counts()["CITES"] == 1
    assert store.counts()["ASSERTS"] == 2  # templates still stand on the relation


def test_a_template_with_another_context_replaces_the_old_one(
    filled: GraphStore, world: World
) -> None:
    store = filled
    record = world.templates.to_pylist()[0] | {
        "context": ["ICD10CM:I50.23"],
        "context_routes": [""],
        "anchor_position": 0,
    }
    table = pa.Table.from_pylist([record], schema=world.templates.schema)
    writers.write_templates(store, table)
    given_codes = store.query(
        "MATCH (t:Template)-[g:GIVEN]->(c:Code) WHERE t.id = $id AND t.build = $build "
        "RETURN c.id, g.position",
        id="t1",
        build=store.build,
    )
    assert given_codes.to_pylist() == [{"c.id": "ICD10CM:I50.23", "g.position": 0}]


def test_evidence_for_a_relation_that_is_not_there_is_refused(
    store: GraphStore, world: World
) -> None:
    with pytest.raises(InputError, match="not there"):
        writers.write_relations(store, RELATIONS.empty_table(), world.evidence)


def test_ends_that_only_an_edge_names_are_bare_nodes_and_no_concepts(full: GraphStore) -> None:
    bare = (
        full.query(
            "MATCH (c:Concept) WHERE c.declared IS NULL AND c.build = $build "
            "RETURN c.id AS id ORDER BY id",
            build=full.build,
        )
        .column("id")
        .to_pylist()
    )
    assert bare == ["HP:0000001", "ICD10CM:I50"]
    assert not set(bare) & set(readers.read_knowledge(full).concepts.column("id").to_pylist())


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(names=st.lists(st.tuples(text, text, st.lists(text, max_size=3)), min_size=1, max_size=8))
def test_any_text_survives(store: GraphStore, names: list[tuple[str, str, list[str]]]) -> None:
    ids = [f"x{n}" for n in range(len(names))]
    table = pa.table(
        {
            "id": ids,
            "head": [a for a, _, _ in names],
            "verdict": [b for _, b, _ in names],
            "reasons": pa.array([c for _, _, c in names], pa.list_(pa.string())),
        }
    )
    store.write_nodes("Relation", table)
    found = store.read_nodes("Relation").select(table.column_names)
    found = found.filter(pc.is_in(found.column("id"), value_set=pa.array(ids)))
    assert found.to_pylist() == table.sort_by("id").to_pylist()
    for identity, (name, _, _) in zip(ids, names, strict=True):
        hits = store.query("MATCH (r:Relation) WHERE r.head = $name RETURN r.id", name=name)
        assert identity in hits.column(0).to_pylist()
