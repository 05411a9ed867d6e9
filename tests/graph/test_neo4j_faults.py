"""What happens to servers happens: each fault gives a clear word or heals, and no row is lost."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest
from neo4j_server import PASSWORD, Server

from ehrkg.foundation.errors import InputError, ServiceError, UsageError
from ehrkg.graph import neo4j_session, neo4j_values
from ehrkg.graph.store import GraphStore, open_store

IDS = [f"c{n}" for n in range(5_000)]
EDGES = pa.table({"from": IDS, "to": IDS[::-1], "id": IDS})


@pytest.fixture
def driver(server: Server) -> Iterator[object]:
    """The bare driver, as somebody else would use it."""
    import neo4j

    with neo4j.GraphDatabase.driver(server.address, auth=server.auth) as opened:
        yield opened


def test_a_server_that_is_not_there_is_a_missing_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", PASSWORD)
    with pytest.raises(ServiceError, match=r"no Neo4j answers at bolt://127\.0\.0\.1:9") as caught:
        open_store("bolt://127.0.0.1:9")
    assert caught.value.exit_code == 4
    assert PASSWORD not in str(caught.value)


def test_a_wrong_password_is_a_refusal_that_repeats_no_password(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ServiceError, match="refuses this user and password") as caught:
        open_store(server.address, auth=("neo4j", "not-the-password"))
    assert caught.value.exit_code == 4
    assert "NEO4J_PASSWORD" in caught.value.todo
    for text in (str(caught.value), repr(caught.value), caplog.text):
        assert "not-the-password" not in text


def test_no_password_at_all_is_a_refusal_too(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEO4J_PASSWORD", raising=False)
    with pytest.raises(ServiceError, match="refuses this user and password"):
        open_store(server.address)


def test_credentials_come_from_the_environment_and_are_shown_nowhere(
    server: Server,
    served: GraphStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("NEO4J_USERNAME", "neo4j")
    monkeypatch.setenv("NEO4J_PASSWORD", PASSWORD)
    monkeypatch.setenv("NEO4J_DATABASE", "neo4j")
    with open_store(server.address, build="world", read_only=True) as store:
        assert store.counts() == served.counts()
        for shown in (repr(store), str(vars(store)), repr(vars(store)["_session"]), caplog.text):
            assert PASSWORD not in shown


@pytest.mark.parametrize(
    "target",
    [
        "neo4j://neo4j:hunter2@localhost:7687",
        "bolt://localhost:x7687",
        "neo4j://",
        "neo4j://localhost:7687/graph",
    ],
)
def test_an_address_is_a_host_and_a_port_and_no_password(target: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_store(target)
    assert "hunter2" not in str(caught.value)


def test_a_database_that_is_not_there_is_named(server: Server) -> None:
    with pytest.raises(UsageError, match="no database 'nosuch'"):
        open_store(server.address, auth=server.auth, database="nosuch")


def test_a_build_that_is_not_there_is_not_read(server: Server) -> None:
    with pytest.raises(InputError, match="no build 'nobody'") as caught:
        open_store(server.address, auth=server.auth, build="nobody", read_only=True)
    assert "world" in str(caught.value)


def test_reading_only_writes_nothing(server: Server, served: GraphStore) -> None:
    with open_store(server.address, auth=server.auth, build="world", read_only=True) as store:
        with pytest.raises(UsageError, match="reading only"):
            store.write_nodes("Concept", pa.table({"id": ["a"]}))
        with pytest.raises(UsageError, match="reading only"):
            store.drop_build("world")
    with pytest.raises(UsageError, match="closed"):
        store.counts()
    assert "world" in served.builds()


def test_a_build_of_another_schema_version_says_so_and_can_be_dropped(
    server: Server, served: GraphStore
) -> None:
    for version, what in ((0, "build it again"), (99, "newer ehrkg")):
        with open_store(server.address, auth=server.auth, build="old") as store:
            store.write_nodes("Build", pa.table({"id": ["old"], "schema_version": [version]}))
        with pytest.raises(InputError, match=f"another schema(?s:.*)version {version}") as caught:
            open_store(server.address, auth=server.auth, build="old")
        assert what in caught.value.todo
        served.drop_build("old")
        assert "old" not in served.builds()


def test_somebody_elses_nodes_of_the_same_labels(
    server: Server, served: GraphStore, driver: object
) -> None:
    foreign = (
        "CREATE (p:Patient {id: 'p1', name: 'Ann', build: 'mine'})-[:HAS_VISIT {n: 1}]->"
        "(:Visit {id: 'v1', build: 'mine'})-[:DIAGNOSED]->(:Code {id: 'ICD10CM:I50', key: 'x'}), "
        "(p)-[:KNOWS]->(:Friend)"
    )
    look = (
        "MATCH (n) WHERE n.ehrkg_key IS NULL OPTIONAL MATCH (n)-[r]->() "
        "RETURN labels(n), properties(n), type(r), properties(r) ORDER BY labels(n), type(r)"
    )
    try:
        driver.execute_query(foreign)  # type: ignore[attr-defined]
        before = driver.execute_query(look).records  # type: ignore[attr-defined]
        for read_only in (False, True):
            with pytest.raises(InputError, match="ehrkg did not write") as caught:
                open_store(server.address, auth=server.auth, build="world", read_only=read_only)
            assert "Patient" in str(caught.value)
            assert "beside_foreign" in caught.value.todo
        assert "mine" not in served.builds()
        with open_store(server.address, auth=server.auth, build="mine", beside_foreign=True) as s:
            s.write_nodes("Patient", pa.table({"id": ["p1", "p2"], "sex": ["F", "M"]}))
            s.write_nodes("Visit", pa.table({"id": ["v1"]}))
            s.write_edges("HAS_VISIT", pa.table({"from": ["p1"], "to": ["v1"]}))
            assert s.counts() == {"Patient": 2, "Visit": 1, "HAS_VISIT": 1}
            assert s.read_nodes("Patient").column("id").to_pylist() == ["p1", "p2"]
        with open_store(server.address, auth=server.auth, build="mine") as store:  # said once
            store.delete_nodes("Patient", ["p1"])
            assert store.counts() == {"Patient": 1, "Visit": 1}
            store.drop_build("mine")
            assert store.counts() == {}
        assert driver.execute_query(look).records == before  # type: ignore[attr-defined]
    finally:
        driver.execute_query(  # type: ignore[attr-defined]
            "MATCH (n) WHERE n.ehrkg_key IS NULL DETACH DELETE n"
        )


LOAD = """
import sys, pyarrow as pa
from ehrkg.graph.store import open_store
ids = [f"c{n}" for n in range(5_000)]
with open_store(sys.argv[1], build="killed") as store:
    store.write_nodes("Concept", pa.table({"id": ids, "name": ids}))
    print("begun", flush=True)
    while True:
        store.write_edges("TREATS", pa.table({"from": ids, "to": ids[::-1], "id": ids}))
        store.delete_edges("TREATS", ids[:2_000])
