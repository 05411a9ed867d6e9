"""A graph keeps what it is given, in spite of the engine's traps, and refuses with a clear word."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from graph_world import HARD, World, fill

from ehrkg.foundation.errors import CheckError, InputError, ServiceError, UsageError
from ehrkg.graph.check import check_file
from ehrkg.graph.store import GraphStore, open_store


def concepts(*ids: str, **columns: list[object]) -> pa.Table:
    return pa.table({"id": list(ids), **columns})


def test_nodes_that_are_there_do_not_crash_the_engine(store: GraphStore) -> None:
    assert store.write_nodes("Concept", concepts("a", "b")) == 2
    assert store.write_nodes("Concept", concepts("a", "b", "c")) == 1
    assert store.counts() == {"Concept": 3}


def test_writing_a_node_again_changes_the_columns_given_and_no_others(store: GraphStore) -> None:
    store.write_nodes(
        "Code", concepts("a", "b", name=["x", "y"], ccsr=[["1"], None], chronic=[True, None])
    )
    store.write_nodes("Code", concepts("a", "b", name=[HARD, None], ccsr=[[], ["2", "3"]]))
    found = store.read_nodes("Code").select(["id", "name", "ccsr", "chronic"]).to_pylist()
    assert found == [
        {"id": "a", "name": HARD, "ccsr": [], "chronic": True},
        {"id": "b", "name": None, "ccsr": ["2", "3"], "chronic": None},
    ]


def test_times_numbers_and_truth_values_change_too(store: GraphStore) -> None:
    first = concepts("v", admitted=[datetime(2150, 1, 1)], age=[50], died=[None])
    second = concepts("v", admitted=[datetime(1850, 1, 1, 3, 4, 5)], age=[2**31 - 1], died=[True])
    store.write_nodes("Visit", first)
    store.write_nodes("Visit", second)
    found = store.read_nodes("Visit").select(["id", "admitted", "age", "died"]).to_pylist()
    assert found == second.to_pylist()


def test_repeated_rows_fold_and_contradicting_ones_are_refused(store: GraphStore) -> None:
    assert store.write_nodes("Concept", concepts("a", "a", name=["x", "x"])) == 1
    with pytest.raises(InputError, match="share a key") as caught:
        store.write_nodes("Concept", concepts("b", "b", name=["x", "y"]))
    assert "'id': 'b'" in str(caught.value)
    with pytest.raises(InputError, match="without id"):
        store.write_nodes("Concept", pa.table({"id": pa.array([None], pa.string())}))


def test_parallel_edges_and_self_loops_are_kept(store: GraphStore) -> None:
    store.write_nodes("Concept", concepts("a", "b"))
    edges = pa.table({"from": ["a", "a", "a"], "to": ["b", "b", "a"], "id": ["1", "2", "3"]})
    assert store.write_edges("TREATS", edges) == 3
    assert store.write_edges("TREATS", edges) == 0
    assert store.read_edges("TREATS").select(["from", "to", "id"]).to_pylist() == [
        {"from": "a", "to": "a", "id": "3"},
        {"from": "a", "to": "b", "id": "1"},
        {"from": "a", "to": "b", "id": "2"},
    ]


def test_an_edge_with_other_properties_is_replaced(store: GraphStore) -> None:
    store.write_nodes("Concept", concepts("a", "b"))
    edge = {"from": ["a", "a"], "to": ["b", "b"], "id": ["1", "2"]}
    store.write_edges("TREATS", pa.table({**edge, "negated": [False, None], "route": ["", HARD]}))
    assert (
        store.write_edges(
            "TREATS", pa.table({**edge, "negated": [True, None], "route": ["", HARD]})
        )
        == 0
    )
    found = store.read_edges("TREATS").select(["id", "negated", "route"]).to_pylist()
    assert found == [
        {"id": "1", "negated": True, "route": ""},
        {"id": "2", "negated": None, "route": HARD},
    ]


def test_an_edge_to_nowhere_is_refused_by_name(store: GraphStore) -> None:
    store.write_nodes("Concept", concepts("a"))
    with pytest.raises(InputError, match="1 of the Concept nodes") as caught:
        store.write_edges("TREATS", pa.table({"from": ["a"], "to": ["gone"], "id": ["1"]}))
    assert "gone" in str(caught.value)
    assert store.counts() == {"Concept": 1}


def test_one_type_joins_several_labels(store: GraphStore) -> None:
    store.write_nodes("Relation", concepts("r"))
    store.write_nodes("Code", concepts("x"))
    store.write_nodes("Concept", concepts("x"))
    table = pa.table(
        {
            "from": ["r", "r"],
            "to": ["x", "x"],
            "from_label": ["Relation"] * 2,
            "to_label": ["Code", "Concept"],
        }
    )
    assert store.write_edges("HEAD", table) == 2
    assert store.write_edges("HEAD", table) == 0
    assert store.counts()["HEAD"] == 2
    wrong = table.set_column(3, "to_label", pa.array(["Patient", "Code"]))
    with pytest.raises(InputError, match="labels that it does not join"):
        store.write_edges("HEAD", wrong)


def test_unknown_names_are_refused_with_those_there_are(store: GraphStore) -> None:
    with pytest.raises(UsageError, match="no label 'Disease'"):
        store.write_nodes("Disease", concepts("a"))
    with pytest.raises(UsageError, match="no edge type 'CURES'"):
        store.read_edges("CURES")
    with pytest.raises(UsageError, match="no property 'colour'"):
        store.write_nodes("Concept", concepts("a", colour=["red"]))


def test_two_builds_lie_side_by_side_and_one_goes_alone(
    another: Callable[[str], GraphStore], world: World
) -> None:
    one, two = another("one"), another("two")
    fill(one, world)
    fill(two, world)
    assert {"one", "two"} <= set(one.builds())
    assert one.counts() == two.counts()
    assert one.content_hash() == two.content_hash()
    before = two.content_hash()
    one.drop_build("one")
    assert one.counts() == {}
    assert "one" not in two.builds()
    assert two.content_hash() == before
    two.drop_build("nobody's")
    assert two.content_hash() == before


def test_dropping_the_only_build_leaves_a_usable_graph(filled: GraphStore, world: World) -> None:
    before = filled.content_hash()
    filled.drop_build(filled.build)
    assert filled.counts() == {}
    fill(filled, world)
    assert filled.content_hash() == before
    kinds = filled.query(
        "MATCH (t:Template)-[r]->(:Visit) WHERE t.build = $build RETURN DISTINCT type(r)",
        build=filled.build,
    )
    assert kinds.num_rows == 2


def test_a_graph_outlives_its_process(closed: Path, embedded: GraphStore) -> None:
    with open_store(closed) as store:
        store.write_nodes("Concept", concepts("a"))
        after = store.content_hash()
    assert list(closed.parent.iterdir()) == [closed]
    with open_store(closed, read_only=True) as store:
        assert store.content_hash() == after != embedded.content_hash()


def test_the_hash_sees_every_change(store: GraphStore) -> None:
    hashes = [store.content_hash()]
    for table in (concepts("a"), concepts("a", name=[""]), concepts("a", name=["x"])):
        store.write_nodes("Concept", table)
        hashes.append(store.content_hash())
    store.write_nodes("Code", concepts("c", ccsr=[[""]]))
    hashes.append(store.content_hash())
    store.write_nodes("Code", concepts("c", ccsr=pa.array([[]], pa.list_(pa.string()))))
    hashes.append(store.content_hash())
    assert len(set(hashes)) == len(hashes)


def test_reading_only_writes_nothing(tmp_path: Path) -> None:
    open_store(tmp_path / "g.lbug").close()
    with open_store(tmp_path / "g.lbug", read_only=True) as store:
        with pytest.raises(UsageError, match="reading only"):
            store.write_nodes("Concept", concepts("a"))
        with pytest.raises(UsageError, match="open for reading in this process"):
            open_store(tmp_path / "g.lbug")
    with pytest.raises(UsageError, match="closed"):
        store.counts()


def test_two_stores_of_one_process_share_the_file(tmp_path: Path) -> None:
    first = open_store(tmp_path / "g.lbug")
    second = open_store(tmp_path / "g.lbug", read_only=True)
    first.write_nodes("Concept", concepts("a"))
    assert second.counts() == {"Concept": 1}
    second.close()
    second.close()
    assert first.write_nodes("Concept", concepts("b")) == 1
    first.close()


OPEN = """
import sys
from ehrkg.foundation.errors import EhrkgError
from ehrkg.graph.store import open_store
try:
    open_store(sys.argv[1], read_only=sys.argv[2] == "read").close()
