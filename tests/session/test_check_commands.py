"""``ehrkg check`` leaves what it found with the build, and the report shows it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from typer.testing import CliRunner

from ehrkg.cli import app
from ehrkg.foundation.replacing import WORK
from ehrkg.foundation.storage import file_hash, read_parquet
from ehrkg.foundation.workspace import load_result


def test_what_a_check_found_stands_in_the_report_though_the_builds_work_is_gone(
    built_demo: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(built_demo / "benchmark", out)
    own = load_result(out / WORK / "check")
    shutil.rmtree(out / WORK)
    page = tmp_path / "page.html"
    nothing = "no result of a check lies with this build"

    def reported() -> str:
        said = CliRunner().invoke(app, ["report", str(out), "--out", str(page)])
        assert said.exit_code == 0, said.output
        return page.read_text(encoding="utf-8")

    assert nothing in reported()
    said = CliRunner().invoke(app, ["check", str(out)])
    assert "Not kept" not in said.output
    kept = read_parquet(out / "checks.parquet")
    order = [("rule", "ascending"), ("task", "ascending"), ("text", "ascending")]
    assert kept.sort_by(order).equals(own.sort_by(order)), "as the build itself found"
    written = json.loads((out / "manifest.json").read_text())["outputs"]["checks.parquet"]
    assert written["sha256"] == file_hash(out / "checks.parquet")
    html = reported()
    assert nothing not in html
    assert "Rules that nothing breaks" in html
