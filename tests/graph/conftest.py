"""Graphs to test on: in a file, and on a real server."""

from __future__ import annotations

import shlex
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from graph_world import World, add_odd, fill, hospital, knowledge, links, templates, verified
from neo4j_server import NotHereError, Server

from ehrkg.graph.export import export_for_neo4j_admin
from ehrkg.graph.store import GraphStore, open_store


@pytest.fixture(scope="session")
def world() -> World:
    relations, evidence = verified()
    return World(hospital(), knowledge(), links(), relations, evidence, templates())


# -- a server ------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def odd_file(tmp_path_factory: pytest.TempPathFactory, world: World) -> Path:
    """A closed graph whose build "odd" holds the world and what a format in between would lose."""
    path = tmp_path_factory.mktemp("odd") / "graph.lbug"
    with open_store(path, build="odd") as opened:
        fill(opened, world)
        add_odd(opened)
    with open_store(path, build="world") as opened:
        fill(opened, world)
    return path


@pytest.fixture(scope="session")
def import_line(odd_file: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words of a line for neo4j-admin that loads the builds "world" and "odd"."""
    words: list[str] = []
    for build in ("world", "odd"):
        with open_store(odd_file, build=build, read_only=True) as opened:
            folder = tmp_path_factory.mktemp("files") / build
            line = shlex.split(export_for_neo4j_admin(opened, folder))
        words += [word for word in line if word not in words]
    return words


@pytest.fixture(scope="session")
def server(
    tmp_path_factory: pytest.TempPathFactory,
    not_here: Callable[[str], NoReturn],
    import_line: list[str],
) -> Iterator[Server]:
    """A running Neo4j server, loaded by neo4j-admin; one for all tests."""
    try:
        made = Server(tmp_path_factory.mktemp("neo4j"))
    except NotHereError as error:
        not_here(str(error))
    try:
        made.admin(*import_line[1:])
        made.start()
        yield made
    finally:
        made.kill()


def on_server(server: Server, build: str, *, read_only: bool = False) -> GraphStore:
    return open_store(server.address, build=build, auth=server.auth, read_only=read_only)


# -- a graph that holds the whole world ----------------------------------------------------


@pytest.fixture(scope="session")
def full_file(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed graph that holds the whole world; not to be opened, only copied."""
    path = tmp_path_factory.mktemp("full") / "graph.lbug"
    with open_store(path) as opened:
        fill(opened, world)
    return path


@pytest.fixture(scope="session")
def embedded(full_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    """The whole world in a file; not to be changed."""
    path = tmp_path_factory.mktemp("opened") / "graph.lbug"
    shutil.copy(full_file, path)
    with open_store(path) as opened:
        yield opened


@pytest.fixture(scope="session")
def served(server: Server) -> Iterator[GraphStore]:
    """The whole world on the server; not to be changed."""
    with on_server(server, "world") as opened:
        yield opened


@pytest.fixture(scope="session", params=["ladybug", "neo4j"])
def full(request: pytest.FixtureRequest) -> GraphStore:
    """The whole world on either engine; not to be changed."""
    found: GraphStore = request.getfixturevalue(
        "embedded" if request.param == "ladybug" else "served"
    )
    return found


# -- graphs of one's own -------------------------------------------------------------------


@pytest.fixture(params=["ladybug", "neo4j"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine; a test that asks for it runs on both."""
    return str(request.param)


@pytest.fixture
def closed(full_file: Path, tmp_path: Path) -> Path:
    """A closed file of one's own that holds the whole world."""
    return Path(shutil.copy(full_file, tmp_path / "g.lbug"))


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed graph that holds nothing; only to be copied."""
    path = tmp_path_factory.mktemp("empty") / "graph.lbug"
    open_store(path).close()
    return path


@pytest.fixture
def embedded_store(empty_file: Path, tmp_path: Path) -> Iterator[GraphStore]:
    """An empty graph in a file."""
    with open_store(Path(shutil.copy(empty_file, tmp_path / "g.lbug"))) as opened:
        yield opened


@pytest.fixture
def served_store(server: Server) -> Iterator[GraphStore]:
    """An empty build on the server, dropped afterwards."""
    with on_server(server, uuid.uuid4().hex) as opened:
        yield opened
        opened.drop_build(opened.build)


@pytest.fixture
def store(engine: str, request: pytest.FixtureRequest) -> GraphStore:
    """An empty graph on either engine."""
    found: GraphStore = request.getfixturevalue(
        "embedded_store" if engine == "ladybug" else "served_store"
    )
    return found


@pytest.fixture
def filled(engine: str, request: pytest.FixtureRequest, world: World) -> Iterator[GraphStore]:
    """A graph of one's own that holds the whole world, on either engine."""
    if engine == "ladybug":
        with open_store(request.getfixturevalue("closed")) as opened:
            yield opened
    else:
        opened = request.getfixturevalue("served_store")
        fill(opened, world)
        yield opened


@pytest.fixture
def another(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[str], GraphStore]]:
    """Opens a build on either engine; all are closed, and those on the server dropped."""
    opened = []

    def open_build(build: str) -> GraphStore:
        if engine == "ladybug":
            opened.append(open_store(tmp_path / "another.lbug", build=build))
        else:
            opened.append(on_server(request.getfixturevalue("server"), build))
        return opened[-1]

    yield open_build
    for one in opened:
        if engine == "neo4j":
            one.drop_build(one.build)
        one.close()