except EhrkgError as error:
    print(error)
    sys.exit(error.exit_code)
"""


@pytest.mark.parametrize("how", ["read", "write"])
def test_a_file_that_another_process_writes_says_who(tmp_path: Path, how: str) -> None:
    with open_store(tmp_path / "g.lbug"):
        other = subprocess.run(
            [sys.executable, "-c", OPEN, str(tmp_path / "g.lbug"), how],
            capture_output=True,
            text=True,
            check=False,
        )
    assert other.returncode == ServiceError.exit_code, other
    assert f"process {os.getpid()}" in other.stdout


LOAD = """
import sys, pyarrow as pa
from ehrkg.graph.store import open_store
store = open_store(sys.argv[1])
ids = [f"c{n}" for n in range(20_000)]
print("begun", flush=True)
while True:
    store.write_nodes("Concept", pa.table({"id": ids, "name": ids}))
    store.write_edges("TREATS", pa.table({"from": ids, "to": ids[::-1], "id": ids}))
    store.delete_nodes("Concept", ids[:5_000])
"""


def test_a_load_that_was_killed_continues_and_ends_right(tmp_path: Path) -> None:
    path = tmp_path / "g.lbug"
    loader = subprocess.Popen([sys.executable, "-c", LOAD, str(path)], stdout=subprocess.PIPE)
    assert loader.stdout is not None
    loader.stdout.readline()
    time.sleep(0.4)
    loader.send_signal(signal.SIGKILL)
    loader.wait()
    loader.stdout.close()
    ids = [f"c{n}" for n in range(20_000)]
    with open_store(path) as store:
        store.write_nodes("Concept", pa.table({"id": ids, "name": ids}))
        store.write_edges("TREATS", pa.table({"from": ids, "to": ids[::-1], "id": ids}))
        assert store.counts() == {"Concept": 20_000, "TREATS": 20_000}


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.6, 0.9, 0.98])
def test_a_truncated_file_is_refused_or_whole(
    closed: Path, embedded: GraphStore, share: float
) -> None:
    size = int(closed.stat().st_size * share)
    os.truncate(closed, size)
    said = ""
    try:
        with open_store(closed, read_only=True) as store:
            assert store.content_hash() == embedded.content_hash()  # the end was free space
    except InputError as error:
        said = str(error)
    if share < 0.95 or said:
        assert "g.lbug" in said
        assert "damaged" in said or "not made by ehrkg" in said
    if share != 0.98:
        with pytest.raises(InputError, match=r"damaged|cut short"):
            open_store(closed)
    assert closed.stat().st_size == size
    assert not list(closed.parent.glob(".*.lock"))


def test_what_is_no_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no graph there"):
        open_store(tmp_path / "absent.lbug", read_only=True)
    with pytest.raises(InputError, match="folder"):
        open_store(tmp_path)
    (tmp_path / "notes.txt").write_text("not a graph\n" * 1000)
    with pytest.raises(InputError, match="no graph file"):
        open_store(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("not a graph")


def test_a_foreign_graph_is_left_alone(tmp_path: Path) -> None:
    import ladybug

    database = ladybug.Database(str(tmp_path / "g.lbug"), buffer_pool_size=1 << 28)
    ladybug.Connection(database).execute("CREATE NODE TABLE Film(id STRING PRIMARY KEY)")
    database.close()
    with pytest.raises(InputError, match="not made by ehrkg"):
        open_store(tmp_path / "g.lbug")


@pytest.mark.parametrize(("version", "todo"), [(0, "build it again"), (99, "newer ehrkg")])
def test_a_graph_of_another_schema_version_says_so(tmp_path: Path, version: int, todo: str) -> None:
    with open_store(tmp_path / "g.lbug") as store:
        store.write_nodes("Build", pa.table({"id": ["old"], "schema_version": [version]}))
    with pytest.raises(InputError, match=f"another schema(?s:.*)version {version}") as caught:
        open_store(tmp_path / "g.lbug")
    assert todo in caught.value.todo


def test_a_file_of_a_newer_engine_says_so(closed: Path) -> None:
    raw = bytearray(closed.read_bytes())
    raw[4] += 1  # the engine's version stands after its four letters
    closed.write_bytes(raw)
    for read_only in (True, False):
        with pytest.raises(InputError, match="another version of the engine"):
            open_store(closed, read_only=read_only)


@pytest.mark.parametrize("what", ["a name", "a page", "much"])
def test_overwritten_bytes_are_found_by_the_content_hash(
    closed: Path, embedded: GraphStore, what: str
) -> None:
    known = embedded.content_hash()
    assert check_file(closed, expected=known) == known
    (closed.parent / "manifest.json").write_text(json.dumps({"graph": {"content": known}}))
    assert check_file(closed) == known
    raw = bytearray(closed.read_bytes())
    start, length = {
        "a name": (raw.index("Carrión".encode()), 4),
        "a page": (len(raw) // 2, 4096),
        "much": (len(raw) // 3, 1 << 16),
    }[what]
    raw[start : start + length] = b"x" * length
    closed.write_bytes(raw)
    with pytest.raises(InputError, match="damaged") as caught:
        check_file(closed)
    assert known in str(caught.value)


def test_without_a_known_hash_there_is_no_check(closed: Path) -> None:
    with pytest.raises(InputError, match="no content hash"):
        check_file(closed)


FULL = """
import resource, signal, sys, pyarrow as pa
from ehrkg.foundation.errors import EhrkgError
from ehrkg.graph.store import open_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
ids = [f"c{n}" for n in range(100_000)]
try:
    with open_store(sys.argv[1]) as store:
        store.write_nodes("Concept", pa.table({"id": ids, "name": ["x" * 200] * len(ids)}))
