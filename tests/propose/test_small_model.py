"""The real small model tells what is known from what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ehrkg.propose.models.asking import Statement
from ehrkg.propose.models.transformers import TransformersModel

KNOWN = {
    "metformin": "type 2 diabetes",
    "levothyroxine": "hypothyroidism",
    "warfarin": "atrial fibrillation",
    "albuterol": "asthma",
    "allopurinol": "gout",
    "sertraline": "depression",
}


@pytest.fixture(scope="module")
def model(small_model: Path) -> TransformersModel:
    return TransformersModel(small_model.parent, gguf_file=small_model.name)


def test_what_is_known_stands_out(model):
    drugs, diseases = tuple(KNOWN), tuple(KNOWN.values())

    def mean_chance(tails):
        chances = [
            model.weighing.chance(Statement("r", drug, "treats", tail, drugs, diseases))
            for drug, tail in zip(drugs, tails, strict=True)
        ]
        return sum(chances) / len(chances)

    turned = (*diseases[2:], *diseases[:2])
    assert mean_chance(diseases) < 0.25 < mean_chance(turned)
