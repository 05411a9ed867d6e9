"""A user's own pairs: codes, CURIEs, names; unknown ones are unlinked, wrong tables are said so."""

from __future__ import annotations

import pyarrow as pa
import pytest
import tiny

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify import resolve_pairs, verify

QUIET = tiny.QUIET


@pytest.fixture
def world() -> Knowledge:
    return tiny.knowledge(
        [
            tiny.edge("DRUGBANK:DB00695", "TREATS", "MONDO:0005252"),
            tiny.edge("DRUGBANK:DB1", "TREATS", "MONDO:2"),
            tiny.edge("MONDO:0005252", "CAUSES", "MONDO:2"),
        ],
        [
            ("DRUGBANK:DB00695", "furosemide", "drug", ""),
            ("DRUGBANK:DB1", 'drug "A", buffered', "drug", ""),
            ("MONDO:0005252", "heart failure", "disease", ""),
            ("MONDO:2", "syndrome, familial", "disease", ""),
        ],
        [("MONDO:0005252", "Cardiac failures"), ("MONDO:0005252", "ischaemic dropsy")],
        [
            ("MONDO:0005252", "skos:exactMatch", "DOID:6000"),
            ("MONDO:0005252", "skos:narrowMatch", "DOID:9651"),
            ("MONDO:0005252", "skos:broadMatch", "DOID:114"),
        ],
    )


def verdict(head: str, predicate: str, tail: str, world: Knowledge) -> tuple[str, str]:
    table = pa.table({"head": [head], "predicate": [predicate], "tail": [tail]})
    candidates, links = resolve_pairs(table, world)
    row = verify(candidates, links, world, policy=QUIET).relations.to_pylist()[0]
    return row["verdict"], row["reasons"][0]


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        ("DRUGBANK:DB00695", "MONDO:0005252"),
        ("furosemide", "heart failure"),
        ("Furosemide", "  Heart  Failure "),
        ("furosemide", "cardiac failure"),
        ("furosemide", "ischemic dropsy"),
        ("furosemide", "ischaemic dropsies"),
        ("furosemide", "DOID:6000"),
        ("furosemide", "DOID:9651"),
        ('drug "A", buffered', "syndrome, familial"),
    ],
)
def test_ends_in_any_form(head: str, tail: str, world: Knowledge) -> None:
    assert verdict(head, "TREATS", tail, world)[0] == "supported"


@pytest.mark.parametrize("predicate", ["TREATS", "treats", "biolink:treats"])
def test_predicates_in_any_form(predicate: str, world: Knowledge) -> None:
    assert verdict("furosemide", predicate, "heart failure", world)[0] == "supported"


@pytest.mark.parametrize("tail", ["MONDO:999", "no such disease", "", "DOID:114"])
def test_what_is_not_known_is_unlinked_and_no_error(tail: str, world: Knowledge) -> None:
    """DOID:114 is broader than the concept: what treats a kind does not treat it."""
    assert verdict("furosemide", "TREATS", tail, world) == ("unsupported", "unlinked: tail")


def test_codes_are_linked_as_a_hospitals_are(world: Knowledge) -> None:
    ends = {"head": ["DRUGNAME:Furosemide 40 mg Tab"], "tail": ["icd10cm:i50"]}
    table = pa.table(ends | {"predicate": ["TREATS"]})
    mapped = Knowledge(
        world.concepts,
        world.synonyms,
        world.edges,
        tiny.rows(
            world.mappings.schema,
            [("MONDO:0005252", "skos:exactMatch", "ICD10CM:I50", 1.0, "infores:one")],
        ),
        world.attributes,
    )
    candidates, links = resolve_pairs(table, mapped)
    assert candidates["tail"].to_pylist() == ["ICD10CM:I50"]
    assert candidates["head"].to_pylist() == ["DRUGNAME:furosemide 40 mg tab"]
    row = verify(candidates, links, mapped, policy=QUIET).relations.to_pylist()[0]
    assert (row["verdict"], row["tail_concept"]) == ("supported", "MONDO:0005252")


def test_a_drug_string_as_a_name(world: Knowledge) -> None:
    assert verdict("Furosemide 40 mg Tab", "TREATS", "heart failure", world)[0] == "supported"


def test_an_unknown_predicate_lists_the_known(world: Knowledge) -> None:
    with pytest.raises(UsageError, match=r"row 1: unknown predicate 'CURES'\s+do: .* TREATS"):
        verdict("furosemide", "CURES", "heart failure", world)
    with pytest.raises(UsageError, match="SUBCLASS_OF"):
        verdict("furosemide", "SUBCLASS_OF", "heart failure", world)


def test_a_missing_column_is_named(world: Knowledge) -> None:
    with pytest.raises(InputError, match="column tail: the column is missing"):
        resolve_pairs(pa.table({"head": ["a"], "predicate": ["TREATS"]}), world)


def test_extra_columns_nulls_and_repeats_do_no_harm(world: Knowledge) -> None:
    table = pa.table(
        {
            "note": ["x", "y", "z"],
            "Tail": ["heart failure", "heart failure", None],
            "head": ["furosemide", "furosemide ", "furosemide"],
            "predicate": ["TREATS"] * 3,
            "route": ["", None, "topical"],
        }
    )
    candidates, links = resolve_pairs(table, world)
    assert len(candidates) == 2
    found = tiny.verdicts(verify(candidates, links, world, policy=QUIET).relations)
    assert found == {
        ("furosemide", "TREATS", "heart failure"): "supported",
        ("furosemide", "TREATS", ""): "unsupported",
    }


def test_an_empty_table(world: Knowledge) -> None:
    table = pa.table({"head": [], "predicate": [], "tail": []})
    candidates, links = resolve_pairs(table, world)
    assert (len(candidates), len(links)) == (0, 0)
