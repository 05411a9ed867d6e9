# ruff: noqa: E501 (rows of tables)
"""OMOP's vocabularies, as Athena writes them and as CSV in a zip; the content is made up."""

from __future__ import annotations

import csv
import io
import random
import zipfile
from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology.schema import Knowledge

TABLES = {
    "CONCEPT": [
        ["concept_id", "concept_name", "domain_id", "vocabulary_id", "concept_class_id", "standard_concept", "concept_code", "valid_start_date", "valid_end_date", "invalid_reason"],
        ["1", 'Fever of "quince"', "Condition", "SNOMED", "Clinical Finding", "S", "1001", "", "", ""],
        ["2", "Orchard disease", "Condition", "SNOMED", "Clinical Finding", "S", "1002", "", "", ""],
        ["3", "Quince fever, unspecified", "Condition", "ICD10CM", "5-char billing code", "", "Z99.91", "", "", ""],
        ["4", "medlarine", "Drug", "RxNorm", "Ingredient", "S", "77", "", "", ""],
        ["5", "Old fever", "Condition", "SNOMED", "Clinical Finding", "", "1003", "", "", "U"],
        ["6", "Febrifuges", "Drug", "ATC", "ATC 4th", "C", "C99XX", "", "", ""],
        ["7", "House concept", "Observation", "Homegrown", "Answer", "", "h7", "", "", ""],
    ],
    "CONCEPT_SYNONYM": [
        ["concept_id", "concept_synonym_name", "language_concept_id"],
        ["1", "Quince ague", "4180186"],
        ["1", "Fiebre", "4182511"],
        ["1", 'fever of "QUINCE"', "4180186"],
    ],
    "CONCEPT_RELATIONSHIP": [
        ["concept_id_1", "concept_id_2", "relationship_id", "valid_start_date", "valid_end_date", "invalid_reason"],
        ["1", "2", "Is a", "", "", ""],
        ["2", "1", "Subsumes", "", "", ""],
        ["3", "1", "Maps to", "", "", ""],
        ["1", "3", "Mapped from", "", "", ""],
        ["1", "1", "Maps to", "", "", ""],
        ["5", "1", "Concept replaced by", "", "", ""],
        ["1", "2", "Has due to", "", "", ""],
        ["1", "4", "May be treated by", "", "", ""],
        ["4", "2", "CI to", "", "", "D"],
        ["7", "1", "Smells of", "", "", ""],
        ["1", "999", "Is a", "", "", ""],
    ],
    "CONCEPT_ANCESTOR": [
        ["ancestor_concept_id", "descendant_concept_id", "min_levels_of_separation", "max_levels_of_separation"],
        ["6", "4", "1", "2"],
        ["6", "1", "2", "2"],
        ["4", "4", "0", "0"],
    ],
    "VOCABULARY": [
        ["vocabulary_id", "vocabulary_name", "vocabulary_reference", "vocabulary_version", "vocabulary_concept_id"],
        ["None", "OMOP", "", "v5.0 01-JAN-31", "0"],
    ],
}  # fmt: skip


def athena(folder: Path, tables: dict[str, list[list[str]]] = TABLES) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in tables.items():
        text = "".join("\t".join(row) + "\n" for row in rows)
        (folder / f"{name}.csv").write_text(text)
    return folder


@pytest.fixture(scope="module")
def account() -> Ledger:
    return Ledger()


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory, account: Ledger) -> Knowledge:
    return ontology.load(athena(tmp_path_factory.mktemp("omop")), ledger=account)


def test_concepts_have_the_ids_of_their_codes(known: Knowledge) -> None:
    assert {(r["id"], r["name"], r["kind"]) for r in known.concepts.to_pylist()} == {
        ("SNOMEDCT:1001", 'Fever of "quince"', "disease"),
        ("SNOMEDCT:1002", "Orchard disease", "disease"),
        ("ICD10CM:Z99.91", "Quince fever, unspecified", "disease"),
        ("RXCUI:77", "medlarine", "drug"),
        ("ATC:C99XX", "Febrifuges", "drug_class"),
        ("OMOP:7", "House concept", "finding"),
    }
    assert known.synonyms["text"].to_pylist() == ["Quince ague"]


