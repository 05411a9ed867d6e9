"""Graphs to test on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from graph_world import World, fill, hospital, knowledge, links, templates, verified

from ehrkg.graph.store import GraphStore, open_store


@pytest.fixture(scope="session")
def world() -> World:
    relations, evidence = verified()
    return World(hospital(), knowledge(), links(), relations, evidence, templates())


@pytest.fixture(scope="session")
def full(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    """A graph that holds the whole world; not to be changed."""
    with open_store(tmp_path_factory.mktemp("full") / "graph.lbug") as store:
        fill(store, world)
        yield store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GraphStore]:
    """An empty graph."""
    with open_store(tmp_path / "graph.lbug") as opened:
        yield opened
