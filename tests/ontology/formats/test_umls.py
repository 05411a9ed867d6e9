"""A UMLS release in RRF. The layout is the documented one, the content is made up."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology.formats import umls
from ehrkg.ontology.schema import Knowledge

#        CUI      LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF
NAMES = """\
C0000001|ENG|P|L1|PF|S1|Y|A1||||MSH|MH|D000001|Quince fever|0|N||
C0000001|ENG|S|L2|PF|S2|Y|A2||||SNOMEDCT_US|SY|1001|quince FEVER|9|N||
C0000001|ENG|S|L3|PF|S3|Y|A3||||ICD10CM|PT|Z99.91|Fever of the quince|0|N||
C0000001|ENG|S|L3|VO|S4|Y|A4||||ICD10CM|AB|Z99.91|QF|0|N||
C0000001|SPA|P|L4|PF|S5|Y|A5||||MSHSPA|MH|D000001|Fiebre|3|N||
C0000001|ENG|S|L5|PF|S6|Y|A6||||MSH|PM|D000001|Old quince fever|0|O||
C0000002|ENG|P|L6|PF|S7|Y|A7||||MSH|MH|D000002|Orchard disease|0|N||
C0000002|ENG|S|L7|PF|S8|Y|A8||||ICD10CM|HT|Z90-Z99|Orchard block|0|N||
C0000003|ENG|P|L8|PF|S9|Y|A9||||RXNORM|IN|77|medlarine|0|N||
C0000003|ENG|S|L9|PF|SA|Y|AA||||RXNORM|BN|78|Medlarex|0|N||
C0000004|ENG|P|LA|PF|SB|Y|AB||||ICD9CM|PT|4280|Wilting|0|N||
"""
TYPES = """\
C0000001|T047|B2.2.1.2.1|Disease or Syndrome|AT1|256|
C0000001|T033|A2.2|Finding|AT2|256|
C0000002|T047|B2.2.1.2.1|Disease or Syndrome|AT3||
C0000003|T109|A1.4|Organic Chemical|AT4||
C0000004|T184|A2.2.2|Sign or Symptom|AT5||
"""
DEFINITIONS = """\
C0000001|A1|AT6||NCI|A fever of orchards.|N||
C0000001|A1|AT7||MSH|Fever after quinces.|N||
C0000002|A7|AT8||MSH|Withdrawn text.|O||
"""
#            CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF
RELATIONS = """\
C0000001|A1|AUI|RO|C0000003|A9|AUI|may_treat|R1||MED-RT|MED-RT||Y|N||
C0000003|A9|AUI|RO|C0000001|A1|AUI|may_be_treated_by|R2||MED-RT|MED-RT||N|N||
C0000002|A7|AUI|CHD|C0000001|A1|AUI|isa|R3||SNOMEDCT_US|SNOMEDCT_US|||N||
C0000001|A1|AUI|PAR|C0000002|A7|AUI|inverse_isa|R4||SNOMEDCT_US|SNOMEDCT_US|||N||
C0000004|AB|AUI|RO|C0000001|A1|AUI|cause_of|R5||SNOMEDCT_US|SNOMEDCT_US|||N||
C0000001|A1|AUI|SIB|C0000004|AB|AUI||R6||MSH|MSH|||N||
C0000001|A1|AUI|RO|C0000004|AB|AUI|smells_of|R7||MSH|MSH||Y|N||
C0000004|AB|AUI|RO|C0000001|A1|AUI|smelt_by|R8||MSH|MSH||N|N||
C0000001|A1|AUI|RO|C0000004|AB|AUI|may_treat|R9||MED-RT|MED-RT|||O||
C0000001|A1|AUI|SY|C0000001|A2|AUI||RA||MSH|MSH|||N||
C0000001|A1|AUI|RO|C0000009|AX|AUI|may_treat|RB||MED-RT|MED-RT|||N||
"""
HIERARCHY = """\
C0000001|A1|1|A7|MSH||A7.A0|||
C0000002|A7|1||MSH||||||
C0000004|AB|1|A404|MSH||A404|||
"""
HIERARCHY = "\n".join(line.rstrip("|") + "|" for line in HIERARCHY.splitlines())
VOCABULARIES = "C1|C2|MED-RT_2031|MED-RT|MED-RT|MED-RT|2031_02||||||||||||||||Y|Y|||\n"


def lines(text: str, cells: int) -> str:
    """The rows with exactly so many cells and a pipe after each."""
    kept = [line.split("|")[:cells] for line in text.splitlines()]
    return "".join("|".join([*row, *[""] * (cells - len(row))]) + "|\n" for row in kept)


FILES = {
    "MRCONSO": lines(NAMES, 18),
    "MRSTY": lines(TYPES, 6),
    "MRDEF": lines(DEFINITIONS, 8),
    "MRREL": lines(RELATIONS, 16),
    "MRHIER": lines(HIERARCHY, 9),
    "MRSAB": lines(VOCABULARIES, 25),
}


def release(folder: Path, **changed: str) -> Path:
    meta = folder / "2031AA" / "META"
    meta.mkdir(parents=True, exist_ok=True)
    for name, text in {**FILES, **changed}.items():
        (meta / f"{name}.RRF").write_text(text, encoding="utf-8")
    return meta.parent


@pytest.fixture(scope="module")
def account() -> Ledger:
    return Ledger()


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory, account: Ledger) -> Knowledge:
    return ontology.load(release(tmp_path_factory.mktemp("umls")), ledger=account)


def test_concepts_have_their_preferred_name_first_type_and_definition(known: Knowledge) -> None:
    rows = {row["id"]: row for row in known.concepts.to_pylist()}
    assert [(r["name"], r["kind"], r["definition"]) for r in rows.values()] == [
        ("Quince fever", "disease", "Fever after quinces."),
        ("Orchard disease", "disease", ""),
        ("medlarine", "drug", ""),
        ("Wilting", "finding", ""),
    ]
    assert {r["source"] for r in rows.values()} == {"infores:umls"}
    names = {(r["concept"], r["text"], r["scope"]) for r in known.synonyms.to_pylist()}
    assert names == {
        ("UMLS:C0000001", "Fever of the quince", "exact"),
        ("UMLS:C0000001", "QF", "abbreviation"),
        ("UMLS:C0000002", "Orchard block", "exact"),
        ("UMLS:C0000003", "Medlarex", "brand"),
    }


def test_codes_are_mappings_in_their_own_spelling_and_blocks_are_none(known: Knowledge) -> None:
    assert {(r["subject"][-1], r["object"]) for r in known.mappings.to_pylist()} == {
        ("1", "MESH:D000001"),
        ("1", "SNOMEDCT:1001"),
        ("1", "ICD10CM:Z99.91"),
        ("2", "MESH:D000002"),
        ("3", "RXCUI:77"),
        ("3", "RXCUI:78"),
        ("4", "ICD9CM:428.0"),
    }


def test_a_relation_goes_from_the_second_concept_to_the_first(known: Knowledge) -> None:
    edges = {(r["subject"][-1], r["predicate"], r["object"][-1]) for r in known.edges.to_pylist()}
    assert edges == {
        ("3", "TREATS", "1"),  # said from both ends: one edge
        ("1", "SUBCLASS_OF", "2"),  # CHD and PAR, isa and inverse_isa, and MRHIER
        ("1", "CAUSES", "4"),
        ("4", "RELATED_TO", "1"),  # an unknown name, kept in the direction its source gave it
    }


def test_an_edge_says_who_stated_it_in_which_edition_under_which_licence(known: Knowledge) -> None:
    (treats,) = [r for r in known.edges.to_pylist() if r["predicate"] == "TREATS"]
    assert (treats["source"], treats["origin"]) == ("infores:umls", "infores:medrt")
    assert treats["licence"] == "LicenseRef-US-public-domain"
    assert treats["provenance"] == "MED-RT 2031_02, may_treat"


def test_every_row_is_accounted_for(known: Knowledge, account: Ledger) -> None:
    entries = {entry.unit: entry for entry in account}
    assert entries["nodes"].rows_in == 11
    assert entries["nodes"].dropped == {"suppressed": 1, "other_language": 1, "further_name": 5}
    assert entries["edges"].rows_in == 14
    assert entries["edges"].rows_out == known.edges.num_rows
    assert entries["edges"].dropped == {
        "suppressed": 1,
        "sibling": 1,
        "same_concept": 1,
        "inverse": 1,
        "root": 1,
        "absent_parent": 1,
        "absent_node": 1,
        "duplicate": 2,
    }
    assert entries["definitions"].dropped == {"suppressed": 1, "further_definition": 1}
    assert account.quarantine["know-edges"]["absent"].to_pylist() == ["UMLS:C0000009"]
    assert account.quarantine["know-hierarchy"]["PAUI"].to_pylist() == ["A404"]


def test_order_line_ends_compression_and_a_byte_order_mark_change_nothing(
    tmp_path: Path, known: Knowledge
) -> None:
    shuffled = {}
    for name, text in FILES.items():
        rows = text.splitlines()
        random.Random(name).shuffle(rows)
        shuffled[name] = "\ufeff" + "\r\n".join(rows) + "\r\n"
    other = release(tmp_path / "b", **shuffled)
    for file in (other / "META").iterdir():
        packed = file.with_name(file.name.lower() + ".gz")
        packed.write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    again = ontology.load(other / "META")
    assert again == known == ontology.merge(known, again)


def test_one_file_of_names_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text(FILES["MRCONSO"])
    assert ontology.load(path).concepts.num_rows == 4


def test_another_language_can_be_asked_for(tmp_path: Path) -> None:
    parts = umls.read(release(tmp_path), language="spa")
    assert parts.knowledge.concepts["name"].to_pylist() == ["Fiebre"]
    with pytest.raises(UsageError, match="three letters"):
        umls.read(release(tmp_path), language="en'--")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FILES["MRREL"] + "C1|short|\n", r"MRREL\.RRF, line 12: wrong number of columns"),
        (FILES["MRREL"] + "C1" + "|" * 17 + "\n", r"line 12.*(?s:.)*found: 18 columns"),
    ],
)
def test_a_wrong_number_of_columns_is_named_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ontology.load(release(tmp_path, MRREL=text))


def test_latin_1_and_truncated_files_are_refused(tmp_path: Path) -> None:
    place = release(tmp_path)
    names = place / "META" / "MRCONSO.RRF"
    whole = names.read_bytes()
    names.write_bytes(whole.replace(b"Fever of", "Fièvre".encode("latin-1")))
    with pytest.raises(InputError, match=r"MRCONSO\.RRF, line 3: not UTF-8"):
        ontology.load(place)
    names.unlink()
    packed = gzip.compress(whole * 500)
    (place / "META" / "MRCONSO.RRF.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match="damaged or ends too early"):
        ontology.load(place)


@pytest.mark.parametrize("kept", [5, 12, 40])
def test_a_file_cut_off_at_its_beginning_is_not_taken_for_an_empty_one(
    tmp_path: Path, kept: int
) -> None:
    place = release(tmp_path)
    (place / "META" / "MRREL.RRF").unlink()
    packed = gzip.compress(FILES["MRREL"].encode())
    (place / "META" / "MRREL.RRF.gz").write_bytes(packed[:kept])
    with pytest.raises(InputError, match=r"MRREL\.RRF\.gz: the file is damaged or ends too early"):
        ontology.load(place)


def test_without_names_there_is_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "MRREL.RRF").write_text(FILES["MRREL"])
    with pytest.raises(InputError, match=r"no MRCONSO\.RRF"):
        ontology.load(tmp_path, format="umls")


def test_empty_files_of_a_release_are_read(tmp_path: Path) -> None:
    known = ontology.load(release(tmp_path, MRREL="", MRHIER="", MRDEF="", MRSTY="", MRSAB=""))
    assert (known.concepts.num_rows, known.edges.num_rows) == (4, 0)
