"""Questions out of a query: the same from a graph on a server as from one in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from neo4j_server import Server

import ehrkg
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.graph.store import open_store
from tests.benchmark.worlds import many_pairs
from tests.session.test_instantiate_by_query import PLACES, told

BUILD = "questions"
EVERY = "MATCH (r:Relation) RETURN r.id"
OURS = "WHERE {}.build = $build"
"""A server may hold several builds: a query that does not say which finds those of others."""
ASKED = (
    f"MATCH (r:Relation) {OURS.format('r')} AND r.head >= $least RETURN r.id",
    f"MATCH (t:Template) {OURS.format('t')} AND t.sex = 'F' RETURN t.id",
    PLACES.replace("WITH v.id", f"{OURS.format('t')} WITH v.id", 1),
)


def test_a_query_gives_the_same_questions_on_both_engines(server: Server, tmp_path: Path) -> None:
    world = many_pairs(10, 12)
    with (
        ehrkg.open(tmp_path / "graph.lbug") as here,
        ehrkg.open(f"{server.address}#{BUILD}", auth=server.auth) as there,
    ):
        try:
            for graph in (here, there):
                told(graph, world)
            for query in ASKED:
                least: dict[str, Any] = {"least": "ICD10CM:A04.1"} if "$least" in query else {}
                benches, dropped = [], []
                for graph in (here, there):
                    graph.ledger = Ledger()
                    formats = ["mcq4", "oeq"]
                    benches.append(graph.instantiate(query=query, formats=formats, **least))
                    dropped.append(list(graph.ledger))
                assert len(benches[0])
                assert benches[0].to_arrow().equals(benches[1].to_arrow())
                assert benches[0].templates().equals(benches[1].templates())
                assert benches[0].fingerprint == benches[1].fingerprint
                assert benches[0].made_by == benches[1].made_by
                assert dropped[0] == dropped[1]
            assert there.query(EVERY).num_rows > here.query(EVERY).num_rows
            with pytest.raises(UsageError, match=r"WHERE t.build = \$build"):
                there.instantiate(query=EVERY)
        finally:
            with open_store(server.address, build=BUILD, auth=server.auth) as store:
                store.drop_build(BUILD)
