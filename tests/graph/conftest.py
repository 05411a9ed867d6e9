"""Graphs to test on."""

from __future__ import annotations

import shutil
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
def full_file(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed graph that holds the whole world; not to be opened, only copied."""
    path = tmp_path_factory.mktemp("full") / "graph.lbug"
    with open_store(path) as opened:
        fill(opened, world)
    return path


@pytest.fixture(scope="session")
def full(full_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    """A graph that holds the whole world; not to be changed."""
    path = tmp_path_factory.mktemp("opened") / "graph.lbug"
    shutil.copy(full_file, path)
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def closed(full_file: Path, tmp_path: Path) -> Path:
    """A closed graph of one's own that holds the whole world."""
    return Path(shutil.copy(full_file, tmp_path / "g.lbug"))


@pytest.fixture
def filled(closed: Path) -> Iterator[GraphStore]:
    """A graph of one's own that holds the whole world."""
    with open_store(closed) as opened:
        yield opened


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed graph that holds nothing; only to be copied."""
    path = tmp_path_factory.mktemp("empty") / "graph.lbug"
    open_store(path).close()
    return path


@pytest.fixture
def store(empty_file: Path, tmp_path: Path) -> Iterator[GraphStore]:
    """An empty graph."""
    with open_store(Path(shutil.copy(empty_file, tmp_path / "g.lbug"))) as opened:
        yield opened
