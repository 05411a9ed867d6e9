"""A judge says of each open answer whether it names what counts as right."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ehrkg.benchmark import Benchmark, example
from ehrkg.evaluation import appraise, evaluate
from ehrkg.foundation.errors import UsageError
from ehrkg.propose import Budget


def say(text: str):
    """A model that answers every question alike."""
    return lambda prompts: [text for _ in prompts]


@pytest.fixture(scope="module")
def bench() -> Benchmark:
    return example().filter(split="test")


def judged_by(bench: Benchmark, judge, **terms) -> pa.Table:
    """The scores of a model that says metformin to everything, judged."""
    answering = say("metformin")
    found = evaluate(bench, answering, judge=judge, name="m", controls=False, **terms)
    return found.scores


def test_only_open_answers_are_judged_by_accepted_names_and_nothing_of_the_record(bench):
    seen: list[str] = []

    def judge(prompts: list[str]) -> list[str]:
        seen.extend(prompts)
        right = ["metformin" in prompt.split("An answer says:")[0].casefold() for prompt in prompts]
        return ["Yes." if one else "no" for one in right]

    found = judged_by(bench, judge)
    rows = found.to_pylist()
    assert all((row["judged"] is None) == (row["format"] != "oeq") for row in rows)
    open_rows = [row for row in rows if row["format"] == "oeq"]
    assert {row["judged"] for row in open_rows} == {0.0, 1.0}
    right = {row["item_id"]: row["answer"] for row in bench.to_arrow().to_pylist()}
    for row in open_rows:
        assert row["judged"] == float(right[row["item_id"]] == ["metformin by mouth"])
    stems = bench.filter(format="oeq").column("stem").to_pylist()
    assert seen
    assert not any(stem in prompt for stem in stems for prompt in seen)
    times = ["judged", "seconds"]
    plain = evaluate(bench, say("metformin"), name="m", controls=False).scores
    assert found.drop_columns(times).equals(plain.drop_columns(times))


def test_words_that_are_no_verdict_give_none(bench):
    assert pc.all(pc.is_null(judged_by(bench, say("Who knows?"))["judged"])).as_py()


def test_silence_is_wrong_and_costs_nothing(bench):
    asked: list[str] = []
    silent = evaluate(
        bench, say(" "), judge=lambda prompts: asked.extend(prompts) or prompts, controls=False
    )
    opened = silent.scores.filter(pc.equal(silent.scores["format"], "oeq"))
    assert set(opened["judged"].to_pylist()) == {0.0}
    assert not asked


def test_what_a_budget_does_not_pay_for_is_not_judged(bench):
    opened = bench.filter(format="oeq")
    assert len(opened) > 3
    found = judged_by(opened, say("yes"), budget=Budget(max_calls=3))
    assert found.num_rows == 3, "the model's budget"
    other = evaluate(
        opened,
        say("metformin"),
        lambda prompts: ["gout"] * len(prompts),
        judge=say("yes"),
        budget=Budget(max_calls=3),
        controls=False,
    ).scores
    assert other.num_rows == 6
    judged = other.filter(pc.is_valid(other["judged"]))
    assert judged.num_rows == 3
    assert set(judged["model"].to_pylist()) == set(other["model"].to_pylist()), "paid for alike"


def test_a_remote_judge_needs_consent_before_anybody_is_asked(bench, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    asked: list[str] = []

    def model(prompts: list[str]) -> list[str]:
        asked.extend(prompts)
        return prompts

    with pytest.raises(UsageError, match="you have not agreed"):
        evaluate(bench, model, judge="openai/gpt-x", judge_url="https://models.example/v1")
    assert not asked


def test_answers_that_no_build_holds_cannot_be_appraised_later(bench):
    with pytest.raises(UsageError, match="no build"):
        appraise(bench, judge=say("yes"))
