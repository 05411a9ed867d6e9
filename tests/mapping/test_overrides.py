"""A user's own mapping overrides; a mapping can be explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger
from ehrkg.mapping import Mapping, explain_mapping, map_codes, read_overrides
from ehrkg.ontology import merge

from .worlds import codes, kb, links, trees

IDS = ("ICD10CM:I50.23", "ICD9CM:428.0", "DRUGNAME:house mixture", "ICD10CM:I10")


def write(folder: Path, text: str, name: str = "own.tsv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def mapped(file: Path, ledger: Ledger | None = None) -> Mapping:
    return map_codes(
        codes(*IDS), merge(kb(), trees(*IDS)), overrides=read_overrides(file), ledger=ledger
    )


def test_a_users_pairs_stand_over_every_method(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "code\tconcept\tpredicate\tconfidence\n"
        "icd10cm:I5023\tX:asthma\t\t\n"
        "ICD9:4280\tX:heart-failure\tskos:exactMatch\t0.7\n"
        "DRUGNAME:House  Mixture\tD:morphine\tskos:broadMatch\t\n"
        "ICD10CM:I10\t\t\t\n",
    )
    ledger = Ledger()
    found = mapped(file, ledger)
    first = links(found, IDS[0])
    assert set(first) == {"X:asthma"}
    assert (first["X:asthma"].method, first["X:asthma"].levels) == ("override", 0)
    assert "own.tsv, line 2" in first["X:asthma"].explanation
    assert links(found, IDS[1])["X:heart-failure"].levels == 0  # 1 by the knowledge's own mapping
    assert links(found, IDS[2])["D:morphine"].predicate == "skos:broadMatch"
    assert links(found, IDS[3]) == {}
    assert ledger.dropped("map", "diagnosis") == {"none_by_the_users_mapping": 1}


def test_an_sssom_file_with_the_concept_or_the_code_first(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "# curie_map: {}\n"
        "subject_id\tpredicate_modifier\tpredicate_id\tobject_id\tconfidence\n"
        "X:asthma\t\tskos:narrowMatch\tICD10CM:I50.23\t0.8\n"
        "ICD9CM:428.0\tNot\tskos:exactMatch\tX:heart-failure\t\n"
        "ICD10CM:I10\t\tskos:exactMatch\tsssom:NoTermFound\t\n",
    )
    found = mapped(file)
    assert {link.predicate for link in links(found, IDS[0]).values()} == {"skos:broadMatch"}
    assert "X:heart-failure" not in links(found, IDS[1])
    assert links(found, IDS[3]) == {}


def test_rows_of_no_use_are_counted_and_kept(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "code\tconcept\nICD10CM:Z99.2\tX:asthma\nICD10CM:I10\tX:nothing\nICD9CM:428.0\tX:af\n",
    )
    ledger = Ledger()
    found = mapped(file, ledger)
    assert ledger.dropped("map", "rows of --mapping") == {
        "code_not_in_the_tables": 1,
        "concept_not_in_the_knowledge": 1,
    }
    assert ledger.quarantine["map-overrides"].num_rows == 2
    assert links(found, IDS[3]) == {}  # not replaced by what the user did not say


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("code\tmeaning\nICD10CM:I10\tX:af\n", "concept"),
        ("code\tconcept\nI10\tX:af\n", "line 2, column code"),
        ("code\tconcept\tpredicate\nICD10CM:I10\tX:af\tis\n", "skos:exactMatch"),
        ("code\tconcept\tconfidence\nICD10CM:I10\tX:af\t2\n", "from 0 to 1"),
        ("code\tconcept\nICD10CM:I10\tX:af\tx\ty\n", "columns"),
    ],
)
def test_a_wrong_file_is_refused_by_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_overrides(write(tmp_path, text))


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_overrides(tmp_path / "none.tsv")


def test_an_explanation_shows_each_method_and_what_was_kept(tmp_path: Path) -> None:
    known = merge(kb(), trees(*IDS))
    told = explain_mapping("ICD10CM:I50.23", known, name="Acute on chronic systolic failure")
    text = told.as_text()
    assert [attempt.method for attempt in told.attempts][:2] == ["cross-references", "vocabulary"]
    assert "X:systolic-hf" in text
    assert "not needed" in text
    own = read_overrides(write(tmp_path, "code\tconcept\nICD10CM:I50.23\tX:asthma\n"))
    told = explain_mapping("ICD10CM:I50.23", known, overrides=own)
    assert [link.concept for link in told.links] == ["X:asthma"]
    assert "X:systolic-hf" in told.as_text()  # what the methods would have given is still shown
