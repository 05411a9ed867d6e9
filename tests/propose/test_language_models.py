"""Models propose by number, are paid once for an answer, and are sent nothing without consent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import InputError, ServiceError, UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.propose import (
    Anthropic,
    Budget,
    Consent,
    Cooccurrence,
    LanguageModel,
    OpenAICompatible,
    Union,
)
from ehrkg.propose.models.anthropic import AnthropicModel
from ehrkg.propose.models.openai_compatible import OpenAICompatibleModel
from ehrkg.propose.models.prompts import read_prompt
from tests.propose.model_server import ModelServer, serving
from tests.propose.worlds import hospital

ALL = Consent("pair", no_retention=True, no_training=True, no_human_review=True)


@pytest.fixture
def world() -> Hospital:
    """Three patients with two diagnoses and a drug, one with another drug as well."""
    return hospital(
        [
            [{"D1", "D2", "R1@oral"}],
            [{"D1", "D2", "R1@oral"}, {"D1", "D3"}],
            [{"D1", "R1@oral", "R2@topical"}],
            [{"D1", "R2@topical"}],
        ]
    )


def treats_only(prompt: str) -> str:
    """Says that the oral drug treats anything, and nothing else."""
    lines = re.findall(r"^(\d+)\. (.*)$", prompt, re.MULTILINE)
    return json.dumps(
        {"holds": [int(n) for n, text in lines if text.startswith("R1 (oral) treats")]}
    )


def everything(prompt: str) -> str:
    return json.dumps({"holds": [int(n) for n in re.findall(r"^(\d+)\. ", prompt, re.MULTILINE)]})


def claude(server: ModelServer, **given: object) -> LanguageModel:
    model = AnthropicModel(
        "m",
        base_url=f"http://127.0.0.1:{server.port}",
        api_key="k",
        timeout=1.0,
        max_retries=2,
        workers=1,
    )
    return LanguageModel(model, **{"min_patients": 1, **given})  # type: ignore[arg-type]


def gpt(server: ModelServer, **given: object) -> LanguageModel:
    model = OpenAICompatibleModel(
        f"http://127.0.0.1:{server.port}/v1", "m", timeout=1.0, max_retries=2, workers=1
    )
    return LanguageModel(model, **{"min_patients": 1, **given})  # type: ignore[arg-type]


BOTH = pytest.mark.parametrize("client", [claude, gpt])


@BOTH
def test_only_what_the_model_names_is_proposed(client, world):
    with serving(ModelServer(treats_only)) as server:
        table = client(server).propose(world, tasks=["treatment"])
    assert set(zip(table["head"].to_pylist(), table["tail"].to_pylist(), strict=True)) == {
        ("R1", "D1"),
        ("R1", "D2"),
    }
    assert set(table["predicate"].to_pylist()) == {"TREATS"}
    assert table["n_patients"].to_pylist() == [
        {"D1": 3, "D2": 2}[tail] for tail in table["tail"].to_pylist()
    ]


@BOTH
def test_each_pair_is_asked_once_whatever_the_number_of_visits(client, world):
    with serving(ModelServer(everything)) as server:
        client(server).propose(world)
        asked = len(server.asked)
        assert asked == len(set(server.asked))
    twice = hospital([[{"D1", "D2", "R1@oral"}, {"D1", "D2", "R1@oral"}]] * 9)
    once = hospital([[{"D1", "D2", "R1@oral"}]] * 3)
    for tables in (twice, once):
        with serving(ModelServer(everything)) as server:
            client(server).propose(tables, tasks=["treatment", "diagnosis"])
            assert len(server.asked) == 3


def test_an_answer_is_held_to_the_numbers_that_were_shown(world):
    with serving(ModelServer(lambda _prompt: '{"holds": [0, 99, -1]}')) as server:
        ledger = Ledger()
        table = claude(server).propose(world, tasks=["treatment"], ledger=ledger)
        allowed = server.schemas[0]["properties"]["holds"]["items"]
    assert allowed.get("const") == 0 or allowed.get("enum") == [0]
    questions = len(server.asked)
    assert table.num_rows == questions
    assert ledger.dropped("propose", "relation_named") == {"index_out_of_range": 2 * questions}


@BOTH
@pytest.mark.parametrize("faults", [["429"], ["500", "529"], ["cut"], ["late"]])
def test_a_passing_fault_is_retried_and_changes_nothing(client, world, faults):
    with serving(ModelServer(treats_only)) as server:
        calm = client(server).propose(world, tasks=["treatment"])
    with serving(ModelServer(treats_only, faults)) as server:
        assert client(server).propose(world, tasks=["treatment"]).equals(calm)


@BOTH
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("refusal", "refused"),
        ("max_tokens", "cut_short"),
        ("invalid", "unreadable"),
        ("empty", "unreadable"),
    ],
)
def test_an_answer_that_is_none_is_kept_counted_and_not_asked_again(
    client, world, fault, status, tmp_path
):
    path = tmp_path / "answers.jsonl"
    with serving(ModelServer(treats_only, [fault])) as server:
        ledger = Ledger()
        first = client(server, answers=path).propose(world, tasks=["treatment"], ledger=ledger)
        questions = len(server.asked)
        again = client(server, answers=path).propose(world, tasks=["treatment"])
        assert len(server.asked) == questions
    assert ledger.dropped("propose", "question") == {status: 1}
    assert first.equals(again)


@BOTH
def test_a_model_that_stays_away_stops_the_run_and_loses_no_answer(client, world, tmp_path):
    path = tmp_path / "answers.jsonl"
    with serving(ModelServer(treats_only)) as server:
        wanted = client(server).propose(world)
        questions = len(server.asked)
    with (
        serving(ModelServer(treats_only, ["", "", *["500"] * 3])) as server,
        pytest.raises(ServiceError, match="500"),
    ):
        client(server, answers=path).propose(world)
    with serving(ModelServer(treats_only)) as server:
        assert client(server, answers=path).propose(world).equals(wanted)
        # two were answered; the one after the failure may have been in flight
        assert questions - 3 <= len(server.asked) <= questions - 2


def test_a_line_that_a_kill_cut_off_is_asked_again(world, tmp_path):
    path = tmp_path / "answers.jsonl"
    with serving(ModelServer(treats_only)) as server:
        wanted = claude(server, answers=path).propose(world)
        asked = len(server.asked)
        path.write_bytes(path.read_bytes()[:-5])
        assert claude(server, answers=path).propose(world).equals(wanted)
        assert len(server.asked) == asked + 1
        path.write_bytes(b"garbage\n" + path.read_bytes())
        with pytest.raises(InputError, match="not a recorded answer"):
            claude(server, answers=path).propose(world)


@pytest.mark.parametrize(
    ("consent", "problem"),
    [
        (None, "you have not agreed"),
        (Consent("visit", no_retention=True, no_training=True, no_human_review=True), "pairs"),
        (Consent("pair", no_training=True), "no_retention, no_human_review"),
    ],
)
def test_nothing_leaves_without_consent(world, consent, problem):
    mimic = Hospital(**{**vars(world), "format": "mimic4"})
    with serving(ModelServer(everything)) as server:
        # 0.0.0.0 reaches this very server, and is no loopback address
        away = Anthropic(
            "m", base_url=f"http://0.0.0.0:{server.port}", api_key="k", consent=consent
        )
        with pytest.raises(UsageError, match=problem):
            away.propose(mimic)
        assert server.connections == 0


def test_with_consent_pairs_of_fewer_than_eleven_patients_stay_here():
    many = hospital([[{"D1", "D2"}]] * 11 + [[{"D1", "D3"}]] * 10)
    with serving(ModelServer(everything)) as server:
        address = f"http://0.0.0.0:{server.port}"
        Anthropic("m", base_url=address, api_key="k", consent=ALL).propose(many)
        assert server.asked
        assert not any("D3" in prompt for prompt in server.asked)
        with pytest.raises(UsageError, match="fewer than 11"):
            Anthropic("m", base_url=address, api_key="k", consent=ALL, min_patients=10)


def test_no_visit_and_no_patient_stands_in_a_pair_prompt(world):
    with serving(ModelServer(everything)) as server:
        claude(server).propose(world)
    text = "\n".join(server.asked)
    assert not re.search(r"\bv\d-\d\b|\bp\d\b", text)


def test_a_visit_is_read_by_number(world):
    def answer(prompt: str) -> str:
        events = re.findall(r"^(\d+)\. \w+: (.*)$", prompt, re.MULTILINE)
        at = {name: int(number) for number, name in events}
        if not {"R1 (oral)", "D1", "D2"} <= set(at):
            return '{"relations": []}'
        stated = {"head": at["R1 (oral)"], "predicate": "TREATS", "tail": at["D1"]}
        context = [at["D2"]]
        out = {"head": 77, "predicate": "TREATS", "tail": at["D1"], "context": context}
        wrong = {"head": at["D1"], "predicate": "TREATS", "tail": at["D2"], "context": context}
        return json.dumps({"relations": [stated | {"context": context}, out, wrong]})

    with serving(ModelServer(answer)) as server:
        ledger = Ledger()
        table = claude(server, per="visit").propose(world, tasks=["treatment"], ledger=ledger)
    assert [(row["head"], row["tail"]) for row in table.to_pylist()] == [("R1", "D1")]
    assert ledger.dropped("propose", "relation_named") == {
        "index_out_of_range": 2,
        "named_before": 1,
        "no_such_candidate": 2,
    }


def test_the_budget_stops_and_is_said_beforehand(world):
    with serving(ModelServer(everything)) as server:
        proposer = claude(server, budget=Budget(max_calls=2, price_in=1.0, price_out=1.0))
        told = proposer.estimate(world)
        ledger = Ledger()
        proposer.propose(world, ledger=ledger)
        assert len(server.asked) == told.calls == 2
    assert told.cost is not None
    assert told.cost > 0
    assert ledger.dropped("propose", "question")["over_budget"] > 0


def test_a_union_keeps_who_said_what(world):
    with serving(ModelServer(treats_only)) as server:
        counted = Cooccurrence(min_within=1, min_lift=0.0, max_p=1.0)
        both = Union(counted, claude(server)).propose(world, tasks=["treatment"])
    said = {(row["head"], row["tail"]): row["proposers"] for row in both.to_pylist()}
    assert said["R1", "D1"] == ["anthropic/m", "cooccurrence"]
    assert said["R2", "D1"] == ["cooccurrence"]
    assert both["id"].to_pylist() == sorted(both["id"].to_pylist())


def test_a_server_without_schemas_is_asked_without(world):
    with serving(ModelServer(treats_only, ["400"])) as server:
        table = gpt(server).propose(world, tasks=["treatment"])
        assert server.schemas[0] is not None
        assert server.schemas[1] is None
    assert table.num_rows == 2


def test_no_key_is_said_before_anything_else(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(UsageError, match="no key"):
        Anthropic("m")


def test_another_prompt_is_another_question(world, tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text("version: 2\nsystem: Judge.\ntext: '{{ statements | join(\"; \") }}'\n")
    path = tmp_path / "answers.jsonl"
    with serving(ModelServer(everything)) as server:
        claude(server, answers=path).propose(world)
        asked = len(server.asked)
        claude(server, answers=path, prompt=read_prompt(file)).propose(world)
        assert len(server.asked) == 2 * asked
    file.write_text("version: 2\n")
    with pytest.raises(InputError, match="lacks system, text"):
        read_prompt(file)


def test_an_openai_server_here_needs_no_consent(world):
    with serving(ModelServer(treats_only)) as server:
        proposer = OpenAICompatible(f"http://127.0.0.1:{server.port}/v1", "m", min_patients=1)
        assert proposer.propose(world, tasks=["treatment"]).num_rows == 2
