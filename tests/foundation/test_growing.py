"""A finished build becomes the beginning of a larger one, whatever cuts it off on the way."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ehrkg.foundation import growing
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.workspace import Workspace, read_identity

SMALL: dict[str, object] = {"inputs": {"tables/a": "1"}, "settings": {"seed": 1}}
LARGE: dict[str, object] = {"inputs": {"tables/a": "1", "tables/b": "2"}, "settings": {"seed": 1}}


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A build with two stages and a folder of a model's answers."""
    out = tmp_path / "out"
    with Workspace(out, SMALL) as work:
        work.stage("read-1", lambda _: pa.table({"a": [1]}))
        work.stage("know", lambda _: pa.table({"a": [1]}))
        (work.work / "answers").mkdir()
        (work.work / "answers" / "one.txt").write_text("yes")
        work.finish({"n": 1})
    return out


def left(out: Path) -> set[str]:
    return {path.name for path in (out / ".work").iterdir() if path.is_dir()}


def test_what_was_read_and_answered_stays_and_the_rest_goes(finished: Path) -> None:
    with Workspace(finished, LARGE, earlier=SMALL) as work:
        assert work.finished() is None
        assert left(finished) == {"read-1", "answers"}
        work.finish({"n": 2})
    assert read_identity(finished) == LARGE
    with Workspace(finished, LARGE) as work:
        assert work.finished() == {"n": 2}


def test_cut_off_it_goes_on(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(_path: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(growing.shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            Workspace(finished, LARGE, earlier=SMALL).__enter__()
    assert "know" in left(finished)
    assert not (finished / "manifest.json").exists()
    assert read_identity(finished) == LARGE
    with Workspace(finished, LARGE):
        assert left(finished) == {"read-1", "answers"}


def test_other_settings_are_told_and_change_nothing(finished: Path) -> None:
    other = {"inputs": LARGE["inputs"], "settings": {"seed": 2}}
    before = {"inputs": SMALL["inputs"], "settings": {"seed": 2}}
    with (
        pytest.raises(UsageError, match=r"settings: settings\.seed was 1 and is now 2\n"),
        Workspace(finished, other, earlier=before),
    ):
        pass
    assert left(finished) == {"read-1", "know", "answers"}
