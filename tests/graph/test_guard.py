"""A query reads the graph and nothing else, whatever is typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from graph_world import HARD

from ehrkg.foundation.errors import UsageError
from ehrkg.graph import guard
from ehrkg.graph.store import GraphStore

LEAKS = [
    "ROLLBACK; CREATE (:Concept {key: 'x'})",
    "COMMIT; MATCH (c:Concept) DETACH DELETE c",
    "MATCH (c:Concept) RETURN c.id; MATCH (c:Concept) DETACH DELETE c",
    "CREATE (:Concept {key: 'x'})",
    "MERGE (:Concept {key: 'x'})",
    "MATCH (c:Concept) SET c.name = 'x'",
    "MATCH (c:Concept) SET c.name = 'x' RETURN c.id",
    "MATCH (c:Concept) DETACH DELETE c",
    "MATCH (c:Concept) WITH c LIMIT 1 CREATE (:Concept {key: c.id + 'x'})",
    "COPY (MATCH (c:Concept) RETURN c.id) TO '{out}/leak.csv'",
    "COPY Concept FROM '/etc/passwd'",
    "LOAD FROM '/etc/passwd' RETURN *",
    "LOAD FROM '/etc/passwd' (file_format='csv', header=false, delim=':') RETURN *",
    "LOAD WITH HEADERS (a STRING) FROM '/etc/passwd' (file_format='csv') RETURN *",
    "MATCH (c:Concept) LOAD FROM '/etc/passwd' (file_format='csv') RETURN *",
    "RETURN 1) TO '{out}/leak.csv'; COPY (RETURN 2",
    "EXPORT DATABASE '{out}/leak'",
    "IMPORT DATABASE '{out}'",
    "INSTALL httpfs",
    "LOAD EXTENSION httpfs",
    "LOAD httpfs",
    "ATTACH '{out}/x.db' AS x (dbtype duckdb)",
    "DETACH x",
    "USE x",
    "CALL threads = 1",
    "CALL file_info() RETURN *",
    "CALL project_graph('g', ['Concept'], ['TREATS'])",
    "CALL clear_warnings()",
    "BEGIN TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "CHECKPOINT",
    "CREATE NODE TABLE Film(id STRING PRIMARY KEY)",
    "DROP TABLE TREATS",
    "ALTER TABLE Concept ADD colour STRING",
    "CREATE MACRO f(x) AS x",
    "CREATE SEQUENCE s",
    "COMMENT ON TABLE Concept IS 'x'",
    "PROFILE MATCH (c:Concept) SET c.name = 'x'",
    "EXPLAIN MATCH (c:Concept) RETURN c.id",
    "",
    ";",
]


DRESSES = ["{}", "  \n\t{} ;", "/* read only */ {}", "// MATCH (c) RETURN c\n{}", "{} // RETURN 1"]


def state(store: GraphStore) -> list[object]:
    """What a leak could have changed."""
    return [
        store.query("CALL show_tables() RETURN name ORDER BY name").to_pylist(),
        store.query("MATCH (c:Concept) RETURN c.id, c.name ORDER BY c.id").to_pylist(),
    ]


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_refused_and_does_nothing(
    embedded: GraphStore, tmp_path: Path, leak: str
) -> None:
    before = state(embedded)
    for dress in DRESSES:
        with pytest.raises(UsageError):
            embedded.query(dress.replace("{}", leak).replace("{out}", str(tmp_path)))
    assert not list(tmp_path.iterdir())
    assert state(embedded) == before


@pytest.mark.parametrize(
    "leak",
    [
        "EXPORT\n/* to */DATABASE '{out}/leak'",
        "load/**/from '/etc/passwd' RETURN *",
        "cOpY (MATCH (c:Concept) RETURN c.id) tO '{out}/leak.csv'",
        "MATCH (c:Concept) WHERE c.name = '\\'' LOAD FROM '/etc/passwd' RETURN *",
        "call\n\nthreads=1",
        "CALL `file_info`() RETURN *",
    ],
)
def test_odd_writing_does_not_help(embedded: GraphStore, tmp_path: Path, leak: str) -> None:
    with pytest.raises(UsageError):
        embedded.query(leak.replace("{out}", str(tmp_path)))
    assert not list(tmp_path.iterdir())


def test_a_refusal_shows_nothing_of_a_file(embedded: GraphStore, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("name,ssn\nAlice,078-05-1120\n")
    with pytest.raises(UsageError) as caught:
        embedded.query(f"LOAD FROM '{secret}' RETURN nosuch")
    assert "078-05" not in str(caught.value)
    assert "ssn" not in str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (c:Concept) RETURN count(*) AS n",
        "  // a comment\n MATCH (c:Concept) /* another; DROP TABLE Code */ "
        "RETURN count(*) AS n ;  ",
        "MATCH (c:Concept) WHERE c.id <> 'LOAD FROM x; CREATE (n)' RETURN count(*) AS n",
        'MATCH (c:Concept) WHERE c.id <> "CALL threads=1" RETURN count(*) AS n // ; bye',
        "OPTIONAL MATCH (c:Concept {id: 'no such'}) RETURN 6 AS n",
        "UNWIND [1, 2, 3, 4, 5, 6] AS x RETURN count(x) AS n",
        "WITH 6 AS n RETURN n",
        "MATCH (c:Concept) WITH collect(c.id) AS ids RETURN size(ids) AS n",
        "MATCH (c:Concept) WHERE EXISTS { MATCH (c)-[:TREATS]->() } RETURN count(*) + 4 AS n",
        "MATCH (a:Concept)-[:SUBCLASS_OF*0..3]->(b:Concept) RETURN count(*) AS n",
        "MATCH (t:Template)-[:ASSERTS]->(r:Relation)-[:BACKED_BY]->(e:Evidence) "
        "RETURN count(e) AS n",
        "RETURN CASE WHEN 1 = 1 THEN 6 ELSE 0 END AS n",
        "RETURN 6 AS n UNION ALL RETURN 7 AS n ",
        "RETURN toInteger('6') AS n",
        "RETURN head([6, 7]) AS n",
    ],
)
def test_what_reads_is_answered(embedded: GraphStore, query: str) -> None:
    assert embedded.query(query).column("n")[0].as_py() == 6


def test_calls_that_describe_the_graph_are_answered(embedded: GraphStore) -> None:
    assert embedded.query("CALL show_tables() RETURN name").num_rows > 40
    assert embedded.query("CALL table_info('Code') RETURN *").num_rows > 10


def test_parameters_are_bound(embedded: GraphStore) -> None:
    query = "MATCH (c:Concept) WHERE c.name = $name RETURN c.id AS id"
    assert embedded.query(query, name=HARD).to_pylist() == [{"id": "MONDO:0002492"}]
    assert embedded.query(query, name="x' OR 1 = 1 //").num_rows == 0
    found = embedded.query(
        "MATCH (c:Code) WHERE c.kind IN $kinds RETURN c.id LIMIT $k",
        kinds=["drug", "procedure"],
        k=1,
    )
    assert found.num_rows == 1
    with pytest.raises(UsageError, match="name"):
        embedded.query(query)


def test_a_mistake_is_shown_with_its_line(embedded: GraphStore) -> None:
    with pytest.raises(UsageError, match="line: 2") as caught:
        embedded.query("MATCH (c:Concept)\nRETURN c.id LIMTI 3")
    assert "LIMTI" in str(caught.value)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("MATCH (c:Disease) RETURN c", "labels"),
        ("MATCH (c:Concept) RETURN c.colour", "properties"),
        ("MATCH p = shortestPath((a:Concept)-[*]->(b:Concept)) RETURN p", "SHORTEST"),
        ("MATCH (c:Concept) RETURN [x IN [1, 2] WHERE x > 1 | x]", "list comprehensions"),
        ("MATCH (c:Concept) CALL { WITH c RETURN 1 AS x } RETURN x", "CALL"),
        ("MATCH (c:Concept) RETURN COUNT { (c)-[:TREATS]->() }", "count()"),
        ("MATCH (c:Concept) RETURN c {.id, .name}", "map projections"),
        ("RETURN datetime('2020-01-01')", "timestamp"),
    ],
)
def test_a_hint_says_what_to_write_instead(embedded: GraphStore, query: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        embedded.query(query)
    assert hint in caught.value.todo


def test_a_query_that_fails_leaves_the_store_usable(embedded: GraphStore) -> None:
    for query in ("MATCH (c:Nothing) RETURN c", "RETURN error('stop')", "RETURN 1 / 0"):
        with pytest.raises(UsageError):
            embedded.query(query)
        assert embedded.query("RETURN 1 AS one").to_pylist() == [{"one": 1}]


def test_rules_name_operators_that_the_engine_draws(embedded: GraphStore) -> None:
    plan = embedded._session.plan("MATCH (c:Concept) RETURN c.id", {})  # type: ignore[attr-defined]
    assert guard.operators(plan) == {"PROJECTION", "SCAN_NODE_TABLE"}
