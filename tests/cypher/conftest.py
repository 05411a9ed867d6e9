"""Stores for the named queries."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ehrkg.graph.store import GraphStore, open_store
from tests.cypher.cypher_world import Plot, Write, sound


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Write]:
    """One embedded graph for all tests, a build each."""
    path = tmp_path_factory.mktemp("queries") / "graph.lbug"
    held: dict[str, GraphStore] = {}

    def of(build: str, plot: Plot) -> GraphStore:
        if build not in held:
            held[build] = open_store(path, build=build)
            plot.write(held[build])
        return held[build]

    yield of
    for store in held.values():
        store.close()


@pytest.fixture(scope="session")
def sound_store(write: Write) -> GraphStore:
    """The sound graph."""
    return write("sound", sound())
