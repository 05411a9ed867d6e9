"""Models are asked through Inspect; what they answered is recorded and never asked again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ehrkg.evaluation.models.generation import Generation
from ehrkg.evaluation.models.named import model_named
from ehrkg.evaluation.models.prompted import Prompted
from ehrkg.evaluation.models.running import QUIET, ask, quiet
from ehrkg.foundation.errors import ServiceError, UsageError
from ehrkg.foundation.progress import Silent
from ehrkg.propose.models.recorded import RecordedAnswers

TOKENS = {"plain": 8, "no_stem": 8}


def prompts(n: int) -> list[Prompted]:
    return [
        Prompted(setting, f"i{number}", "", text, ("t1",))
        for number in range(n)
        for setting, text in (("plain", f"question {number}"), ("no_stem", "options"))
    ]


def asked(model: object, record: RecordedAnswers, folder: Path, n: int = 12) -> None:
    ask(
        model_named(model),  # type: ignore[arg-type]
        prompts(n),
        record,
        folder / "logs",
        keyed_by="m",
        generation=Generation(retries=0),
        tokens=TOKENS,
        progress=Silent(),
    )


def test_a_function_is_asked_each_prompt_once_and_its_answers_outlive_the_process(
    tmp_path: Path,
) -> None:
    given: list[str] = []

    def echo(texts: list[str]) -> list[str]:
        given.extend(texts)
        return [f"said {text}" for text in texts]

    record = RecordedAnswers(tmp_path / "answers.jsonl")
    asked(echo, record, tmp_path)
    assert sorted(given) == sorted(["options", *(f"question {number}" for number in range(12))])
    again = RecordedAnswers(tmp_path / "answers.jsonl")
    asked(echo, again, tmp_path)
    assert len(given) == 13
    told = {one.text: again[one.key("m")].content["text"] for one in prompts(12)}
    assert told["question 3"] == "said question 3"
    logs = list((tmp_path / "logs").glob("*.eval"))
    assert len(logs) == 2, "a log a setting, and none where nothing was left to ask"


def test_a_function_that_fails_fails_as_itself_and_keeps_what_it_said(tmp_path: Path) -> None:
    record = RecordedAnswers(None)

    def moody(texts: list[str]) -> list[str]:
        if len(record) > 2:
            raise KeyError("moody")
        return ["A"] * len(texts)

    with pytest.raises(KeyError, match="moody"):
        asked(moody, record, tmp_path, 100)
    assert 2 < len(record) < 101


def test_a_function_gives_one_text_a_prompt(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="prompts and gave"):
        asked(lambda texts: [*texts, "more"], RecordedAnswers(None), tmp_path)


def test_a_server_that_is_down_is_a_service_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="nobody answers at"):
        ask(
            model_named("openai/m", base_url="http://127.0.0.1:9/v1"),
            prompts(1),
            RecordedAnswers(None),
            tmp_path,
            keyed_by="m",
            generation=Generation(),
            tokens=TOKENS,
            progress=Silent(),
        )


def test_inspect_tells_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_TELEMETRY", "somebody.listens")
    monkeypatch.setenv("NO_PROXY", "intranet")
    with quiet():
        assert {name: os.environ[name] for name in QUIET} == QUIET
        assert "127.0.0.1" in os.environ["NO_PROXY"]
    assert os.environ["INSPECT_TELEMETRY"] == "somebody.listens"
    assert os.environ["NO_PROXY"] == "intranet"


@pytest.mark.parametrize(
    ("words", "base_url", "remote"),
    [
        ("openai/m", "http://127.0.0.1:1/v1", False),
        ("openai/m", "http://10.0.0.5:1/v1", True),
        ("openai/azure/m", "http://127.0.0.1:1/v1", True),
        ("ollama/m", None, False),
        ("ollama/m", "http://ward.example:11434/v1", True),
        ("vllm/m", "http://[::1]:8000/v1", False),
        ("hf/m", None, False),
        ("mockllm/model", None, False),
        ("groq/m", None, True),
    ],
)
def test_whether_a_question_leaves_this_machine_is_judged_by_where_it_goes(
    words: str, base_url: str | None, remote: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("OLLAMA_BASE_URL", raising=False)
    assert model_named(words, base_url=base_url).remote is remote


def test_an_address_in_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://ward.example:11434/v1")
    assert model_named("ollama/m").remote
    monkeypatch.setenv("INSPECT_EVAL_MODEL_BASE_URL", "http://127.0.0.1:1/v1")
    assert model_named("ollama/m").remote, "its own variable is read first"


def test_a_key_that_is_missing_is_said_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    with pytest.raises(UsageError, match="there is no key for anthropic"):
        model_named("anthropic/claude")
