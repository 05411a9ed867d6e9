"""Providers as they are: Inspect's clients of each protocol against a real server and real weights.

The server is llama.cpp's, with a base model of 270 million parameters: what it says is worth
little. What is shown is that a question comes through under the name that was given, that nobody
is asked for consent on this machine, that tokens are counted, and that nothing is asked twice.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ehrkg.benchmark import Benchmark, example
from ehrkg.evaluation import evaluate
from ehrkg.evaluation.models.named import model_named
from ehrkg.foundation.errors import UsageError
from tests.benchmark.small_model import write_small_model
from tests.evaluation.test_models_evaluated import build_of
from tests.propose.llama_cpp_server import llama_cpp

AS_IT_IS = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}"
"""A base model goes on from the prompt, which ends in "Answer:"."""

SERVED = [
    ("anthropic/gemma", "ANTHROPIC_BASE_URL", ""),
    ("openai/gemma", "OPENAI_BASE_URL", "/v1"),
    ("openai-api/ward-7/gemma", "WARD_7_BASE_URL", "/v1"),
    ("ollama/gemma", "OLLAMA_BASE_URL", "/v1"),
    ("vllm/gemma", "VLLM_BASE_URL", "/v1"),
    ("sglang/gemma", "SGLANG_BASE_URL", "/v1"),
]
"""A model's name, the variable that says where its provider is asked, and what it takes."""

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "WARD_7_API_KEY")


@pytest.fixture(scope="module")
def server(
    small_model: Path, tmp_path_factory: pytest.TempPathFactory, not_here: Callable[[str], None]
) -> Iterator[str]:
    if importlib.util.find_spec("xllamacpp") is None:
        not_here("the package xllamacpp, which carries llama.cpp's server, is not installed")
    with llama_cpp(small_model, tmp_path_factory.mktemp("llama"), AS_IT_IS) as found:
        yield found


@pytest.mark.parametrize(("model", "variable", "path"), SERVED)
def test_a_server_of_this_machine_answers_under_each_providers_name(
    server: str,
    model: str,
    variable: str,
    path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, f"{server}{path}")
    out = build_of(tmp_path / "out", copies=1)
    bench = Benchmark.open(out)
    scores = evaluate(bench, model, limit=2, controls=False, max_tokens=4).scores
    assert set(scores["model"].to_pylist()) == {model}
    for row in scores.to_pylist():
        assert row["tokens_in"] > len(row["item_id"]), "a stem and options are many tokens"
        assert 0 < row["tokens_out"] <= 4
        assert row["answered"], "it wrote something"
    (answers,) = out.glob("evaluations/*/answers.jsonl")
    (log,) = out.glob("evaluations/*/logs/*.eval")
    recorded = answers.read_bytes()
    assert len(recorded.splitlines()) == 2
    again = evaluate(bench, model, limit=2, controls=False, max_tokens=4).scores
    assert again.equals(scores), "recorded answers come back, times and all"
    assert answers.read_bytes() == recorded
    assert list(out.glob("evaluations/*/logs/*.eval")) == [log], "nothing was asked again"
    manifest = json.loads((out / "manifest.json").read_text())
    assert [(one["remote"], one["consent"]) for one in manifest["evaluations"]] == [(False, None)]
    assert manifest["evaluations"][0]["address"].startswith(server)


def test_a_service_of_the_openai_protocol_is_judged_by_its_own_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("WARD_7_BASE_URL", raising=False)
    monkeypatch.setenv("WARD_7_API_KEY", "k")
    assert model_named("openai-api/ward-7/gemma").remote, "nobody said where it is"
    monkeypatch.setenv("WARD_7_BASE_URL", "http://ward.example/v1")
    assert model_named("openai-api/ward-7/gemma").remote
    monkeypatch.delenv("WARD_7_API_KEY")
    with pytest.raises(UsageError, match="WARD_7_API_KEY is not set"):
        model_named("openai-api/ward-7/gemma")


def test_weights_are_loaded_by_inspects_own_provider_too(tmp_path: Path) -> None:
    texts = example().column("stem").to_pylist()
    folder = write_small_model(texts * 4, tmp_path / "tiny")
    bench = example().filter(format="oeq", split="test").sample(2, seed=3)
    found = [
        evaluate(bench, f"hf/{folder}", controls=False, max_tokens=4, model_args={"device": "cpu"})
        for _ in range(2)
    ]
    for results in found:
        assert set(results.scores["model"].to_pylist()) == {f"hf/{folder}"}
        assert all(row["tokens_in"] > 4 for row in results.scores.to_pylist())
        assert all(0 < row["tokens_out"] <= 4 for row in results.scores.to_pylist())
    first, second = (one.scores["answered"].to_pylist() for one in found)
    assert first == second, "at temperature 0 no word is drawn"