def test_relationships_become_edges_in_one_direction(known: Knowledge) -> None:
    edges = {
        (r["subject"], r["predicate"], r["object"]): (r["origin"], r["provenance"])
        for r in known.edges.to_pylist()
    }
    fever, orchard = "SNOMEDCT:1001", "SNOMEDCT:1002"
    edition = "OMOP vocabularies v5.0 01-JAN-31, "
    omop = "infores:omop-vocabularies"
    assert edges == {
        (fever, "SUBCLASS_OF", orchard): ("infores:snomedct", edition + "Is a"),
        (orchard, "CAUSES", fever): ("infores:snomedct", edition + "Due to of"),
        ("RXCUI:77", "TREATS", fever): (omop, edition + "May treat"),
        ("RXCUI:77", "SUBCLASS_OF", "ATC:C99XX"): (omop, edition + "Is a"),
        ("OMOP:7", "RELATED_TO", fever): (omop, edition + "Smells of"),
    }


def test_maps_to_and_replacements_are_mappings_of_the_standard_concept(known: Knowledge) -> None:
    assert {(r["subject"], r["predicate"], r["object"]) for r in known.mappings.to_pylist()} == {
        ("SNOMEDCT:1001", "skos:closeMatch", "ICD10CM:Z99.91"),
        ("SNOMEDCT:1001", "skos:exactMatch", "SNOMEDCT:1003"),
    }


def test_every_row_is_accounted_for(known: Knowledge, account: Ledger) -> None:
    dropped = {entry.unit: entry.dropped for entry in account}
    assert dropped["nodes"] == {"obsolete": 1}
    assert dropped["synonyms"] == {"other_language": 1}
    assert dropped["edges"] == {
        "mapping": 3,
        "same_concept": 1,
        "obsolete": 1,
        "implied": 2,
        "duplicate": 1,
        "absent_node": 1,
    }
    assert account.quarantine["know-edges"]["absent"].to_pylist() == ["OMOP:999"]
    assert known.edges.num_rows == 5


def test_csv_in_a_zip_in_lower_case_and_any_order_says_the_same(
    tmp_path: Path, known: Knowledge
) -> None:
    packed = tmp_path / "cdm.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for name, (header, *rows) in TABLES.items():
            random.Random(name).shuffle(rows)
            out = io.StringIO()
            csv.writer(out, lineterminator="\r\n").writerows([header, *rows])
            archive.writestr(f"cdm/{name.lower()}.csv", "\ufeff" + out.getvalue())
            archive.writestr(f"__MACOSX/._{name}.csv", b"\x00\x05\x16\x07")
    again = ontology.load(packed)
    assert again == known == ontology.merge(known, again)


def test_a_short_line_and_a_missing_table_are_named(tmp_path: Path) -> None:
    rows = {**TABLES, "CONCEPT": [*TABLES["CONCEPT"], ["8", "short"]]}
    with pytest.raises(InputError, match=r"CONCEPT\.csv, line 9: wrong number of columns"):
        ontology.load(athena(tmp_path / "a", rows))
    del rows["CONCEPT"]
    with pytest.raises(InputError, match="no CONCEPT table"):
        ontology.load(athena(tmp_path / "b", rows), format="omop")


def test_the_real_sample_loads(shared_data: Path) -> None:
    ledger = Ledger()
    (packed,) = (shared_data / "omop-synthea27nj").glob("*.zip")
    known = ontology.load(packed, ledger=ledger)
    entries = {entry.unit: entry for entry in ledger}
    assert entries["nodes"].rows_in == 2294
    assert entries["edges"].rows_in == 266_588
    assert entries["edges"].rows_out == known.edges.num_rows > 100
