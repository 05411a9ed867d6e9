"""The example that moves a graph to a server: the same hash there, and the same answers."""

from __future__ import annotations

import runpy
from pathlib import Path

from neo4j_server import Server

from ehrkg.graph.store import open_store


def test_the_example_gives_the_same_graph_and_the_same_answers(
    root: Path, closed: Path, server: Server
) -> None:
    example = runpy.run_path(str(root / "examples" / "moving_to_neo4j.py"))
    try:
        hashes = example["move"](closed, server.address, server.auth)
        here, there = example["ask"](closed), example["ask"](server.address, server.auth)
    finally:
        with open_store(server.address, auth=server.auth) as store:
            store.drop_build("default")
    assert hashes["file"] == hashes["server"]
    assert here.keys() == there.keys()
    for name, table in here.items():
        assert table.num_rows > 0, name
        assert there[name].to_pylist() == table.to_pylist(), name
