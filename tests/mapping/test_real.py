"""The mapping on real tables, with the shipped knowledge: its reach and its correctness."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from ehrkg import ontology
from ehrkg.ehr import read
from ehrkg.mapping import NEAR, Mapping, map_codes
from ehrkg.ontology.schema import Knowledge

from .worlds import codes


@pytest.fixture(scope="module")
def shipped() -> Knowledge:
    known = ontology.shipped()
    if not known.concepts.num_rows:
        pytest.skip("nothing is shipped yet")
    return known


def ingredient_ids(mapping: Mapping) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in mapping.links.to_pylist():
        found.setdefault(row["code"], set()).add(row["concept"])
    return found


def test_drug_strings_read_by_hand(shared_data: Path, shipped: Knowledge) -> None:
    vocabulary = shared_data / "drugbank-vocabulary" / "drugbank_vocabulary.csv"
    known = ontology.merge(shipped, ontology.load(vocabulary))
    with (shared_data / "gold" / "drug-strings.tsv").open(encoding="utf-8") as handle:
        gold = list(csv.DictReader(handle, delimiter="\t"))
    ids = [f"DRUGNAME:{' '.join(row['drug'].lower().split())}" for row in gold]
    mapping = map_codes(codes(*sorted(set(ids))), known)
    kinds = {row["code"]: row["drug_kind"] for row in mapping.drug_strings.to_pylist()}
    read_as = ingredient_ids(mapping)
    right = wrong = missed = 0
    for code, row in zip(ids, gold, strict=True):
        meant = {f"DRUGBANK:{each}" for each in row["drugbank_ids"].split("|") if each}
        said = {each for each in read_as.get(code, set()) if each.startswith("DRUGBANK:")}
        right += len(said & meant)
        wrong += len(said - meant)
        missed += len(meant - said)
    kind_right = sum(kinds[code] == row["kind"] for code, row in zip(ids, gold, strict=True))
    assert kind_right / len(gold) >= 0.95
    assert right / (right + wrong) >= 0.97
    assert right / (right + missed) >= 0.92


def test_most_rows_of_a_real_hospital_reach_a_near_concept(
    mimic4_demo: Path, shipped: Knowledge
) -> None:
    hospital = read(mimic4_demo)
    known = ontology.merge(shipped, ontology.for_codes(hospital.codes))
    mapping = map_codes(hospital.codes, known)
    near = {row["code"] for row in mapping.links.to_pylist() if row["levels"] <= NEAR}
    no_drug = {
        row["code"] for row in mapping.drug_strings.to_pylist() if row["drug_kind"] != "drug"
    }
    assert share(hospital.events, "diagnosis", near) >= 0.75
    assert share(hospital.events, "procedure", near) >= 0.60
    assert share(hospital.events, "drug", near, apart=no_drug) >= 0.92


def share(
    events: pa.Table, kind: str, near: set[str], apart: set[str] | frozenset[str] = frozenset()
) -> float:
    """The share of a kind's rows whose code is among ``near``."""
    rows = zip(events["kind"].to_pylist(), events["code"].to_pylist(), strict=True)
    written = [code for of, code in rows if of == kind and code not in apart]
    return sum(code in near for code in written) / len(written)
