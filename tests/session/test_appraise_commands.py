"""``ehrkg evaluate --judge --bert-score`` on a finished build, by a server on this machine."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

from ehrkg.benchmark import Benchmark
from ehrkg.cli import app
from ehrkg.evaluation import appraise, evaluate, open_ended_by
from ehrkg.evaluation.scoring.storing import put_scores
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.storage import file_hash, read_parquet
from tests.evaluation.counting import Counting, counting
from tests.processes import ending_with_tests

IN_FLIGHT = 4
SOME = ["--by", "task=diagnosis", "--limit", "12"]

COMMAND = """
import sys
from ehrkg.cli import main
sys.argv = ["ehrkg", "evaluate", *sys.argv[1:]]
main()
"""


@pytest.fixture
def out(built_demo: Path, tmp_path: Path) -> Path:
    """A build of one's own."""
    shutil.copytree(built_demo / "benchmark", tmp_path / "out")
    return tmp_path / "out"


def yes_to_the_first(prompt: str) -> str:
    """Right is what is, word for word, the first of the accepted names."""
    words = json.loads(prompt)[-1]["content"]
    accepted = words.split("\n- ")[1].split("\n")[0]
    return "yes" if f"An answer says: {accepted}\n" in words else "no"


def judging(out: Path, server: Counting) -> list[str]:
    told = ["--judge", "openai/j", "--judge-url", server.url, "--connections", str(IN_FLIGHT)]
    return [str(out), *SOME, *told]


def opened(out: Path) -> pa.Table:
    scores = read_parquet(out / "scores.parquet")
    return scores.filter(pc.equal(scores["format"], "oeq"))


def test_the_open_answers_of_a_build_are_judged_likened_and_shown(out: Path) -> None:
    before = read_parquet(out / "scores.parquet")
    assert "BERTScore" not in (out / "report.html").read_text()
    assert "judged right" not in (out / "report.html").read_text()
    with counting(yes_to_the_first) as server:
        told = [*judging(out, server), "--bert-score", "MiniLM"]
        said = CliRunner().invoke(app, ["evaluate", *told], env={"COLUMNS": "160"})
        assert said.exit_code == 0, said.output
        assert set(server.prompts.values()) == {1}, "no prompt is asked twice"
        assert "found right" in said.output
        assert "BERTScore" in said.output

        rows = opened(out).to_pylist()
        some = [row for row in rows if row["judged"] is not None]
        assert len({row["item_id"] for row in some}) == 12
        assert len({row["model"] for row in some}) > 3, "whoever gave them"
        right = {
            row["item_id"]: row["answer"] for row in Benchmark.open(out).to_arrow().to_pylist()
        }
        for row in some:
            assert row["judged"] == float(row["text"] == right[row["item_id"]][0])
            assert row["bert_f1"] == pytest.approx(1, abs=1e-3) or row["text"] not in right.get(
                row["item_id"], ()
            )
        assert {row["judged"] for row in some} == {0.0, 1.0}
        assert all((row["judged"] is None) == (row["bert_f1"] is None) for row in rows)

        after = read_parquet(out / "scores.parquet")
        added = ["judged", "bert_f1"]
        assert after.drop_columns(added).equals(before.drop_columns(added))
        manifest = json.loads((out / "manifest.json").read_text())
        written = manifest["outputs"]["scores.parquet"]
        assert written["sha256"] == file_hash(out / "scores.parquet")
        assert [one["model"] for one in manifest["judges"]] == ["openai/j"]
        assert manifest["bert_score"] == {"model": "all-MiniLM-L6-v2"}
        assert manifest["consent"].endswith("nothing left this machine")

        server.prompts.clear()
        again = CliRunner().invoke(app, ["evaluate", *told])
        assert again.exit_code == 0, again.output
        assert not server.prompts, "recorded verdicts are reused"
        assert read_parquet(out / "scores.parquet").equals(after)

    figures = open_ended_by(after).to_pylist()
    assert sum(row["judged_items"] for row in figures) == len(some)
    said = CliRunner().invoke(app, ["report", str(out)])
    assert said.exit_code == 0, said.output
    html = (out / "report.html").read_text()
    for words in ("judged right", "BERTScore", "openai/j", "all-MiniLM-L6-v2"):
        assert words in html


def test_a_judge_that_was_killed_goes_on_where_it_stood(out: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(out, whole)

    def start(folder: Path, server: Counting) -> subprocess.Popen[bytes]:
        told = ending_with_tests(sys.executable, "-c", COMMAND, *judging(folder, server))
        return subprocess.Popen(told, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    with counting(yes_to_the_first) as server:
        assert start(whole, server).wait() == 0
        asked = set(server.prompts)
        server.prompts.clear()
        process = start(out, server)
        while server.prompts.total() < len(asked) // 2 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len(server.prompts) < len(asked), "it was killed in the middle"
        assert pc.all(pc.is_null(opened(out)["judged"])).as_py()
        assert start(out, server).wait() == 0
        assert set(server.prompts) == asked
        assert server.prompts.total() - len(asked) <= IN_FLIGHT
    assert read_parquet(out / "scores.parquet").equals(read_parquet(whole / "scores.parquet"))


def test_verdicts_stay_with_the_answers_and_are_of_one_judge(out: Path) -> None:
    bench = Benchmark.open(out).filter(format="oeq", task="diagnosis").sample(6)
    manifest = json.loads((out / "manifest.json").read_text())
    scores = read_parquet(out / "scores.parquet")
    put_scores(out, manifest, scores.filter(pc.not_equal(scores["format"], "oeq")))

    def kind(prompts: list[str]) -> list[str]:
        return ["yes"] * len(prompts)

    def stern(prompts: list[str]) -> list[str]:
        return ["no"] * len(prompts)

    def says(prompts: list[str]) -> list[str]:
        return ["heart failure"] * len(prompts)

    evaluate(bench, says, judge=kind, controls=False)
    mine = opened(out).filter(pc.equal(opened(out)["model"], "says"))
    assert mine["judged"].to_pylist() == [1.0] * 6
    evaluate(bench, says, controls=False)
    mine = opened(out).filter(pc.equal(opened(out)["model"], "says"))
    assert mine["judged"].to_pylist() == [1.0] * 6, "the same answers, and what was said of them"

    with pytest.raises(UsageError, match="figures of two don't compare"):
        evaluate(bench, says, judge=stern, controls=False)
    with pytest.raises(UsageError, match="figures of two don't compare"):
        appraise(bench.sample(3), judge=stern)
    appraise(Benchmark.open(out), judge=stern)
    assert set(opened(out)["judged"].to_pylist()) == {0.0}
    manifest = json.loads((out / "manifest.json").read_text())
    assert [one["model"] for one in manifest["judges"]] == ["kind", "stern"]
    assert "kind is the user's own function" in manifest["consent"]


def test_a_command_without_anybody_to_answer_or_judge_says_so(out: Path) -> None:
    said = CliRunner().invoke(app, ["evaluate", str(out)])
    assert said.exit_code != 0
    with pytest.raises(UsageError, match="nobody is named"):
        raise said.exception or AssertionError
