"""The linter finds what differs between the engines, at its place, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.graph.lint import lint

BAD = [
    ("MATCH (c:Code)-[m:MAPS_TO]->(k:Concept) RETURN type(m) AS kind", "type()", 48),
    ("MATCH (t:Template) RETURN [x IN t.flags | x] AS f", "list comprehensions", 27),
    ("MATCH (t:Template) RETURN [x IN t.flags WHERE x <> 'a'] AS f", "list comprehensions", 27),
    ("MATCH (c:Code) RETURN [(c)-[:MAPS_TO]->(k) | k.id] AS f", "pattern comprehensions", 23),
    (
        "MATCH p = shortestPath((a:Concept)-[:CAUSES*..3]->(b:Concept)) RETURN length(p) AS n",
        "shortestPath()",
        11,
    ),
    ("MATCH (c:Code) CALL { WITH c RETURN 1 AS one } RETURN one", "CALL { … }", 16),
    ("CALL db.labels() YIELD label RETURN label AS x", "procedures differ", 1),
    ("MATCH (c:Code) WHERE COUNT { (c)-[:MAPS_TO]->() } > 1 RETURN c.id AS x", "COUNT { … }", 22),
    ("MATCH (c:Code) RETURN c {.id, .name} AS x", "map projections", 23),
    ("MATCH (c:Code) RETURN head(c.ccsr) AS x", "head()", 23),
    ("MATCH (c:Code) RETURN SPLIT(c.id, ':') AS x", "split()", 23),
    ("MATCH (v:Visit) RETURN toInteger(v.id) AS x", "toInteger()", 24),
    ("MATCH (v:Visit) RETURN toFloat(v.age) AS x", "toFloat()", 24),
    ("MATCH (v:Visit) WHERE v.admitted > datetime() RETURN v.id AS x", "datetime()", 36),
    ("MATCH (c:Code) RETURN c.ccsr[0] AS x", "lists count from 0", 29),
    ("MATCH (c:Code) RETURN c.ccsr[..2] AS x", "lists count from 0", 29),
    ("MATCH (c:Code) RETURN substring(c.id, 0, 3) AS x", "substring()", 23),
    ("MATCH (c:Code) WHERE $p IS NULL OR c.id = $p RETURN c.id AS x", "null parameter", 22),
    ("MATCH (c:Cod) RETURN c.id AS x", "no label Cod", 10),
    ("MATCH (c:Code)-[:MEANS]->(k:Concept) RETURN k.id AS x", "no type MEANS", 18),
    ("MATCH (c:Code) RETURN c.nam AS x", "Code has no property nam", 25),
    ("MATCH (c:Code {nam: 'x'}) RETURN c.id AS x", "Code has no property nam", 16),
    ("MATCH ()-[s:CAUSES]->() RETURN s.lift AS x", "CAUSES has no property lift", 34),
    ("MATCH (c:Code) RETURN c.id AS end", "end is a word", 31),
    ("MATCH (c:Code) WHERE c.id = $group RETURN c.id AS x", "group is a word", 29),
    ("MATCH (c:Code) RETURN c.index AS x", "index is a word", 25),
    ("MATCH (a:Concept)-[:CAUSES*]->(b:Concept) RETURN b.id AS x", "without a bound", 27),
    ("MATCH (a:Concept)-[:CAUSES*2..]->(b:Concept) RETURN b.id AS x", "without a bound", 27),
    ("MATCH (a:Concept)-[:CAUSES*1..40]->(b:Concept) RETURN b.id AS x", "without a bound", 27),
    (
        "MATCH (v:Visit)<-[:HAS_VISIT]-(p:Patient)-[:HAS_VISIT]->(w:Visit) RETURN w.id AS x",
        "never takes one edge twice",
        43,
    ),
    ("MATCH (c:Code)<-[:MAPS_TO]-(k:Concept) RETURN k.id AS x", "joins no such nodes", 17),
    ("MATCH (c:Code:Concept) RETURN c.id AS x", "several labels", 7),
    ("MATCH (c:Code) RETURN c.id AS c ORDER BY c", "hides the variable c", 31),
    ("MATCH (c:Code) RETURN labels(c) AS x", "labels()", 23),
    ("MATCH (v:Visit) RETURN toString(v.age) AS x", "toString()", 24),
    ("MATCH (v:Visit) RETURN round(1.5) AS x", "two arguments", 24),
    ("MATCH (c:Code) WHERE c.id STARTS WITH $a + ':' RETURN c.id AS x", "looser", 27),
    ("MATCH (c:Code) WHERE c.name =~ 'a.*' RETURN c.id AS x", "regular expressions", 29),
    ("MATCH (c:Code) RETURN apoc.text.join(c.ccsr, ',') AS x", "extension", 33),
    ("MATCH (c:Code) RETURN sha256(c.id) AS x", "not known to be the same", 23),
    ("MATCH (c:Code) SET c.name = 'x' RETURN c.id AS x", "SET", 16),
    ("LOAD CSV FROM 'file:///x' AS line RETURN line AS x", "LOAD", 1),
    ("MATCH (c:Code) RETURN c.id AS x; MATCH (v:Visit) RETURN v.id AS x", "one statement", 32),
    (
        "MATCH (c:Code) RETURN DISTINCT c.id AS x, c.id AS y UNION ALL MATCH (k:Concept) "
        "RETURN k.id AS x, k.name AS y",
        "one expression twice",
        43,
    ),
]


@pytest.mark.parametrize(("text", "said", "column"), BAD, ids=[said for _, said, _ in BAD])
def test_what_differs_is_found_where_it_stands(text: str, said: str, column: int) -> None:
    found = lint(text)
    assert any(said in one.message and one.column == column for one in found), found
    assert all(one.line == 1 and one.hint for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (c:Code) WITH collect(DISTINCT c) AS held UNWIND held AS k "
        "MATCH (k)-[:MAPS_TO]->(n:Concept) RETURN n.id AS x",
        "// head(x), type(r), CALL { }\nMATCH (c:Code) /* [x IN y | z] */ RETURN c.id AS code",
        'MATCH (c:Code) WHERE c.name = "split(a)[0] ; type(r)" RETURN c.id AS code',
        "MATCH (c:Code) WHERE c.name = 'O\\'Brien; head(x)' RETURN c.id AS code;",
        "MATCH (c:Code) WHERE c.kind IN ['drug', 'x'] AND any(x IN c.ccsr WHERE x = 'a') "
        "RETURN c.id AS code",
        "UNWIND [1, 2] AS head WITH head WHERE (head - 1) * 2 > 0 RETURN head AS one",
        "MATCH (a:Concept)-[s:TREATS|CAUSES]->(b:Concept) MATCH (b)-[:CAUSES]->(c:Concept) "
        "WHERE NOT s.negated RETURN a.id AS a_id, s.source AS source, count(*) AS n",
        "MATCH (r:Relation)-[:HEAD|TAIL]->(c:Code|Concept) RETURN c.id AS other, c.name AS name",
        "MATCH (a:Concept)-[:SUBCLASS_OF*0..3]->(b:Concept) RETURN DISTINCT b.id AS id",
        "MATCH (r:Relation) RETURN round(avg(r.score), 4) AS score, sum(r.n_path) AS paths",
        "MATCH (c:`Code`) WHERE EXISTS { MATCH (c)-[:MAPS_TO]->(:Concept) } RETURN c.`id` AS code",
        "MATCH (v:Visit) WITH v.patient AS patient, count(v) AS visits WHERE visits > 1 "
        "RETURN patient, visits ORDER BY visits DESC, patient LIMIT $limit",
    ],
)
def test_what_both_share_is_let_through(text: str) -> None:
    assert lint(text) == []


def test_places_count_lines_and_letters() -> None:
    found = lint("// title: mine\nMATCH (c:Code)\nRETURN 'ä' AS x,\n       head(c.ccsr) AS y")
    assert [(one.line, one.column) for one in found] == [(4, 8)]


PIECES = [
    "MATCH",
    "RETURN",
    "WITH",
    "UNION",
    "DISTINCT",
    "CALL",
    "COUNT",
    "AS",
    "c",
    "Code",
    "MAPS_TO",
    "$p",
    "'x'",
    "'",
    "`",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "-",
    "<",
    ">",
    ":",
    "|",
    "*",
    ".",
    "..",
    ",",
    "1",
    "=~",
    ";",
    "+",
    "//",
    "/*",
    "\n",
]


@given(st.lists(st.sampled_from(PIECES)))
@settings(max_examples=150, deadline=None)
def test_text_that_is_no_cypher_does_no_harm(words: list[str]) -> None:
    for text in (" ".join(words), "".join(words)):
        assert all(one.line >= 1 and one.column >= 1 for one in lint(text))


def test_the_command_line_says_where_and_what(tmp_path: Path) -> None:
    file = tmp_path / "mine.cypher"

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from ehrkg.cli import main; main()", "audit", "--lint", file],
            capture_output=True,
            text=True,
            check=False,
        )

    file.write_text("MATCH (c:Code)\nRETURN head(c.ccsr) AS x\n")
    done = run()
    assert done.returncode == 1
    assert done.stdout.startswith(f"{file}:2:8: ")
    file.write_text("MATCH (c:Code) RETURN c.id AS x\n")
    assert (run().returncode, run().stdout) == (0, "")
