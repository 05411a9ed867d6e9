"""Questions from a graph query: the same rules, whatever the query returns; on both engines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import ehrkg
from ehrkg.foundation.errors import UsageError

RELATIONS = (
    "MATCH (t:Template)-[:ASSERTS]->(r:Relation) WHERE r.score >= $least RETURN DISTINCT r.id"
)
TEMPLATES = "MATCH (t:Template) WHERE t.task = 'treatment' RETURN t.id"
PLACES = (
    "MATCH (t:Template)-[:AT]->(v:Visit), (t)-[:ANSWER]->(a:Code), (t)-[:ASSERTS]->(r:Relation), "
    "(t)-[:GIVEN]->(c:Code) WHERE t.task = $task "
    "RETURN v.id AS visit, collect(DISTINCT c.id) AS context, a.id AS answer, "
    "r.predicate AS predicate, r.route AS route"
)


@pytest.fixture(scope="module")
def kg(built_demo: Path, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("asked") / "graph.lbug"
    shutil.copy(built_demo / "benchmark" / "graph.lbug", folder)
    with ehrkg.open(folder) as graph:
        yield graph


def test_relations_that_a_query_names_become_all_their_questions(kg) -> None:
    bench = kg.instantiate(query=RELATIONS, least=0.6, formats=["mcq4", "oeq"])
    named = set(kg.query(RELATIONS, least=0.6).column(0).to_pylist())
    assert len(bench)
    assert set(bench.column("relation_id").to_pylist()) <= named
    again = kg.instantiate(**bench.made_by)
    assert again.fingerprint == bench.fingerprint


def test_templates_that_a_query_names_become_their_questions(kg) -> None:
    bench = kg.instantiate(query=TEMPLATES, formats=["oeq"])
    assert set(bench.column("template_id").to_pylist()) == set(
        kg.query(TEMPLATES).column(0).to_pylist()
    )


def test_places_become_questions_with_the_context_that_was_given(kg) -> None:
    asked = kg.query(PLACES, task="diagnosis")
    bench = kg.instantiate(query=PLACES, task="diagnosis", formats=["mcq4", "oeq"])
    wanted = {(row["visit"], row["answer"], frozenset(row["context"])) for row in asked.to_pylist()}
    rows = bench.templates().to_pylist()
    assert len(rows) > len(wanted) / 2
    for row in rows:
        assert (row["visit"], row["answer"][0], frozenset(row["context"])) in wanted
    line = next(entry for entry in kg.ledger if entry.unit == "place")
    assert line.rows_in == asked.num_rows == line.rows_out + sum(line.dropped.values())


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("'nowhere' AS visit, context, answer, predicate", "unknown_visit"),
        ("visit, context + ['ICD10CM:Z99.99'] AS context, answer, predicate", "unknown_code"),
        ("visit, context, answer, 'PREVENTS' AS predicate", "answer_not_recorded"),
        ("visit, [context[1]] AS context, answer, predicate", "context_size"),
        ("visit, context, context[1] AS answer, predicate", "no_relation"),
    ],
)
def test_a_row_that_breaks_a_rule_is_counted_out_under_it(kg, change: str, rule: str) -> None:
    query = (
        "MATCH (t:Template)-[:AT]->(v:Visit), (t)-[:ANSWER]->(a:Code), "
        "(t)-[:ASSERTS]->(r:Relation), (t)-[:GIVEN]->(c:Code) WHERE t.task = 'diagnosis' "
        "WITH v.id AS visit, collect(DISTINCT c.id) AS context, a.id AS answer, "
        f"r.predicate AS predicate ORDER BY visit, answer LIMIT 20 RETURN {change}"
    )
    kg.ledger = type(kg.ledger)()
    bench = kg.instantiate(query=query, formats=["oeq"])
    assert len(bench) < 20
    dropped = kg.ledger.dropped("instantiate", "place")
    assert dropped.get(rule, 0) > 0, dropped


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("MATCH (t:Template) RETURN t.age", "holds"),
        ("MATCH (c:Code) RETURN c.id LIMIT 3", "of no template"),
        ("MATCH (t:Template) WHERE t.task = 'nothing' RETURN t.id", "no id"),
        ("no_such_query", "no query and no file"),
    ],
)
def test_a_query_that_selects_no_question_says_what_to_do(kg, query: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        kg.instantiate(query=query)


def test_parameters_without_a_query_are_refused(kg) -> None:
    with pytest.raises(UsageError, match="ancestor"):
        kg.instantiate(ancestor="DOID:1287")
