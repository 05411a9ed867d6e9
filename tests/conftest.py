"""Fixtures that every test may use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

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


@pytest.fixture(scope="session")
def built_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``ehrkg demo`` leaves behind, at a small size: ``tables`` and ``benchmark``."""
    from ehrkg.ehr import synth
    from ehrkg.pipeline import build

    out = tmp_path_factory.mktemp("demo")
    synth.write(out / "tables", patients=150, shape="demo", seed=7)
    build(out / "tables", out / "benchmark")
    return out


@pytest.fixture(scope="session")
def built_mimic4(mimic4_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the MIMIC-IV demo."""
    from ehrkg.pipeline import build

    out = tmp_path_factory.mktemp("mimic4") / "out"
    build(mimic4_demo, out)
    return out


@pytest.fixture(scope="session")
def small_model() -> Path:
    """The weights (GGUF) of a base model of 270 million parameters."""
    from ehrkg.foundation.errors import UsageError
    from ehrkg.propose.models.small_model import small_model

    try:
        return small_model()
    except UsageError as error:
        missing(str(error))
