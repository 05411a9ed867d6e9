"""A real model of 270 million parameters answers the MIMIC-IV demo's benchmark.

What must be true of its scores is asserted; how well it does is printed, as a warning, so that it
is seen wherever tests run.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation import Results, evaluate
from tests.evaluation.test_local_weights import LIKELIHOOD, same

CHOICES, OPEN, AGAIN = 100, 20, 5
WORDS = 12
"""Tokens of an open answer: a name, not a paragraph."""


class Figures(UserWarning):
    """How well the model did."""


@pytest.fixture(scope="module")
def bench(built_mimic4: Path) -> Benchmark:
    return Benchmark.open(built_mimic4)


@pytest.fixture(scope="module")
def chosen(bench: Benchmark) -> Benchmark:
    return bench.filter(format="mcq").sample(CHOICES, by=["task"], seed=7)


@pytest.fixture(scope="module")
def weighed(chosen: Benchmark, small_model: Path) -> Results:
    return evaluate(chosen, small_model, settings=["likelihood"], keep=False)


def of(scores: pa.Table, setting: str) -> pa.Table:
    return scores.filter(pc.equal(scores["setting"], setting)).sort_by("item_id")


def test_every_question_is_answered_in_every_control(weighed: Results, chosen: Benchmark):
    ids = sorted(chosen.column("item_id").to_pylist())
    assert len(ids) == CHOICES
    for setting in LIKELIHOOD:
        part = of(weighed.scores, setting)
        assert part["item_id"].to_pylist() == ids
        assert all(part["parsed"].to_pylist())
    shown = "; ".join(repr(weighed).splitlines())
    warnings.warn(f"270M, {CHOICES} by likelihood: {shown}", Figures, stacklevel=1)


def test_its_probabilities_are_some_and_the_likeliest_option_is_its_choice(weighed: Results):
    for row in weighed.scores.to_pylist():
        assert len(row["probabilities"]) == row["n_options"]
        assert sum(row["probabilities"]) == pytest.approx(1, abs=1e-5)
        assert row["probabilities"][row["choice"]] == max(row["probabilities"])
        assert row["correct"] == float(row["choice"] == row["answer_index"])


def test_the_stem_matters_to_it(weighed: Results):
    plain, without, other = (
        of(weighed.scores, setting)["probabilities"].to_pylist() for setting in LIKELIHOOD
    )
    assert sum(one != two for one, two in zip(plain, without, strict=True)) > CHOICES / 2
    assert sum(one != two for one, two in zip(plain, other, strict=True)) > CHOICES / 2


def test_asked_again_it_says_the_same(weighed: Results, chosen: Benchmark, small_model: Path):
    part = chosen.sample(AGAIN, seed=1)
    again = evaluate(part, small_model, settings=["likelihood"], controls=False, keep=False).scores
    ids = part.column("item_id")
    before = of(weighed.scores, "likelihood")
    assert same(again, before.filter(pc.is_in(before["item_id"], value_set=ids)))


def test_open_questions_get_words(bench: Benchmark, small_model: Path):
    part = bench.filter(format="oeq").sample(OPEN, by=["task"], seed=7)
    scores = evaluate(part, small_model, max_tokens=WORDS, keep=False).scores
    plain = of(scores, "plain")
    assert plain.num_rows == OPEN
    assert set(scores["setting"].to_pylist()) == {"plain", "other_stem"}
    assert any(plain["parsed"].to_pylist())
    assert all(row["tokens_in"] > WORDS >= row["tokens_out"] - 1 for row in plain.to_pylist())
    told = {name: pc.mean(plain[name]).as_py() for name in ("coverage", "rouge1")}
    control = pc.mean(of(scores, "other_stem")["coverage"]).as_py()
    shown = f"coverage {told['coverage']:.2f}, ROUGE-1 {told['rouge1']:.2f}"
    warnings.warn(
        f"270M, {OPEN} open: {shown}; with another's stem: coverage {control:.2f}",
        Figures,
        stacklevel=1,
    )


def test_a_function_answers_the_same_questions_in_writing(chosen: Benchmark):
    def first_letter(prompts: list[str]) -> list[str]:
        assert all(prompt.endswith("Answer:") for prompt in prompts)
        return ["**A**" for _ in prompts]

    scores = evaluate(chosen, first_letter, keep=False).scores
    assert scores.num_rows == 3 * CHOICES
    assert set(scores["choice"].to_pylist()) == {0}
    assert all(row["correct"] == float(row["answer_index"] == 0) for row in scores.to_pylist())
