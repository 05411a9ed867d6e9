"""Weights on this machine answer a benchmark through Inspect, by likelihood and in writing."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ehrkg.benchmark import example
from ehrkg.evaluation import calibration_of, evaluate, robustness
from ehrkg.evaluation.scoring.scores import SORTED_BY
from ehrkg.foundation.errors import UsageError
from tests.benchmark.small_model import write_indifferent_model, write_small_model

LIKELIHOOD = ["likelihood", "likelihood+no_stem", "likelihood+other_stem"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = example().column("stem").to_pylist()
    return write_small_model(texts * 4, tmp_path_factory.mktemp("weights") / "tiny")


def same(one: pa.Table, other: pa.Table) -> bool:
    """Whether two runs gave the same scores; how long each took is no part of them."""
    timeless = (table.drop_columns(["seconds"]).sort_by(SORTED_BY) for table in (one, other))
    first, second = timeless
    return first.equals(second)


def test_options_are_weighed_with_both_controls_and_alike_each_time(folder: Path):
    bench = example().filter(format="mcq")
    scores = evaluate(bench, folder, settings=["likelihood"]).scores
    assert sorted(set(scores["setting"].to_pylist())) == LIKELIHOOD
    assert set(scores["model"].to_pylist()) == {"local/tiny"}
    assert scores.num_rows == 3 * len(bench)
    for row in scores.to_pylist():
        assert sum(row["probabilities"]) == pytest.approx(1, abs=1e-5)
        assert row["parsed"]
        best = max(row["probabilities"])
        assert row["probabilities"].count(best) == 1
        assert row["probabilities"][row["choice"]] == best
        assert row["correct"] == float(row["choice"] == row["answer_index"])
    part = bench.filter(split="test")
    some = scores.filter(pc.is_in(scores["item_id"], value_set=part.column("item_id")))
    plain = pc.equal(some["setting"], "likelihood")
    again = evaluate(part, folder, settings=["likelihood"], controls=False).scores
    assert same(again, some.filter(plain))


def test_who_finds_all_options_alike_gets_what_chance_gets_whatever_their_order(tmp_path: Path):
    folder = write_indifferent_model(["a stem of words"] * 4, tmp_path / "indifferent")
    bench = example().filter(format="mcq")
    results = evaluate(bench, folder, settings=["likelihood", "perturbed:option_order+likelihood"])
    for row in results.scores.to_pylist():
        assert row["correct"] == pytest.approx(1 / row["n_options"], abs=1e-4)
        assert (row["choice"], row["chosen_codes"], row["answered"]) == (-1, None, None)
        assert row["parsed"]
    assert {row["consistency"] for row in robustness(results.scores).to_pylist()} == {None}
    for row in calibration_of(results.scores).to_pylist():
        assert row["accuracy"] == pytest.approx(row["confidence"], abs=1e-3)
        assert row["ece"] == pytest.approx(0, abs=1e-3)


def test_what_it_writes_is_read_and_what_can_not_be_read_is_wrong_and_counted(folder: Path):
    scores = evaluate(example().sample(6, seed=3), str(folder), max_tokens=3).scores
    assert set(scores["setting"].to_pylist()) == {"plain", "no_stem", "other_stem"}
    for row in scores.to_pylist():
        assert row["answered"] is not None
        assert row["tokens_in"] > 0
        assert row["parsed"] or row["correct"] == 0.0


def test_what_waits_for_its_turn_takes_no_time(folder: Path):
    began = time.monotonic()
    scores = evaluate(example(), folder, max_tokens=8).scores
    took = time.monotonic() - began
    assert scores.num_rows > 40
    assert pc.max(scores["seconds"]).as_py() < took / 4  # of dozens of calls, one after another


def test_who_tells_no_likelihood_is_not_asked_for_one():
    with pytest.raises(UsageError, match="does not tell how likely it finds"):
        evaluate(example(), lambda prompts: prompts, settings=["likelihood"], name="echo")
