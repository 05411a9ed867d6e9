"""Fixtures that every test may use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from filelock import FileLock

from tests.browser import browser  # noqa: F401 -- a fixture for every folder

ROOT = Path(__file__).resolve().parent.parent


def missing(what: str) -> NoReturn:
    """Skip a test whose data or server is not there; where CI runs, that is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}: under CI this test must run", pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def not_here() -> Callable[[str], NoReturn]:
    """``missing``, for fixtures of folders that can't import this file."""
    return missing


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real open data beside the checkout."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        missing("no ../shared/data beside this checkout")
    return folder


@pytest.fixture(scope="session")
def mimic4_demo(shared_data: Path) -> Path:
    """The MIMIC-IV demo, 100 patients."""
    return shared_data / "mimic-iv-demo-2.2"


def made_once(
    tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """This process's copy of a folder that the first process to need it makes for all of them.

    A copy, since a graph is open in one process only, and a test may add to what it is given.
    """
    mine = tmp_path_factory.mktemp(name) / name
    if "PYTEST_XDIST_WORKER" not in os.environ:
        make(mine)
        return mine
    common = tmp_path_factory.getbasetemp().parent / name
    with FileLock(common.with_suffix(".lock")):
        if not common.exists():
            part = common.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            make(part)
            part.replace(common)
    shutil.copytree(common, mine)
    return mine


@pytest.fixture(scope="session")
def built_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``ehrkg demo`` leaves behind, at a small size: ``tables`` and ``benchmark``."""
    from ehrkg.ehr import synth
    from ehrkg.pipeline import build

    def make(out: Path) -> None:
        synth.write(out / "tables", patients=150, shape="demo", seed=7)
        build(out / "tables", out / "benchmark")

    return made_once(tmp_path_factory, "demo", make)


@pytest.fixture(scope="session")
def built_mimic4(mimic4_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the MIMIC-IV demo."""
    from ehrkg.pipeline import build

    return made_once(tmp_path_factory, "mimic4", lambda out: build(mimic4_demo, out))


@pytest.fixture(scope="session")
def small_model() -> Path:
    """The weights (GGUF) of a base model of 270 million parameters."""
    from ehrkg.foundation.errors import UsageError
    from ehrkg.propose.models.small_model import small_model

    try:
        return small_model()
    except UsageError as error:
        missing(str(error))
