"""A model's run over a build: killed and gone on with, kept with the build, and forgotten."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ehrkg.benchmark import Benchmark, example
from ehrkg.benchmark.schema import ITEMS
from ehrkg.evaluation import evaluate
from ehrkg.evaluation.schema import SCORES
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.storage import file_hash, read_parquet, write_parquet
from ehrkg.foundation.workspace import hold, write_json
from ehrkg.propose import Consent
from tests.evaluation.counting import counting
from tests.processes import ending_with_tests

IN_FLIGHT = 4


def build_of(folder: Path, copies: int = 3) -> Path:
    """A finished build of the bundled example, as far as an evaluation looks at one."""
    bench = example()
    folder.mkdir()
    rows = [
        row | {"item_id": f"{row['item_id']}-{number}", "stem": f"{row['stem']} ({number})"}
        for number in range(copies)
        for row in bench.filter(format="mcq").to_arrow().to_pylist()
    ]
    items = pa.Table.from_pylist(rows, ITEMS).sort_by("item_id")
    write_parquet(items, folder / "items.parquet")
    write_parquet(bench.templates(), folder / "templates.parquet")
    write_parquet(SCORES.empty_table(), folder / "scores.parquet")
    settings = {"graph": None, "proposer": {"proposer": "cooccurrence"}, "seed": 7}
    manifest: dict[str, Any] = {"format": "omop", "settings": settings, "outputs": {}}
    write_json(manifest | {"consent": "nothing left"}, folder / "manifest.json")
    return folder


def scores_without_times(folder: Path) -> pa.Table:
    return read_parquet(folder / "scores.parquet").drop_columns(["seconds"])


COMMAND = """
import sys
from ehrkg.cli import main
sys.argv = ["ehrkg", "evaluate", *sys.argv[1:]]
main()
"""


def command(out: Path, url: str) -> list[str]:
    told = [str(out), "--model", "openai/m", "--base-url", url, "--connections", str(IN_FLIGHT)]
    return [sys.executable, "-c", COMMAND, *told, "--prices", "2,10"]


def test_a_run_killed_in_the_middle_goes_on_and_asks_again_only_what_was_in_flight(
    tmp_path: Path,
) -> None:
    whole, cut = build_of(tmp_path / "whole"), build_of(tmp_path / "cut")
    with counting() as server:
        subprocess.run(command(whole, server.url), check=True, capture_output=True)
        asked = set(server.prompts)
        assert set(server.prompts.values()) == {1}, "no prompt is asked twice"

        server.prompts.clear()
        process = subprocess.Popen(
            ending_with_tests(*command(cut, server.url)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while server.prompts.total() < len(asked) // 2 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len(server.prompts) < len(asked), "it was killed in the middle"
        assert read_parquet(cut / "scores.parquet").num_rows == 0

        done = subprocess.run(
            command(cut, server.url), check=True, capture_output=True, text=True, env=os.environ
        )
        assert set(server.prompts) == asked
        assert server.prompts.total() - len(asked) <= IN_FLIGHT
    assert scores_without_times(cut).equals(scores_without_times(whole))
    assert "at a cost of" in done.stdout
    table = read_parquet(cut / "scores.parquet")
    assert set(table["setting"].to_pylist()) == {"plain", "no_stem", "other_stem"}
    assert pc.sum(table["tokens_in"]).as_py() == 50 * table.num_rows
    assert pc.max(table["cost"]).as_py() == pytest.approx((50 * 2 + 1 * 10) / 1_000_000)
    manifest = json.loads((cut / "manifest.json").read_text())
    assert manifest["outputs"]["scores.parquet"]["sha256"] == file_hash(cut / "scores.parquet")
    assert [one["setting"] for one in manifest["evaluations"]] == ["no_stem", "other_stem", "plain"]
    assert manifest["consent"].endswith("nothing left this machine")


def test_rows_asked_alike_stand_side_by_side_and_others_are_replaced(tmp_path: Path) -> None:
    out = build_of(tmp_path / "out", copies=1)
    bench = Benchmark.open(out)
    for limit in (4, len(bench)):
        evaluate(bench, "mockllm/model", limit=limit, controls=False)
    assert read_parquet(out / "scores.parquet").num_rows == len(bench)
    evaluate(bench, "mockllm/model", limit=3, controls=False, temperature=0.5)
    assert read_parquet(out / "scores.parquet").num_rows == 3
    evaluate(bench, lambda texts: ["B"] * len(texts), name="b", limit=2, controls=False)
    assert set(read_parquet(out / "scores.parquet")["model"].to_pylist()) == {"b", "mockllm/model"}
    assert "the user's own function" in json.loads((out / "manifest.json").read_text())["consent"]


def test_nothing_is_sent_away_without_consent_for_visits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    bench = Benchmark.open(build_of(tmp_path / "out", copies=1))
    with pytest.raises(UsageError, match="what single visits hold"):
        evaluate(bench, "anthropic/m")
    pair = Consent("pair", no_retention=True, no_training=True, no_human_review=True)
    with pytest.raises(UsageError, match="what single visits hold"):
        evaluate(bench, "anthropic/m", consent=pair)
    with pytest.raises(UsageError, match="MIMIC"):
        evaluate(example(), "anthropic/m", consent=Consent("visit"))
    assert not (tmp_path / "out" / "evaluations").exists()


def test_a_build_in_use_is_left_alone(tmp_path: Path) -> None:
    out = build_of(tmp_path / "out", copies=1)
    with hold(out), pytest.raises(UsageError, match="in use"):
        evaluate(Benchmark.open(out), "mockllm/model")


def test_a_budget_pays_for_whole_questions(tmp_path: Path) -> None:
    from ehrkg.propose import Budget

    out = build_of(tmp_path / "out", copies=1)
    result = evaluate(Benchmark.open(out), "mockllm/model", budget=Budget(max_calls=8))
    counts = Counter(result.scores["item_id"].to_pylist())
    assert list(counts.values()) == [3, 3], "eight calls pay for two questions with their controls"
    shutil.rmtree(out)


def test_what_was_asked_of_a_patient_is_forgotten_wherever_it_was_shown(tmp_path: Path) -> None:
    from ehrkg.foundation.replacing import Replacement
    from ehrkg.session.forgetting_evaluations import forget_answers, without_echoes
    from ehrkg.session.traces import TEMPLATE, Traces

    out = build_of(tmp_path / "out", copies=1)
    evaluate(
        Benchmark.open(out),
        lambda texts: [f"A {text}" for text in texts],
        name="echo",
        settings=["few_shot1"],
    )
    (answers,) = out.glob("evaluations/*/answers.jsonl")
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    shown = Counter(one for row in rows for one in row["content"]["templates"])
    ((gone, _),) = shown.most_common(1)
    showing = [row for row in rows if gone in row["content"]["templates"]]
    assert len(showing) >= 2, "its own question, and others' that showed it"
    items = read_parquet(out / "items.parquet").to_pylist()
    stem = next(row["stem"] for row in items if row["template_id"] == gone)
    assert stem in answers.read_text()

    traces, new = Traces({TEMPLATE: frozenset([gone])}), Replacement(out)
    lost, removed = forget_answers(out, traces, new)
    new.commit(removed)
    assert lost == len(showing)
    assert stem not in answers.read_text()
    assert len(answers.read_text().splitlines()) == len(rows) - lost
    assert not [path for path in out.rglob("*.eval") if path.is_file()]

    scores = read_parquet(out / "scores.parquet")
    others = scores.filter(pc.not_equal(scores["template_id"], gone))
    assert stem in str(others["answered"].to_pylist()), "as an example for another's"
    blanked = without_echoes(others, traces)
    assert stem not in str(blanked.to_pylist())
    assert blanked["correct"].equals(others["correct"])
