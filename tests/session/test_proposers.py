"""Proposers as the command line names them."""

from __future__ import annotations

import pytest

from ehrkg.foundation.errors import UsageError
from ehrkg.propose import AnthropicBatches, Union
from ehrkg.session.proposers import asked_so, proposer_named


def test_words_name_one_proposer_or_several(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    asked = asked_so("pair", "pair,may-be-retained", 9, max_cost=2.0, prices="3,15")
    named = proposer_named("cooccurrence + anthropic-batch:m + openai:n@http://127.0.0.1/v1", asked)
    assert isinstance(named, Union)
    assert named.name == "cooccurrence+anthropic/m+openai/n"
    batch = named.proposers[1]
    assert isinstance(batch, AnthropicBatches)
    assert batch.consent.may_be_retained
    assert batch.budget.max_cost == 2.0
    assert batch.settings()["batches"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"consent": "pair,at-will"}, "no such promise: at-will"),
        ({"consent": "everything"}, "no such scope"),
        ({"prices": "cheap"}, "no prices"),
        ({"max_cost": 1.0}, "a cost limit|prices"),
    ],
)
def test_words_that_say_nothing_are_refused(words, problem):
    with pytest.raises(UsageError, match=problem):
        asked_so(**{"per": "pair", "consent": None, "max_calls": None} | words)


@pytest.mark.parametrize("words", ["oracle", "openai:", "openai:m", "anthropic-batch:"])
def test_a_proposer_that_is_none_is_refused(words):
    with pytest.raises(UsageError):
        proposer_named(words)
