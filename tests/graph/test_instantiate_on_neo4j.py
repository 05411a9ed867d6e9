"""Questions out of a query: the same from a graph on a server as from one in a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from neo4j_server import Server

import ehrkg
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.graph.store import open_store
from tests.benchmark.worlds import many_pairs
from tests.session.test_instantiate_by_query import PLACES, RELATIONS, TEMPLATES, told

BUILD = "questions"


def test_a_query_gives_the_same_questions_on_both_engines(server: Server, tmp_path: Path) -> None:
    world = many_pairs(10, 12)
    asked = [(RELATIONS, {"least": "ICD10CM:A04.1"}), (TEMPLATES, {}), (PLACES, {})]
    unknown = "MATCH (r:Relation) RETURN 'r0000000000000000'"
    with (
        ehrkg.open(tmp_path / "graph.lbug") as here,
        ehrkg.open(f"{server.address}#{BUILD}", auth=server.auth) as there,
    ):
        try:
            for graph in (here, there):
                told(graph, world)
            for query, parameters in asked:
                benches, dropped = [], []
                for graph in (here, there):
                    graph.ledger = Ledger()
                    formats = ["mcq4", "oeq"]
                    benches.append(graph.instantiate(query=query, formats=formats, **parameters))
                    dropped.append(list(graph.ledger))
                assert len(benches[0])
                assert benches[0].to_arrow().equals(benches[1].to_arrow())
                assert benches[0].templates().equals(benches[1].templates())
                assert benches[0].fingerprint == benches[1].fingerprint
                assert benches[0].made_by == benches[1].made_by
                assert dropped[0] == dropped[1]
            for graph in (here, there):
                with pytest.raises(UsageError):
                    graph.instantiate(query=unknown)
        finally:
            with open_store(server.address, build=BUILD, auth=server.auth) as store:
                store.drop_build(BUILD)
