"""Questions from a graph query: the same rules, whatever the query returns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import ehrkg
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.graph import writers
from ehrkg.session.kg import KnowledgeGraph
from tests.benchmark.builders import World
from tests.benchmark.worlds import many_pairs

RELATIONS = "MATCH (r:Relation) WHERE r.head >= $least RETURN r.id"
TEMPLATES = "MATCH (t:Template) WHERE t.sex = 'F' RETURN t.id"
ROWS = (
    "MATCH (t:Template)-[:AT]->(v:Visit), (t)-[:ANSWER]->(a:Code), (t)-[:ASSERTS]->(r:Relation), "
    "(t)-[:GIVEN]->(c:Code) "
    "WITH v.id AS visit, collect(DISTINCT c.id) AS context, a.id AS answer, "
    "r.predicate AS predicate ORDER BY visit, answer LIMIT 500 "
)
PLACES = f"{ROWS} RETURN visit, context, answer, predicate"


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """A small hospital with all its templates in the graph."""
    with ehrkg.open(tmp_path_factory.mktemp("asked") / "graph.lbug") as graph:
        told(graph, many_pairs(10, 40))
        yield graph


def told(graph: KnowledgeGraph, world: World) -> None:
    """Let an empty graph hold a world and all its templates."""
    writers.write_hospital(graph.store, world.hospital)
    writers.write_knowledge(graph.store, world.knowledge)
    writers.write_links(graph.store, world.mapping.links, world.hospital.codes["id"])
    writers.write_relations(graph.store, world.verified.relations, world.verified.evidence)
    graph._hospital, graph._knowledge = world.hospital, world.knowledge
    graph._mapping, graph._verified = world.mapping, world.verified
    graph.instantiate(formats=["oeq"])


def test_relations_that_a_query_names_become_all_their_questions(kg: KnowledgeGraph) -> None:
    bench = kg.instantiate(query=RELATIONS, least="ICD10CM:A04.1", formats=["mcq4", "oeq"])
    named = kg.query(RELATIONS, least="ICD10CM:A04.1").column(0).to_pylist()
    assert set(bench.column("relation_id").to_pylist()) == set(named)
    again = kg.instantiate(**bench.made_by)
    assert again.fingerprint == bench.fingerprint


def test_templates_that_a_query_names_become_their_questions(kg: KnowledgeGraph) -> None:
    bench = kg.instantiate(query=TEMPLATES, formats=["oeq"])
    asked = kg.query(TEMPLATES).column(0).to_pylist()
    assert bench.column("template_id").to_pylist() == sorted(asked)


def test_a_part_leaves_the_other_templates_in_the_graph(kg: KnowledgeGraph) -> None:
    before = kg.query("MATCH (t:Template) RETURN count(t) AS n")["n"][0].as_py()
    kg.instantiate(query=TEMPLATES, formats=["oeq"])
    assert kg.query("MATCH (t:Template) RETURN count(t) AS n")["n"][0].as_py() == before


def test_places_become_questions_with_the_context_that_was_given(kg: KnowledgeGraph) -> None:
    asked = kg.query(PLACES)
    kg.ledger = Ledger()
    bench = kg.instantiate(query=PLACES, formats=["mcq4", "oeq"])
    wanted = {(row["visit"], row["answer"], frozenset(row["context"])) for row in asked.to_pylist()}
    rows = bench.templates().to_pylist()
    assert rows
    assert {(row["visit"], row["answer"][0], frozenset(row["context"])) for row in rows} == wanted
    line = next(entry for entry in kg.ledger if entry.unit == "place")
    assert line.rows_in == asked.num_rows == line.rows_out + sum(line.dropped.values())
    again = kg.instantiate(**bench.made_by)
    assert again.fingerprint == bench.fingerprint


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("'nowhere' AS visit, context, answer, predicate", "unknown_visit"),
        ("visit, context + ['ICD10CM:Z99.99'] AS context, answer, predicate", "unknown_code"),
        (
            "visit, context + ['ICD10CM:B00.1', 'ICD10CM:B01.1'] AS context, answer, predicate",
            "context_not_recorded",
        ),
        ("visit, context, 'ICD10CM:A00.1' AS answer, predicate", "answer_not_recorded"),
        ("visit, context, answer, 'PREVENTS' AS predicate", "answer_not_recorded"),
        ("visit, [answer] AS context, answer, predicate", "no_relation"),
        (
            "visit, [context[1]] AS context, answer, predicate",
            "context_size",
        ),
        ("visit, context + [answer] AS context, answer, predicate", "context_related_to_answer"),
    ],
)
def test_a_row_that_breaks_a_rule_is_counted_out_under_it(
    kg: KnowledgeGraph, change: str, rule: str
) -> None:
    kg.ledger = Ledger()
    bench = kg.instantiate(query=f"{ROWS} RETURN {change}", formats=["oeq"])
    assert len(bench) < 40
    dropped = kg.ledger.dropped("instantiate", "place")
    assert dropped.get(rule, 0) > 0, dropped


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("MATCH (t:Template) RETURN t.age", "holds"),
        ("MATCH (c:Code) RETURN c.id LIMIT 3", "of no template"),
        ("MATCH (t:Template) WHERE t.task = 'nothing' RETURN t.id", "no id"),
        (f"{ROWS} RETURN visit, answer AS context, answer, predicate", "no list"),
        (PLACES.replace("LIMIT 500", "LIMIT 0"), "no row"),
        ("no_such_query", "no query and no file"),
    ],
)
def test_a_query_that_selects_no_question_says_what_to_do(
    kg: KnowledgeGraph, query: str, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        kg.instantiate(query=query)


def test_a_query_may_lie_in_a_file(kg: KnowledgeGraph, tmp_path: Path) -> None:
    file = tmp_path / "women.cypher"
    file.write_text(
        "// title: Women\n// param: wanted string F  Sex.\n"
        "MATCH (t:Template) WHERE t.sex = $wanted RETURN t.id\n"
    )
    bench = kg.instantiate(query=file, wanted="M", formats=["oeq"])
    assert set(bench.column("sex").to_pylist()) == {"M"}


def test_parameters_without_a_query_are_refused(kg: KnowledgeGraph) -> None:
    with pytest.raises(UsageError, match="ancestor"):
        kg.instantiate(ancestor="DOID:1287")
