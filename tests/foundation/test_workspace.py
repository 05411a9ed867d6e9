"""A build's folder: resumed by the same build, refused to any other."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

import pyarrow as pa
import pytest

from ehrkg.foundation import workspace
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.workspace import Workspace


@dataclass(frozen=True)
class Result:
    name: str
    rows: pa.Table


def test_a_finished_stage_is_not_run_again_and_keeps_its_ledger(tmp_path):
    calls = []

    def compute(ledger):
        calls.append(1)
        ledger.record("read", "rows", rows_in=3, rows_out=2, dropped={"bad": 1})
        ledger.quarantine["read"] = pa.table({"row": [3]})
        return Result("x", pa.table({"t": pa.array([1], pa.timestamp("s"))}))

    for _ in range(2):
        with Workspace(tmp_path / "out", {"seed": 1}) as work:
            result = work.stage("read", compute)
            assert result.rows.schema.field("t").type == pa.timestamp("s")
            assert work.ledger.dropped("read") == {"bad": 1}
            assert work.ledger.quarantine["read"].num_rows == 1
    assert calls == [1]


def test_a_stage_cut_off_begins_again(tmp_path):
    with pytest.raises(RuntimeError), Workspace(tmp_path, {}) as work:
        work.stage("read", lambda _: (_ for _ in ()).throw(RuntimeError("killed")))
    with Workspace(tmp_path, {}) as work:
        assert work.stage("read", lambda _: pa.table({"a": [1]})).num_rows == 1


def test_other_settings_are_refused_and_named(tmp_path):
    with Workspace(tmp_path, {"settings": {"seed": 1}}):
        pass
    with (
        pytest.raises(UsageError, match=r"settings\.seed was 1 and is now 2"),
        Workspace(tmp_path, {"settings": {"seed": 2}}),
    ):
        pass


def test_a_folder_that_holds_something_else_is_refused_untouched(tmp_path):
    (tmp_path / "thesis.docx").write_text("mine")
    with pytest.raises(InputError, match="holds something else") as caught, Workspace(tmp_path, {}):
        pass
    assert "thesis.docx" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.docx"]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="the output is a file"), Workspace(tmp_path / "out", {}):
        pass


def test_two_builds_at_once_are_refused(tmp_path):
    with (
        Workspace(tmp_path, {}),
        pytest.raises(UsageError, match="in use by another build"),
        Workspace(tmp_path, {}),
    ):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a read-only file system")
def test_a_folder_that_cannot_be_made_says_so():
    with (
        pytest.raises(InputError, match="can't be written"),
        Workspace(workspace.Path("/proc/ehrkg-out"), {}),
    ):
        pass


def test_a_nearly_full_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "LEAST_FREE", 1 << 62)
    with pytest.raises(InputError, match="too little free disk"), Workspace(tmp_path, {}):
        pass
    assert stat.S_ISDIR(tmp_path.stat().st_mode)


def test_a_build_that_could_not_begin_leaves_nothing(tmp_path):
    def refuse(_):
        raise InputError("a table is missing", file="hosp", todo="give it")

    with pytest.raises(InputError), Workspace(tmp_path / "out", {}) as work:
        work.stage("read", refuse)
    assert not (tmp_path / "out").exists()


def test_every_difference_is_told_and_hashes_are_not_repeated(tmp_path):
    first = {"settings": {"seed": 1}, "inputs": {"a.csv": "123"}, "program": "abc"}
    with Workspace(tmp_path, first):
        pass
    other = {"settings": {"seed": 2}, "inputs": {"a.csv": "456"}, "program": "def"}
    with pytest.raises(UsageError) as caught, Workspace(tmp_path, other):
        pass
    for said in ("another version of ehrkg", "the input a.csv changed", "seed was 1 and is now 2"):
        assert said in str(caught.value)
    assert "456" not in str(caught.value)
