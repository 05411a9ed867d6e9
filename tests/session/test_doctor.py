"""``ehrkg doctor`` says what is here, what is missing for what, and what fits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehrkg.session import machine
from ehrkg.session.doctor import HERE, MISSING, table
from ehrkg.session.estimate import MEMORY, SECONDS


def doctor(*words: str, path: str = os.defpath) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from ehrkg.cli import main; main()", "doctor", *words],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PATH": path},
    )


@pytest.fixture(scope="module")
def rows(tmp_path_factory) -> dict[tuple[str, str], dict]:
    """What it finds on this machine, with nothing but a Java of ours on the PATH."""
    programs = tmp_path_factory.mktemp("programs")
    (programs / "java").write_text("#!/bin/sh\n")
    (programs / "java").chmod(0o755)
    found = json.loads(doctor("--json", path=str(programs)).stdout)
    return {(row["kind"], row["name"]): row for row in found}


def test_a_missing_program_comes_with_what_to_do(rows):
    java, maven = rows["program", "Java"], rows["program", "Maven"]
    assert (java["state"], java["todo"]) == (HERE, "")
    assert java["found"].endswith("java")
    assert maven["state"] == MISSING
    assert "install Maven" in maven["todo"]
    assert maven["needed_for"]


@pytest.mark.parametrize(
    ("extra", "module"),
    [("openai", "openai"), ("postgres", "psycopg"), ("snowflake", "snowflake")],
)
def test_an_extra_is_here_where_its_modules_are(rows, extra, module):
    row = rows["extra", extra]
    if find_spec(module):
        assert row["state"] == HERE
    else:
        assert row["state"] == MISSING
        assert row["todo"] == f"pip install 'ehrkg[{extra}]'"
        assert module in row["found"]


def test_every_extra_that_is_declared_is_explained(root):
    declared = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    explained = {row["name"] for row in table()["extras"]}
    assert set(declared["optional-dependencies"]) <= explained, "add a row to doctor.yaml"


def test_the_largest_build_fits_into_the_memory_of_the_machine(rows):
    largest = rows["machine", "largest build"]["amount"]
    assert 0 <= MEMORY.at(largest) <= rows["machine", "memory"]["amount"] or largest == 0
    assert rows["machine", "cores"]["amount"] >= 1


@given(st.integers(0, 10**9))
def test_what_fits_is_what_is_estimated_the_other_way_round(rows):
    for cost in (MEMORY, SECONDS):
        assert abs(cost.rows_within(cost.at(rows)) - rows) <= 1


def test_a_container_has_the_memory_that_it_may_take(tmp_path):
    whole = machine.memory(tmp_path)
    limit = tmp_path / machine.LIMITS[0]
    limit.parent.mkdir(parents=True)
    limit.write_text("1048576\n")
    assert machine.memory(tmp_path) == 1048576
    limit.write_text("max\n")
    assert machine.memory(tmp_path) == whole


def test_the_table_names_every_row():
    said = doctor().stdout
    for row in table()["programs"]:
        assert row["name"] in said
    assert "largest build" in said
