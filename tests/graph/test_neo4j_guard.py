"""On a real server a query reads the graph and nothing else, whatever is typed."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from graph_world import HARD
from neo4j_server import Server

from ehrkg.foundation.errors import UsageError
from ehrkg.graph import neo4j_guard
from ehrkg.graph.store import GraphStore

SECRET = "078-05-1120"

WRITES = [
    "CREATE (:Concept {id: 'x'})",
    "MERGE (:Concept {id: 'x'})",
    "MATCH (c:Concept) SET c.name = 'x'",
    "MATCH (c:Concept) SET c.name = 'x' RETURN c.id",
    "MATCH (c:Concept) REMOVE c.name",
    "MATCH (c:Concept) SET c:Film",
    "MATCH (c:Concept) DETACH DELETE c",
    "MATCH ()-[r]->() DELETE r",
    "FOREACH (x IN [1] | CREATE (:Concept {id: 'x'}))",
    "MATCH (c:Concept) WITH c LIMIT 1 CREATE (:Concept {id: c.id + 'x'})",
    "MATCH (c:Concept) CALL (c) { DETACH DELETE c } IN TRANSACTIONS OF 10 ROWS",
    "UNWIND [1] AS x CALL (x) { RETURN x AS y } IN TRANSACTIONS RETURN y",
]
SCHEMA = [
    "CREATE INDEX leak FOR (n:Concept) ON (n.name)",
    "CREATE CONSTRAINT leak FOR (n:Concept) REQUIRE n.name IS UNIQUE",
    "DROP CONSTRAINT ehrkg_Concept_key",
    "CREATE DATABASE leak",
    "CREATE USER leak SET PASSWORD 'leak-leak-1'",
    "ALTER CURRENT USER SET PASSWORD FROM 'a-word-for-tests' TO 'leak-leak-1'",
    "SHOW USERS",
    "SHOW DATABASES",
    "SHOW SETTINGS",
    "SHOW TRANSACTIONS",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "USE system SHOW USERS",
]
CALLS = [
    "CALL dbms.listConfig()",
    "CALL dbms.listConfig() YIELD name, value RETURN name, value",
    "CALL `dbms`.`listConfig`()",
    "OPTIONAL CALL dbms.listConfig() YIELD name RETURN name",
    "MATCH (c:Concept) CALL { WITH c CALL dbms.listConfig() YIELD name RETURN name } RETURN name",
    "RETURN EXISTS { CALL dbms.listConfig() YIELD name RETURN name } AS x",
    "RETURN CASE WHEN 1 = 1 THEN COUNT { CALL dbms.listConfig() YIELD name RETURN name } END AS x",
    "CALL db.createLabel('Leak')",
    "CALL db.clearQueryCaches()",
    "CALL db.awaitIndexes(1)",
    "CALL dbms.setConfigValue('dbms.logs.query.enabled', 'OFF')",
    "CALL dbms.killConnection('bolt-1')",
]
READS_OUTSIDE = [
    "LOAD CSV FROM '{where}' AS l RETURN l",
    "LOAD CSV WITH HEADERS FROM '{where}' AS l RETURN l",
    "MATCH (c:Concept) LOAD CSV FROM '{where}' AS l RETURN l",
    "CALL () { LOAD CSV FROM '{where}' AS l RETURN l } RETURN l",
    "RETURN COUNT { LOAD CSV FROM '{where}' AS l RETURN l } AS n",
    "RETURN [x IN [1] WHERE EXISTS { LOAD CSV FROM '{where}' AS l RETURN l } | x] AS n",
    "MATCH (c:Concept) RETURN COLLECT { LOAD CSV FROM '{where}' AS l RETURN l } AS n",
    "RETURN reduce(s = 0, x IN [1] | s + COUNT { LOAD CSV FROM '{where}' AS l RETURN l }) AS n",
    "RETURN 1 AS n LIMIT COUNT { LOAD CSV FROM '{where}' AS l RETURN l }",
    "MATCH p = (:Concept)-[*1..2]->(:Concept) WHERE all(x IN nodes(p) WHERE "
    "EXISTS { LOAD CSV FROM '{where}' AS l RETURN l }) RETURN 1 AS n",
    "PROFILE LOAD CSV FROM '{where}' AS l RETURN l",
    "CYPHER runtime = slotted LOAD CSV FROM '{where}' AS l RETURN l",
    "load/* x */csv from '{where}' AS l RETURN l",
    "\\u004cOAD CSV FROM '{where}' AS l RETURN l",
]
SEVERAL = [
    "MATCH (c:Concept) RETURN c.id; MATCH (c:Concept) DETACH DELETE c",
    "RETURN 1; RETURN 2",
    "COMMIT",
    "ROLLBACK",
    "BEGIN",
    ":use system",
    "",
    ";",
    "EXPLAIN MATCH (c:Concept) RETURN c.id",
    "PROFILE MATCH (c:Concept) RETURN c.id",
]

DRESSES = ["{}", "/* read only */ \n\t{} ;", "// MATCH (c) RETURN c\n{} // RETURN 1"]


@pytest.fixture(scope="session")
def listener() -> Iterator[socket.socket]:
    """An address that a leak would knock at."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0)
        yield listening