except EhrkgError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def test_a_full_disk_is_a_clear_word_and_what_was_there_stays(closed: Path) -> None:
    with open_store(closed, read_only=True) as store:
        before = store.counts()["Visit"]
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(closed)], capture_output=True, text=True, check=False
    )
    assert done.returncode == InputError.exit_code, done
    assert "disk" in done.stdout
    with open_store(closed) as store:
        assert store.counts()["Visit"] == before


def test_what_no_engine_opens_is_refused() -> None:
    with pytest.raises(UsageError, match="no engine opens ftp"):
        open_store("ftp://example.org/g")


def test_a_build_has_a_name_that_keys_can_hold(tmp_path: Path) -> None:
    for name in ("", "a|b", "a\nb"):
        with pytest.raises(UsageError, match="no name for a build"):
            open_store(tmp_path / "g.lbug", build=name)


def test_options_of_servers_are_refused_for_files(tmp_path: Path) -> None:
    for option in ({"auth": ("a", "b")}, {"database": "x"}, {"beside_foreign": True}):
        with pytest.raises(UsageError, match="are for servers"):
            open_store(tmp_path / "g.lbug", **option)


def test_another_content_than_was_expected_is_a_failed_check(
    closed: Path, embedded: GraphStore
) -> None:
    with pytest.raises(CheckError, match="another content") as caught:
        check_file(closed, expected="0" * 64)
    assert embedded.content_hash() in str(caught.value)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_text_file_is_no_graph(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("head\tpredicate\ttail\n" * 300)
    with pytest.raises(InputError, match="no graph file") as caught:
        open_store(path, read_only=read_only)
    assert "a file that ehrkg wrote" in caught.value.todo
    assert path.read_text() == "head\tpredicate\ttail\n" * 300