"""


def test_a_load_whose_client_was_killed_continues_and_ends_right(server: Server) -> None:
    loader = subprocess.Popen(
        [sys.executable, "-c", LOAD, server.address],
        stdout=subprocess.PIPE,
        env=os.environ | {"NEO4J_PASSWORD": PASSWORD},
    )
    assert loader.stdout is not None
    loader.stdout.readline()
    time.sleep(0.7)
    loader.send_signal(signal.SIGKILL)
    loader.wait()
    loader.stdout.close()
    with open_store(server.address, auth=server.auth, build="killed") as store:
        store.write_nodes("Concept", pa.table({"id": IDS, "name": IDS}))
        store.write_edges("TREATS", EDGES)
        assert store.counts() == {"Concept": 5_000, "TREATS": 5_000}
        store.drop_build("killed")


def test_a_load_whose_server_was_killed_goes_on_when_it_is_back(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a store that was open before, too; one that will not wait gets a clear word."""
    monkeypatch.setattr(neo4j_values, "BATCH", 200)
    watching = open_store(server.address, auth=server.auth, build="world")
    before = watching.counts()
    failed: list[BaseException] = []

    def load() -> None:
        try:
            with open_store(server.address, auth=server.auth, build="cut") as store:
                store.write_nodes("Concept", pa.table({"id": IDS, "name": IDS}))
                store.write_edges("TREATS", EDGES)
        except ServiceError as error:
            failed.append(error)

    loader = threading.Thread(target=load)
    loader.start()
    time.sleep(0.5)
    monkeypatch.setattr(neo4j_session, "PATIENCE", 0.5)
    hasty = open_store(server.address, auth=server.auth, build="world")
    server.kill()
    try:
        with pytest.raises(ServiceError, match="no Neo4j answers") as caught:
            hasty.query("RETURN 1")
        assert PASSWORD not in str(caught.value)
        assert caught.value.exit_code == 4
    finally:
        hasty.close()
        server.start()
    with watching:
        assert watching.query("RETURN 1 AS one").num_rows == 1
        assert watching.counts() == before
    loader.join(120)
    assert not loader.is_alive()
    with open_store(server.address, auth=server.auth, build="cut") as store:
        if failed:  # the server was away for longer than the driver waits: run it again
            store.write_nodes("Concept", pa.table({"id": IDS, "name": IDS}))
            store.write_edges("TREATS", EDGES)
        assert store.counts() == {"Concept": 5_000, "TREATS": 5_000}
        store.drop_build("cut")


def test_two_loaders_of_one_build_double_nothing(server: Server) -> None:
    def load(store: GraphStore) -> None:
        store.write_nodes("Concept", pa.table({"id": IDS[:3000], "name": IDS[:3000]}))
        store.write_edges("TREATS", EDGES.slice(0, 3000).set_column(1, "to", [IDS[:3000][::-1]]))

    first = open_store(server.address, auth=server.auth, build="raced")
    second = open_store(server.address, auth=server.auth, build="raced")
    with first, second:
        refused: list[ServiceError] = []

        def try_to_load(store: GraphStore) -> None:
            try:
                load(store)
            except ServiceError as error:
                refused.append(error)

        other = threading.Thread(target=try_to_load, args=(second,))
        other.start()
        try_to_load(first)
        other.join(120)
        assert len(refused) < 2
        assert all("another process writes the build 'raced'" in str(error) for error in refused)
        assert first.counts() == {"Concept": 3000, "TREATS": 3000}
        first.drop_build("raced")