def state(store: GraphStore) -> list[object]:
    """What a leak could have changed."""
    return [
        store.query("MATCH (c:Concept) RETURN c.id, c.name ORDER BY c.id").to_pylist(),
        store.query("SHOW INDEXES YIELD name RETURN name ORDER BY name").to_pylist(),
        store.query("MATCH (n) RETURN labels(n) AS l, count(*) AS n ORDER BY l").to_pylist(),
    ]


@pytest.mark.parametrize(
    "leaks", [WRITES, SCHEMA, CALLS, SEVERAL], ids=["writes", "schema", "calls", "several"]
)
def test_a_leak_is_refused_and_does_nothing(served: GraphStore, leaks: list[str]) -> None:
    before = state(served)
    for leak in leaks:
        for dress in DRESSES:
            with pytest.raises(UsageError):
                served.query(dress.replace("{}", leak))
    assert state(served) == before


@pytest.mark.parametrize("leak", READS_OUTSIDE)
def test_no_file_and_no_address_is_opened(
    served: GraphStore, server: Server, listener: socket.socket, leak: str
) -> None:
    (server.home / "secret.csv").write_text(f"Alice,{SECRET}\n")
    port = listener.getsockname()[1]
    for where in (f"file://{server.home}/secret.csv", f"http://127.0.0.1:{port}/x.csv"):
        for dress in DRESSES[:2]:
            with pytest.raises(UsageError) as caught:
                served.query(dress.replace("{}", leak).replace("{where}", where))
            assert SECRET not in str(caught.value)
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_the_leaks_would_leak_without_the_guard(served: GraphStore, server: Server) -> None:
    """The session is in READ mode all the same: that alone lets files through."""
    (server.home / "secret.csv").write_text(f"Alice,{SECRET}\n")
    found = served._session.read(  # type: ignore[attr-defined]
        f"LOAD CSV FROM 'file://{server.home}/secret.csv' AS l RETURN l[1]"
    )
    assert found == [[SECRET]]


def test_the_planner_tells_what_an_expression_hides(served: GraphStore) -> None:
    plan = served._session.plan(  # type: ignore[attr-defined]
        "RETURN [x IN range(1, 9) WHERE x > 1 "
        + "AND x <> 3 " * 60
        + "AND EXISTS { LOAD CSV FROM 'file:///x' AS l RETURN l } | x] AS n",
        {},
    )
    ((name, details),) = [one for one in plan.operators if one[0] == "Projection"]
    with pytest.raises(UsageError, match="within an expression"):
        neo4j_guard._check_operator(name, details)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (c:Concept) WHERE c.build = 'world' RETURN count(*) AS n",
        "  // a comment\n MATCH (c:Concept {build: 'world'}) /* LOAD CSV */ RETURN count(*) AS n;",
        "MATCH (c:Concept) WHERE c.build = 'world' AND c.id <> 'LOAD CSV FROM x; CREATE (n)' "
        "RETURN count(*) AS n",
        "OPTIONAL MATCH (c:Concept {id: 'no such'}) RETURN 6 AS n",
        "UNWIND [1, 2, 3, 4, 5, 6] AS x RETURN count(x) AS n",
        "MATCH (c:Concept {build: 'world'}) WITH collect(c.id) AS ids RETURN size(ids) AS n",
        "MATCH (c:Concept {build: 'world'}) WHERE EXISTS { MATCH (c)-[:TREATS]->() } "
        "RETURN count(*) + 4 AS n",
        "MATCH (a:Concept {build: 'world'})-[:SUBCLASS_OF*0..3]->(b:Concept) RETURN count(*) AS n",
        "MATCH (:Template {build: 'world'})-[:ASSERTS]->(:Relation)-[:BACKED_BY]->(e:Evidence) "
        "RETURN count(e) AS n",
        "RETURN 6 AS n UNION ALL RETURN 7 AS n ",
        "RETURN toInteger('6') AS n",
        "RETURN head([6, 7]) AS n",
        "MATCH (c:Concept {build: 'world'}) CALL (c) { RETURN 1 AS x } RETURN sum(x) AS n",
        "MATCH p = shortestPath((a:Visit {build: 'world', id: 'v1'})-[*..3]-(b:Visit {id: 'v2'})) "
        "RETURN 5 + length(p) AS n",
        "CALL db.labels() YIELD label WITH count(*) AS labels RETURN 6 AS n",
        "CYPHER runtime = slotted RETURN 6 AS n",
        "MATCH (c:Concept {build: 'world'}) RETURN count { (c)-[:TREATS]->() } + 6 AS n ORDER BY n",
    ],
)
def test_what_reads_is_answered(served: GraphStore, query: str) -> None:
    assert served.query(query).column("n")[0].as_py() == 6


