"""What hospital tables hold most of reaches a concept with what ships alone, at most a level up."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import simple_icd_10_cm
import yaml

from ehrkg import ontology
from ehrkg.mapping import NEAR, map_codes
from ehrkg.ontology.code_tables import titles

LISTS = yaml.safe_load((Path(__file__).parent / "frequent_codes.yaml").read_text(encoding="utf-8"))
SYSTEMS = {
    "diagnoses": ("ICD10CM", "diagnosis"),
    "drugs": ("DRUGNAME", "drug"),
    "procedures": ("ICD10PCS", "procedure"),
}
ROWS = [
    {"id": f"{system}:{code}", "system": system, "code": code, "name": "", "kind": kind}
    for name, (system, kind) in SYSTEMS.items()
    for code in LISTS[name]
]


@pytest.fixture(scope="module")
def near() -> dict[str, set[str]]:
    """The names of the concepts within a level of each code, from one call of the mapper."""
    hospital = pa.Table.from_pylist(ROWS)
    known = ontology.merge(ontology.shipped(), ontology.for_codes(hospital))
    concepts = known.concepts.select(["id", "name"]).to_pylist()
    names = {row["id"]: row["name"] for row in concepts}
    found: dict[str, set[str]] = {}
    for link in map_codes(hospital, known).links.to_pylist():
        if link["levels"] <= NEAR:
            found.setdefault(link["code"], set()).add(names[link["concept"]])
    return found


def test_the_lists_are_long_enough_and_hold_codes_that_can_be_billed() -> None:
    assert len(LISTS["diagnoses"]) >= 300
    assert len(LISTS["drugs"]) == len(set(LISTS["drugs"])) >= 150
    assert len(LISTS["procedures"]) >= 60
    wrong = [
        code
        for code in LISTS["diagnoses"]
        if not (simple_icd_10_cm.is_valid_item(code) and simple_icd_10_cm.is_leaf(code))
    ]
    assert wrong == []
    assert LISTS["procedures"].keys() <= titles("ICD10PCS").keys()


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_each_frequent_code_reaches_a_concept(name: str, near: dict[str, set[str]]) -> None:
    system, _ = SYSTEMS[name]
    codes = [f"{system}:{code}" for code in LISTS[name]]
    assert [code for code in codes if code not in near] == []


@pytest.mark.parametrize(
    ("code", "concept"),
    [
        ("ICD10CM:I10", "hypertension"),
        ("ICD10CM:E11.22", "type 2 diabetes mellitus"),
        ("ICD10CM:N17.9", "acute kidney injury"),
        ("ICD10CM:R50.9", "fever"),
        ("ICD10CM:I95.9", "hypotension"),
        ("ICD10CM:Z87.891", "history of nicotine dependence"),
        ("ICD10CM:Z79.01", "long-term anticoagulant therapy"),
        ("ICD10CM:Z68.41", "morbid obesity"),
        ("ICD10CM:Z3A.39", "pregnancy"),
        ("ICD10CM:P07.39", "preterm birth"),
        ("ICD10CM:O70.1", "perineal laceration during delivery"),
        ("DRUGNAME:piperacillin-tazobactam", "tazobactam"),
        ("DRUGNAME:ipratropium-albuterol", "albuterol"),
        ("ICD10PCS:10E0XZZ", "vaginal delivery"),
        ("ICD10PCS:5A1955Z", "mechanical ventilation"),
        ("ICD10PCS:027034Z", "coronary artery stent insertion"),
    ],
)
def test_the_concept_is_the_one_meant(code: str, concept: str, near: dict[str, set[str]]) -> None:
    assert concept in near[code]
    assert near[code].isdisjoint({"disease", "human disease", "phenotypic abnormality"})
