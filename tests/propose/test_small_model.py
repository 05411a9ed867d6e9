"""The real small model tells what is known from what is not, and proposes on real tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.workspace import load_result
from ehrkg.propose import Budget, Cooccurrence, LanguageModel, Union
from ehrkg.propose.models.asking import Statement
from ehrkg.propose.models.transformers import TransformersModel
from ehrkg.verify import by_proposer, verify
from ehrkg.verify.worth import VERDICTS

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


DRUGS = ("furosemide", "metformin", "levothyroxine sodium", "warfarin", "omeprazole", "allopurinol")
DISEASES = (
    "congestive heart failure, unspecified",
    "type 2 diabetes mellitus without complications",
    "hypothyroidism, unspecified",
    "unspecified atrial fibrillation",
    "gastro-esophageal reflux disease without esophagitis",
    "gout, unspecified",
)


def part_of(hospital: Hospital) -> Hospital:
    """Of the MIMIC-IV demo, a few drugs and diagnoses: the model takes a second for each pair."""
    names = pc.utf8_lower(hospital.codes["name"])
    wanted = [any(drug in name for drug in DRUGS) or name in DISEASES for name in names.to_pylist()]
    codes = hospital.codes.filter(pa.array(wanted))
    rows = hospital.visit_codes
    held = rows.filter(pc.is_in(rows["code"], value_set=codes["id"].combine_chunks()))
    return replace(hospital, codes=codes, visit_codes=held)


def test_on_the_mimic_iv_demo_its_proposals_get_verdicts(built_mimic4, model, tmp_path):
    work = built_mimic4 / ".work"
    hospital, knowledge, mapped = (load_result(work / name) for name in ("read-1", "know", "map"))
    budget, ledger = Budget(max_calls=40), Ledger()
    small = LanguageModel(model, budget=budget, answers=tmp_path / "answers.jsonl")
    both = Union(Cooccurrence(), small)
    named = both.propose(part_of(hospital), tasks=["treatment"], ledger=ledger)
    proposed = named.filter([small.name in by for by in named["proposers"].to_pylist()])
    assert 0 < proposed.num_rows < 40

    verified = verify(proposed, mapped.links, knowledge, cache=work / "embeddings")
    relations = verified.relations
    assert sorted(relations["id"].to_pylist()) == sorted(proposed["id"].to_pylist())
    worth = {row["proposer"]: row for row in by_proposer(relations).to_pylist()}[small.name]
    assert sum(worth[verdict] for verdict in VERDICTS) == worth["proposed"] == proposed.num_rows
    assert worth["supported"] > 0
