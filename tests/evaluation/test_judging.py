"""A judge says of each open answer whether it names what counts as right."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ehrkg.benchmark import Benchmark, example
from ehrkg.evaluation import evaluate
from ehrkg.evaluation.models.judging import judged
from ehrkg.evaluation.models.one_model import Terms
from ehrkg.foundation.errors import UsageError


def say(text: str):
    """A model that answers every question alike."""
    return lambda prompts: [text for _ in prompts]


@pytest.fixture(scope="module")
def scores() -> pa.Table:
    bench = example().filter(split="test")
    return evaluate(bench, say("metformin"), controls=False, name="says metformin").scores


@pytest.fixture(scope="module")
def bench() -> Benchmark:
    return example()


def test_only_open_answers_are_judged_by_accepted_names_and_nothing_of_the_record(scores, bench):
    seen: list[str] = []

    def judge(prompts: list[str]) -> list[str]:
        seen.extend(prompts)
        right = ["metformin" in prompt.split("An answer says:")[0].casefold() for prompt in prompts]
        return ["Yes." if one else "no" for one in right]

    names = {"DRUGNAME:levothyroxine": ["levothyroxine"]}
    found = judged(scores, bench, judge, names, Terms())
    rows = found.to_pylist()
    assert all((row["judged"] is None) == (row["format"] != "oeq") for row in rows)
    open_rows = [row for row in rows if row["format"] == "oeq"]
    assert {row["judged"] for row in open_rows} == {0.0, 1.0}
    right = {row["item_id"]: row["answer"] for row in bench.to_arrow().to_pylist()}
    for row in open_rows:
        assert row["judged"] == float(right[row["item_id"]] == ["metformin by mouth"])
    stems = bench.filter(format="oeq").column("stem").to_pylist()
    assert not any(stem in prompt for stem in stems for prompt in seen)
    assert found.drop_columns(["judged"]).equals(scores.drop_columns(["judged"]))


def test_words_that_are_no_verdict_give_none(scores, bench):
    found = judged(scores, bench, say("Who knows?"), {}, Terms())
    assert pc.all(pc.is_null(found["judged"])).as_py()


def test_a_remote_judge_needs_consent(scores, bench, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(UsageError, match="you have not agreed"):
        judged(scores, bench, "openai/gpt-x", {}, Terms(), base_url="https://models.example/v1")
