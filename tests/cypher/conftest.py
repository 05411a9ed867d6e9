"""Stores for the named queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cypher_world import Plot, sound

from ehrkg.graph.store import GraphStore, open_store

Write = Callable[[str, Plot], GraphStore]
"""Writes a plot as a build of its own beside all others, and gives the store that asks it."""


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