def test_parameters_are_bound(served: GraphStore) -> None:
    query = "MATCH (c:Concept {build: 'world'}) WHERE c.name = $name RETURN c.id AS id"
    assert served.query(query, name=HARD).to_pylist() == [{"id": "MONDO:0002492"}]
    assert served.query(query, name="x' OR 1 = 1 //").num_rows == 0
    with pytest.raises(UsageError, match="name") as caught:
        served.query(query)
    assert "kg.query" in caught.value.todo


def test_a_mistake_is_shown_with_its_line_and_place(served: GraphStore) -> None:
    with pytest.raises(UsageError, match="line 2") as caught:
        served.query("MATCH (c:Concept)\nRETURN c.id LIMTI 3")
    assert "LIMTI" in str(caught.value)
    with pytest.raises(UsageError, match=r"line 1, column 19 \(offset: 18\)") as caught:
        served.query("MATCH (c:Concept) RETRUN c.id")
    assert '\n"MATCH (c:Concept) RETRUN c.id"\n                   ^' in str(caught.value)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("RETURN string_split('a b', ' ')", "split()"),
        ("RETURN nosuch(1)", "SHOW FUNCTIONS"),
        ("RETURN CAST(1 AS STRING)", "toInteger"),
        ("MATCH (a)-[r* SHORTEST 1..4]->(b) RETURN r", "shortestPath"),
        ("CALL show_tables() RETURN name", "db.labels"),
        ("RETURN c.id", "MATCH"),
    ],
)
def test_a_hint_says_what_to_write_instead(served: GraphStore, query: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        served.query(query)
    assert hint in caught.value.todo


def test_a_query_that_fails_leaves_the_store_usable(served: GraphStore) -> None:
    for query in ("RETURN 1 / 0 AS x", "RETURN toInteger([1])", "MATCH (c:Concept RETURN c"):
        with pytest.raises(UsageError):
            served.query(query)
        assert served.query("RETURN 1 AS one").to_pylist() == [{"one": 1}]


def test_answers_of_any_kind_become_tables(served: GraphStore) -> None:
    found = served.query(
        "MATCH (v:Visit {id: 'v1', build: 'world'})-[r:DIAGNOSED]->(c:Code) "
        "RETURN c, r, [1, 2] AS l, {a: 1} AS m, date('2020-01-31') AS d, 1.5 AS f, "
        "localdatetime('2020-01-31T01:02:03') AS t, duration('P1D') AS p, null AS nothing"
    )
    row = found.to_pylist()[0]
    assert row["c"]["_LABEL"] == "Code"
    assert row["c"]["id"] == "ICD10CM:I50.23"
    assert "ehrkg_key" not in row["c"]
    assert row["r"]["row"] == 7
    assert [str(found.schema.field(n).type) for n in ("l", "d", "f", "t", "p", "nothing")] == [
        "list<item: int64>",
        "date32[day]",
        "double",
        "timestamp[us]",
        "string",
        "null",
    ]
    mixed = served.query("UNWIND [1, 'a'] AS x RETURN x")
    assert mixed.column("x").to_pylist() == ["1", '"a"']
    assert served.query("MATCH (v:Visit {id: 'none'}) RETURN v.id AS a, v.age AS b").num_rows == 0


class Planner:
    """A planner that tells nothing of an expression, on a server with a plugin."""

    def plan(self, text: str, parameters: Mapping[str, Any]) -> neo4j_guard.Plan:
        return neo4j_guard.Plan("r", [("ProduceResults", "n")])

    def plugin_functions(self) -> list[str]:
        return ["apoc.util.sha1", "custom.fetch"]


@pytest.mark.parametrize(
    "query",
    [
        "RETURN custom.fetch('http://x') AS n",
        "RETURN Custom . `fetch` /* x */ ('x') AS n",
        "MATCH (c) WHERE all(x IN [1] WHERE custom.fetch(x) = 1) RETURN 1 AS n",
        "RETURN \\u0063ustom.fetch(1) AS n",
        "RETURN `custom.fetch`(1) AS n",
        "RETURN CUSTOM\n.\nFETCH (1) AS n",
        "RETURN apoc.util.sha1(['x']) AS n",
    ],
)
def test_a_plugins_function_is_refused_by_the_statements_words(query: str) -> None:
    with pytest.raises(UsageError, match="plugin"):
        neo4j_guard.judge(query, Planner(), {})


@pytest.mark.parametrize(
    "query",
    [
        "RETURN 'custom.fetch(1)' AS n",
        "RETURN 1 AS n // custom.fetch(1)",
        "RETURN size([1]) AS n",
        "MATCH (custom) RETURN custom.fetch AS n",
        "RETURN fetch(1) AS n",
    ],
)
def test_words_that_call_no_plugin_pass(query: str) -> None:
    assert neo4j_guard.judge(query, Planner(), {}) == query
