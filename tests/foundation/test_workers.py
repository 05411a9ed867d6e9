"""Work shared among processes: in order, and nothing lost in silence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.workers import AHEAD, SETTING, in_order, workers_for


@pytest.mark.parametrize("workers", [1, 2, 5, 9])
def test_results_come_in_the_order_of_the_tasks(workers: int) -> None:
    held = pa.table({"number": list(range(7))})
    results = in_order(lambda at: held.slice(at, 1), range(7), workers=workers)
    assert pa.concat_tables(list(results)).equals(held)


def test_work_is_done_elsewhere_and_nobody_is_left() -> None:
    doers = list(in_order(lambda _task: os.getpid(), [1, 2, 3, 4], workers=2))
    assert os.getpid() not in doers
    assert len(set(doers)) <= 2
    for doer in set(doers):
        with pytest.raises(ProcessLookupError):
            os.kill(doer, 0)


def test_one_long_task_keeps_nobody_from_the_others(tmp_path: Path) -> None:
    def work(task: int) -> int:
        (tmp_path / str(task)).touch()
        while task == 0 and not (tmp_path / "5").exists():
            time.sleep(0.01)
        return os.getpid()

    first, *others = in_order(work, range(6), workers=2)
    assert set(others) == {others[0]} != {first}


def test_nobody_runs_far_ahead_of_what_is_asked_for(tmp_path: Path) -> None:
    results = in_order(lambda task: (tmp_path / str(task)).touch(), range(100), workers=2)
    next(results)
    time.sleep(0.5)
    begun = len(list(tmp_path.iterdir()))
    results.close()  # type: ignore[attr-defined]
    assert 2 <= begun <= 2 * AHEAD + 1


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    # No task ends before both workers have one: one of them could else do all that may be begun.
    text = (
        "import os, pathlib, sys, time\n"
        "from ehrkg.foundation.workers import in_order\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "def work(task):\n"
        "    (folder / str(os.getpid())).touch()\n"
        "    while len(list(folder.iterdir())) < 2:\n"
        "        time.sleep(0.01)\n"
        "for _ in in_order(work, range(1000), workers=2):\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", text, str(tmp_path)]) as parent:
        try:
            until(lambda: len(list(tmp_path.iterdir())) == 2)
        finally:
            parent.kill()
    until(lambda: not any(Path(f"/proc/{one.name}").exists() for one in tmp_path.iterdir()))


def until(holds: Callable[[], bool]) -> None:
    """Wait until it holds, 30 s at most."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_the_work_raises_is_raised_here_as_it_was() -> None:
    def work(task: int) -> int:
        if task == 2:
            raise InputError("no number", file="a.csv", line=task, todo="write one")
        return task

    found = in_order(work, [0, 1, 2, 3], workers=2)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(InputError, match=r"a.csv, line 2: no number\n  do: write one"):
        next(found)


def test_a_killed_worker_is_told_of() -> None:
    def work(task: int) -> int:
        if task == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    with pytest.raises(RuntimeError, match="a worker was killed"):
        list(in_order(work, [0, 1, 2], workers=2))


def test_the_environment_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "3")
    assert (workers_for(100, least=1000), workers_for(2)) == (3, 2)
    monkeypatch.setenv(SETTING, "none")
    with pytest.raises(UsageError, match="EHRKG_WORKERS is 'none'"):
        workers_for(2)
    monkeypatch.delenv(SETTING)
    assert workers_for(3, least=4) == 1
