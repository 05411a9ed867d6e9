"""``ehrkg evaluate --perturb`` on a finished build: its baselines, and what it leaves behind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from typer.testing import CliRunner

from ehrkg.benchmark import Benchmark
from ehrkg.cli import app
from ehrkg.evaluation import robustness
from ehrkg.foundation.storage import file_hash, read_parquet


def test_baselines_are_asked_under_perturbations_and_the_build_stays_whole(
    built_demo: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(built_demo / "benchmark", out)
    before = read_parquet(out / "scores.parquet")
    some = ["--perturb", "option_order", "--perturb", "irrelevant_events", "--limit", "40"]
    said = CliRunner().invoke(app, ["evaluate", str(out), "--model", "baselines", *some])
    assert said.exit_code == 0, said.output
    assert "no_options" in said.output
    after = read_parquet(out / "scores.parquet")
    new = set(after["setting"].to_pylist()) - set(before["setting"].to_pylist())
    assert {name.split("+")[0] for name in new} == {
        "perturbed:option_order",
        "perturbed:irrelevant_events",
    }
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["outputs"]["scores.parquet"]["sha256"] == file_hash(out / "scores.parquet")
    rows = {
        (row["model"], row["perturbation"]): row
        for row in robustness(after).to_pylist()
        if row["format"] == "mcq"
    }
    assert rows["most frequent option", "option_order"]["consistency"] == 1
    assert rows["chance", "irrelevant_events"]["change"] == 0
    assert Benchmark.open(out).fingerprint == Benchmark.open(built_demo / "benchmark").fingerprint


def test_baselines_without_a_perturbation_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    said = CliRunner().invoke(
        app, ["evaluate", str(tmp_path), "--model", "baselines", "--perturb", "louder"]
    )
    assert said.exit_code != 0
