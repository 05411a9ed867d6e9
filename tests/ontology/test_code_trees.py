"""Code systems: trees, instructions, equivalents and groups of the codes a hospital uses."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology import for_codes
from ehrkg.ontology.icd10cm import parse_targets
from ehrkg.ontology.procedures import pcs_node
from ehrkg.ontology.schema import Knowledge


def codes(*ids: str) -> pa.Table:
    return pa.table({"id": list(ids), "name": [""] * len(ids)})


def attributes(known: Knowledge) -> dict[str, dict[str, Any]]:
    return {row["code"]: row for row in known.attributes.to_pylist()}


def rules(known: Knowledge) -> set[tuple[str, str, str]]:
    return {
        (r["subject"], r["predicate"], r["object"])
        for r in known.edges.to_pylist()
        if r["predicate"] != "SUBCLASS_OF"
    }


def test_a_code_brings_its_ancestors_up_to_the_category() -> None:
    found = attributes(for_codes(codes("ICD10CM:I50.23", "ICD9CM:428.23", "ICD9CM:E849.7")))
    assert {"ICD10CM:I50.23", "ICD10CM:I50.2", "ICD10CM:I50"} <= set(found)
    assert found["ICD10CM:I50"]["parent"] == ""
    assert found["ICD9CM:E849.7"]["category"] == "ICD9CM:E849"
    assert found["ICD10CM:I50.23"]["chapter"] == "ICD10CM:9"
    assert found["ICD9CM:428.23"]["chapter"] == "ICD9CM:7"
    assert found["ICD9CM:428.23"]["ccsr"] == found["ICD10CM:I50.23"]["ccsr"] == ["CIR019"]
    assert found["ICD10CM:I50.23"]["chronic"] is True
    assert "ICD10CM:I50.23" in found["ICD9CM:428.23"]["equivalents"]


def test_the_same_string_in_two_versions_is_two_codes() -> None:
    found = attributes(for_codes(codes("ICD9CM:E878.1", "ICD10CM:E87.81", "ICD9CM:V10.3")))
    assert found["ICD9CM:E878.1"]["category"] == "ICD9CM:E878"
    assert found["ICD10CM:E87.81"]["category"] == "ICD10CM:E87"
    assert found["ICD9CM:V10.3"]["chapter"] == "ICD9CM:18"


def test_leading_zeros_are_data() -> None:
    found = attributes(for_codes(codes("ICD9CM:008.45", "ICD9PROC:00.66")))
    assert found["ICD9CM:008.45"]["name"].startswith("Intestinal infection due to Clostridium")
    assert found["ICD9PROC:00.66"]["parent"] == "ICD9PROC:00.6"


def test_codes_that_the_tables_lack_still_get_a_row() -> None:
    found = attributes(for_codes(codes("ICD10CM:I50.777", "ICD9CM:999.777", "ICD10PCS:ZZZ")))
    assert (
        found["ICD10CM:I50.777"] | {"name": "", "parent": "ICD10CM:I50"} == found["ICD10CM:I50.777"]
    )
    assert found["ICD9CM:999.777"]["parent"].startswith("ICD9CM:999")
    assert found["ICD10PCS:ZZZ"]["name"] == ""


def test_pcs_codes_climb_by_their_axes() -> None:
    assert pcs_node("5A1D70Z").parent == "ICD10PCS:5A1D70"
    assert pcs_node("0210").name == "Bypass Coronary Artery, One Artery"
    assert pcs_node("021").parent == ""


@pytest.mark.parametrize(
    ("note", "targets"),
    [
        ("heart failure (I50.-)", ("I50",)),
        ("drug-induced diabetes (E09.-)", ("E09",)),
        ("hypertensive heart disease (I13.0, I13.2)", ("I13.0", "I13.2")),
        ("use of insulin (Z79.4)", ("Z79.4",)),
        ("infections (A00-B99)", ()),
        ("diseases of arteries (I70-I79)", ()),
        ("no code at all (see above)", ()),
    ],
)
def test_instructions_name_codes_and_ranges_but_no_chapters(
    note: str, targets: tuple[str, ...]
) -> None:
    assert parse_targets(note) == targets


def test_instructions_bind_the_codes_given_and_their_icd9_shadows() -> None:
    known = for_codes(
        codes(
            "ICD10CM:I13.0",
            "ICD10CM:I50.23",
            "ICD10CM:N18.3",
            "ICD10CM:D63.1",
            "ICD9CM:285.21",
            "ICD9CM:585.3",
        )
    )
    found = rules(known)
    assert ("ICD10CM:I13.0", "USE_ADDITIONAL_CODE", "ICD10CM:I50") in found
    assert ("ICD10CM:D63.1", "CODE_FIRST", "ICD10CM:N18") in found
    assert ("ICD9CM:285.21", "CODE_FIRST", "ICD9CM:585.3") in found
    versions = {s.partition(":")[0] == o.partition(":")[0] for s, _, o in found}
    assert versions == {True}
    ends = {end for subject, _, target in found for end in (subject, target)}
    assert ends <= set(known.concepts["id"].to_pylist())
    assert not rules(for_codes(codes("ICD10CM:I13.0")))


def test_inclusion_terms_are_synonyms_and_gems_are_mappings() -> None:
    known = for_codes(codes("ICD10CM:I50.9", "ICD9CM:427.31"))
    terms = {r["text"] for r in known.synonyms.to_pylist() if r["concept"] == "ICD10CM:I50.9"}
    assert "Congestive heart failure NOS" in terms
    assert {r["scope"] for r in known.synonyms.to_pylist()} == {"inclusion_term"}
    pairs = {(r["subject"], r["object"]) for r in known.mappings.to_pylist()}
    assert ("ICD9CM:427.31", "ICD10CM:I48.91") in pairs
    assert "ICD10CM:I48" in set(known.concepts["id"].to_pylist())


def test_drug_strings_are_passed_over_and_counted() -> None:
    ledger = Ledger()
    known = for_codes(codes("DRUGNAME:furosemide", "ICD10CM:I10"), ledger)
    assert ledger.dropped("know", "codes") == {"no_tree": 1}
    assert set(attributes(known)) == {"ICD10CM:I10"}


def test_the_order_of_the_codes_decides_nothing() -> None:
    some = ["ICD10CM:I13.0", "ICD9CM:585.3", "ICD10CM:I50.23", "ICD10PCS:5A1D70Z"]
    assert for_codes(codes(*some)) == for_codes(codes(*reversed(some)))
