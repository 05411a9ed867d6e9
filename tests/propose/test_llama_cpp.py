"""The real SDKs against llama.cpp's real server, with a real model of 270 million parameters.

It is a base model: what it says is worth little. What is shown is that a question comes through, is
held to its schema where the server can, and is paid for once.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.ledger import Ledger
from ehrkg.propose import LanguageModel
from ehrkg.propose.cooccurrence import everything_seen
from ehrkg.propose.models.anthropic import AnthropicModel
from ehrkg.propose.models.asking import ANSWERED, CUT_SHORT, UNREADABLE
from ehrkg.propose.models.openai_compatible import OpenAICompatibleModel
from tests.propose.llama_cpp_server import llama_cpp
from tests.propose.worlds import hospital


@pytest.fixture(scope="module")
def address(
    small_model: Path, tmp_path_factory: pytest.TempPathFactory, not_here: Callable[[str], None]
) -> Iterator[str]:
    # Looked for, not imported: beside PyTorch its libraries end the process.
    if importlib.util.find_spec("xllamacpp") is None:
        not_here("the package xllamacpp, which carries llama.cpp's server, is not installed")
    with llama_cpp(small_model, tmp_path_factory.mktemp("llama")) as found:
        yield found


@pytest.fixture
def world() -> Hospital:
    return hospital([[{"D:heart failure", "D:cataract", "R:furosemide@oral"}]])


def gpt(address: str, **given: Any) -> LanguageModel:
    model = OpenAICompatibleModel(f"{address}/v1", "gemma", workers=1, max_retries=0)
    return LanguageModel(model, min_patients=1, **given)


def claude(address: str, **given: Any) -> LanguageModel:
    model = AnthropicModel(
        "gemma", base_url=address, api_key="none", workers=1, max_retries=0, most_tokens=24
    )
    return LanguageModel(model, min_patients=1, **given)


def test_the_server_holds_even_a_base_model_to_the_schema(address, world, tmp_path):
    path, ledger = tmp_path / "answers.jsonl", Ledger()
    proposed = gpt(address, answers=path).propose(world, ledger=ledger)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["status"] for row in rows] == [ANSWERED] * 3
    assert all(row["tokens_in"] > 50 and row["tokens_out"] > 0 for row in rows)
    assert ledger.dropped("propose", "question") == {}
    assert "index_out_of_range" not in ledger.dropped("propose", "relation_named")
    nobody = "http://127.0.0.1:9"
    assert gpt(nobody, answers=path).propose(world).equals(proposed)


def test_a_visit_comes_through_too(address, world):
    ledger = Ledger()
    proposed = gpt(address, per="visit").propose(world, tasks=["treatment"], ledger=ledger)
    assert ledger.dropped("propose", "question") == {}
    assert set(proposed["id"].to_pylist()) <= set(everything_seen(world, None)["id"].to_pylist())


def test_anthropics_protocol_without_the_schema_is_read_or_counted(address, world, tmp_path):
    """llama.cpp speaks Anthropic's protocol, but leaves the form of the answer to the model."""
    path, ledger = tmp_path / "answers.jsonl", Ledger()
    proposed = claude(address, answers=path).propose(world, ledger=ledger)
    statuses = Counter(json.loads(line)["status"] for line in path.read_text().splitlines())
    assert statuses.total() == 3
    assert set(statuses) <= {ANSWERED, CUT_SHORT, UNREADABLE}
    assert sum(ledger.dropped("propose", "question").values()) == 3 - statuses[ANSWERED]
    assert set(proposed["id"].to_pylist()) <= set(everything_seen(world, None)["id"].to_pylist())
    nobody = "http://127.0.0.1:9"
    assert claude(nobody, answers=path).propose(world).equals(proposed)
