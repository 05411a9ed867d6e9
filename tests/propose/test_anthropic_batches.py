"""Message Batches: the same proposals, nothing sent twice, nothing without a second word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import ServiceError, UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.propose import AnthropicBatches, Budget, Consent, LanguageModel
from ehrkg.propose.models.anthropic import AnthropicModel
from ehrkg.propose.models.anthropic_batches import AnthropicBatchModel
from tests.propose.model_server import ModelServer, serving
from tests.propose.worlds import hospital


@pytest.fixture
def world() -> Hospital:
    return hospital([[{"D1", "D2", "D3", "R1@oral", "R2@oral"}]])


def oral(prompt: str) -> str:
    lines = re.findall(r"^(\d+)\. (.*)$", prompt, re.MULTILINE)
    return json.dumps({"holds": [int(number) for number, text in lines if "R1" in text]})


def batches(server: ModelServer, answers: Path | None = None, **given: Any) -> LanguageModel:
    model = AnthropicBatchModel(
        "m",
        base_url=f"http://127.0.0.1:{server.port}",
        api_key="k",
        max_retries=2,
        timeout=1.0,
        first_wait=0.01,
    )
    return LanguageModel(model, min_patients=1, answers=answers, **given)


def one_by_one(server: ModelServer, answers: Path | None = None) -> LanguageModel:
    model = AnthropicModel("m", base_url=f"http://127.0.0.1:{server.port}", api_key="k", workers=1)
    return LanguageModel(model, min_patients=1, answers=answers)


def test_a_batch_proposes_what_single_questions_do(world, tmp_path):
    path = tmp_path / "answers.jsonl"
    with serving(ModelServer(oral)) as server:
        single = one_by_one(server).propose(world)
        questions = len(server.asked)
    with serving(ModelServer(oral)) as server:
        server.looks = 3
        assert batches(server, path).propose(world).equals(single)
        assert [len(batch) for batch in server.batches] == [questions]
        seen = server.connections
        assert one_by_one(server, path).propose(world).equals(single)  # the answers are shared
        assert server.connections == seen


def test_a_run_that_is_stopped_while_it_waits_collects_what_it_sent(world, tmp_path):
    path = tmp_path / "answers.jsonl"
    with serving(ModelServer(oral)) as server:
        wanted = batches(server).propose(world)
    with serving(ModelServer(oral)) as server:
        server.looks = 2
        server.faults = ["", "500", "500", "500"]  # made, then not to be reached any more
        with pytest.raises(ServiceError, match="500"):
            batches(server, path).propose(world)
        (tmp_path / "answers.batches.jsonl").open("ab").write(b'{"batch": "b0", "sc')  # a cut write
        assert batches(server, path).propose(world).equals(wanted)
        assert len(server.batches) == 1
        assert batches(server, path).propose(world).equals(wanted)
        assert len(server.batches) == 1


@pytest.mark.parametrize("faults", [["429"], ["", "529"], ["", "", "500"], ["", "", "cut"]])
def test_a_passing_fault_sends_nothing_twice(world, faults):
    with serving(ModelServer(oral)) as server:
        wanted = batches(server).propose(world)
    with serving(ModelServer(oral, faults)) as server:
        server.looks = 0
        assert batches(server).propose(world).equals(wanted)
        assert len(server.batches) == 1


def test_only_what_expired_or_failed_is_sent_again(world):
    with serving(ModelServer(oral)) as server:
        wanted = batches(server).propose(world)
    with serving(ModelServer(oral)) as server:
        server.fates = ["expired", "", "overloaded_error", "api_error"]
        assert batches(server).propose(world).equals(wanted)
        assert [len(batch) for batch in server.batches] == [len(server.batches[0]), 3]


def test_what_stays_without_an_answer_is_said_and_the_rest_is_kept(world, tmp_path):
    path = tmp_path / "answers.jsonl"
    with serving(ModelServer(oral)) as server:
        server.fates = ["", *["expired"] * 99]
        with pytest.raises(ServiceError, match="without an answer in 3 batches"):
            batches(server, path).propose(world)
        server.fates = []
        batches(server, path).propose(world)
        assert len(server.batches[-1]) == len(server.batches[0]) - 1


@pytest.mark.parametrize(
    ("fate", "problem"),
    [("invalid_request_error", "refuses 1 questions"), ("canceled", "was cancelled with 1")],
)
def test_what_sending_again_would_not_mend_stops(world, tmp_path, fate, problem):
    path = tmp_path / "answers.jsonl"
    with serving(ModelServer(oral)) as server:
        server.fates = ["", fate]
        with pytest.raises(ServiceError, match=problem):
            batches(server, path).propose(world)
        assert len(server.batches) == 1
        batches(server, path).propose(world)
        assert len(server.batches[1]) == 1


def test_answers_that_are_none_are_kept_and_counted(world, tmp_path):
    path, ledger = tmp_path / "answers.jsonl", Ledger()
    with serving(ModelServer(oral)) as server:
        server.fates = ["refusal", "max_tokens", "invalid"]
        batches(server, path).propose(world, ledger=ledger)
        batches(server, path).propose(world)
        assert len(server.batches) == 1
    told = {"refused": 1, "cut_short": 1, "unreadable": 1}
    assert ledger.dropped("propose", "question") == told


def test_the_budget_bounds_a_batch(world):
    with serving(ModelServer(oral)) as server:
        proposer = batches(server, budget=Budget(max_tokens=1000))
        told = proposer.estimate(world)
        proposer.propose(world)
        assert 0 < len(server.batches[0]) == told.calls < 10


WORDS = {"no_training": True, "no_human_review": True}


@pytest.mark.parametrize(
    ("consent", "hospital_format", "problem"),
    [
        (Consent("pair"), "omop", "have not agreed"),
        (Consent("pair", no_retention=True, **WORDS), "omop", "have not agreed"),
        (Consent("pair", may_be_retained=True, **WORDS), "mimic4", "nothing is retained"),
        (Consent("visit", may_be_retained=True), "omop", "pairs"),
    ],
)
def test_a_batch_needs_the_second_word(consent, hospital_format, problem):
    tables = hospital([[{"D1", "D2"}]] * 11)
    tables = Hospital(**{**vars(tables), "format": hospital_format})
    with serving(ModelServer(oral)) as server:
        # 0.0.0.0 reaches this very server, and is no loopback address
        address = f"http://0.0.0.0:{server.port}"
        proposer = AnthropicBatches("m", base_url=address, api_key="k", consent=consent)
        with pytest.raises(UsageError, match=problem):
            proposer.propose(tables)
        assert server.connections == 0


def test_the_two_words_on_retention_exclude_each_other():
    with pytest.raises(UsageError, match="both"):
        Consent("pair", no_retention=True, may_be_retained=True)
