"""The whole job with its graph on a server gives what it gives with a file; and the commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from neo4j_server import PASSWORD, Server

from ehrkg.ehr import synth
from ehrkg.foundation.errors import UsageError
from ehrkg.graph.store import GraphStore, open_store
from ehrkg.pipeline import build
from ehrkg.session.settings import Settings
from ehrkg.session.storing import GraphTarget


def ehrkg(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from ehrkg.cli import main; main()", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": PASSWORD},
    )


def test_a_build_on_the_server_is_the_build_in_a_file(server: Server, tmp_path: Path) -> None:
    synth.write(tmp_path / "tables", patients=25, shape="demo", seed=7)
    here = build(tmp_path / "tables", tmp_path / "here")
    settings = Settings(graph=server.address)
    there = build(tmp_path / "tables", tmp_path / "there", settings, auth=server.auth)
    graphs = [one.manifest["graph"] for one in (here, there)]
    named = graphs[1]["build"]
    try:
        assert there.manifest["outputs"] == here.manifest["outputs"]
        assert [g["content"] for g in graphs] == [graphs[0]["content"]] * 2
        assert graphs[0]["counts"] == graphs[1]["counts"]
        assert graphs[1]["address"] == server.address
        assert not (there.out / "graph.lbug").exists()
        for path in (one for one in there.out.rglob("*") if one.is_file()):
            assert PASSWORD.encode() not in path.read_bytes(), path
        again = build(tmp_path / "tables", tmp_path / "there", settings, auth=server.auth)
        assert again.manifest["outputs"] == there.manifest["outputs"]
        checked = ehrkg(
            "graph",
            "check",
            "--graph",
            f"{server.address}#{named}",
            "--expect",
            graphs[0]["content"],
        )
        assert checked.returncode == 0, checked.stderr
        scored = []
        for out in (here.out, there.out):
            asked = ehrkg(
                "evaluate", out, "--model", "baselines", "--perturb", "codes_shown,abbreviations"
            )
            assert asked.returncode == 0, asked.stderr
            scored.append(pq.read_table(out / "scores.parquet"))
        assert "perturbed:abbreviations" in set(scored[0]["setting"].to_pylist())
        assert scored[1].equals(scored[0])
    finally:
        with open_store(server.address, build=named, auth=server.auth) as store:
            store.drop_build(named)


@pytest.mark.usefixtures("served")
def test_a_name_that_another_build_bears_is_refused(server: Server) -> None:
    def target(address: str, patients: str) -> GraphTarget:
        return GraphTarget.of(address, {"inputs": patients}, auth=server.auth, beside_foreign=False)

    named = f"{server.address}#borne"
    ours, late = target(named, "ours"), target(named, "theirs").open()
    try:
        with ours.open() as store:
            store.write_nodes("Concept", pa.table({"id": ["MONDO:1"]}))
        for taken in (named, f"{server.address}#world"):
            with pytest.raises(UsageError, match=f"the build '{taken.partition('#')[2]}'"):
                target(taken, "theirs")
        with pytest.raises(UsageError, match="the build 'borne'"), late:  # both opened it, empty
            late.write_nodes("Concept", pa.table({"id": ["MONDO:2"]}))
        with target(named, "ours").open() as again:
            assert again.write_nodes("Concept", pa.table({"id": ["MONDO:1"]})) == 0
            assert again.counts() == {"Concept": 1}
    finally:
        late.close()
        with ours.open() as store:
            store.drop_build("borne")


def test_a_mistyped_path_makes_no_graph(tmp_path: Path) -> None:
    there = tmp_path / "there.lbug"
    open_store(there).close()
    missing = tmp_path / "mistyped" / "graph.lbug"
    for words in (
        ("graph", "drop", "--build", "default", "--graph", missing),
        ("graph", "copy", missing, tmp_path / "copied.lbug"),
        ("graph", "check", "--graph", missing, "--expect", "x"),
        ("graph", "export", tmp_path / "files", "--graph", missing),
        ("audit", "hubs", "--graph", missing),
        ("explain", "t1", "--graph", missing),
    ):
        done = ehrkg(*words)
        assert (done.returncode, "no graph there" in done.stderr) == (3, True), done
    assert [path.name for path in tmp_path.iterdir()] == ["there.lbug"]


def test_the_commands(server: Server, served: GraphStore, odd_file: Path, tmp_path: Path) -> None:
    address = f"{server.address}#commanded"
    copied = ehrkg("graph", "copy", odd_file, address)
    assert copied.returncode == 3, copied  # the file's builds are odd and world, not default
    assert "odd, world" in copied.stderr
    back = ehrkg("graph", "copy", f"{server.address}#world", tmp_path / "w.lbug")
    assert back.returncode == 0, back.stderr
    assert served.content_hash() in back.stdout
    there = ehrkg("graph", "copy", tmp_path / "w.lbug", address)
    assert there.returncode == 0, there.stderr
    assert "commanded" in served.builds()
    exported = ehrkg(
        "graph",
        "export",
        "--for",
        "neo4j-admin",
        tmp_path / "files",
        "--graph",
        tmp_path / "w.lbug",
    )
    assert exported.returncode == 0, exported.stderr
    assert "neo4j-admin database import full neo4j" in exported.stdout
    checked = ehrkg("graph", "check", "--graph", address, "--expect", served.content_hash())
    assert checked.returncode == 0, checked.stderr
    assert ehrkg("graph", "check", "--graph", address, "--expect", "x").returncode == 1
    dropped = ehrkg("graph", "drop", "--build", "commanded", "--graph", server.address)
    assert dropped.returncode == 0, dropped.stderr
    assert "commanded" not in served.builds()
    assert ehrkg("graph", "drop", "--build", "nobody", "--graph", server.address).returncode == 2
    for done in (copied, back, there, exported, checked, dropped):
        assert PASSWORD not in done.stdout + done.stderr


def test_a_build_finds_out_at_once_that_the_server_is_not_there(tmp_path: Path) -> None:
    target = "bolt://127.0.0.1:9"
    synth.write(tmp_path / "tables", patients=25, shape="demo", seed=7)
    done = ehrkg("build", tmp_path / "tables", "--out", tmp_path / "out", "--graph", target)
    assert done.returncode == 4
    assert f"no Neo4j answers at {target}" in done.stderr
