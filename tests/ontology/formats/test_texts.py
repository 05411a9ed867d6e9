"""A user's own text files: paragraphs become passages that back claims with their source."""

from __future__ import annotations

from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology.sources import SOURCES

DECLARED = """
source:
  infores: infores:our-notes
  name: Our notes
  licence: CC-BY-4.0
kind: treatment
"""
HEART = """about: MONDO:0005252, DRUGBANK:DB00695
title: Heart failure

Furosemide is given
in heart failure.

It is weighed daily.
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "texts.yaml").write_text(DECLARED)
    (tmp_path / "heart.txt").write_text(HEART)
    (tmp_path / "Other things.txt").write_text("Note: nothing is said of what this is about.\n")
    (tmp_path / "empty.txt").write_text("title: nothing\n\n")
    return tmp_path


def test_paragraphs_are_passages_about_what_the_file_says(notes: Path) -> None:
    ledger = Ledger()
    known = ontology.load(notes, ledger=ledger)
    rows = known.passages.to_pylist()
    heart = [row for row in rows if row["title"] == "Heart failure"]
    assert {row["concept"] for row in heart} == {"MONDO:0005252", "DRUGBANK:DB00695"}
    assert {(row["text"], row["provenance"]) for row in heart} == {
        ("Furosemide is given in heart failure.", "heart.txt#4"),
        ("It is weighed daily.", "heart.txt#7"),
    }
    assert {(row["source"], row["licence"], row["kind"]) for row in rows} == {
        ("infores:our-notes", "CC-BY-4.0", "treatment")
    }
    (other,) = [row for row in rows if not row["title"]]
    assert other["concept"] == "TEXTS:other_things"
    assert other["text"].startswith("Note: nothing")
    assert SOURCES["infores:our-notes"].name == "Our notes"
    dropped = [entry.dropped for entry in ledger if entry.unit.endswith("passages")]
    assert [dict(one) for one in dropped] == [{"no_text": 1}]


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("kind: x\n", "no source"),
        ("source: {infores: infores:x, name: x}\ncolour: red\n", "colour"),
        ("source: {infores: infores:x, name: x}\nfiles: '*.md'\n", "no text file"),
        ("source: [", "not YAML"),
        ("- 1\n", "no fields"),
    ],
)
def test_what_the_declaration_lacks_is_said(notes: Path, declared: str, said: str) -> None:
    (notes / "texts.yaml").write_text(declared)
    with pytest.raises(InputError, match=f"(?s){said}"):
        ontology.load(notes)


def test_a_text_that_is_not_utf8_is_named(notes: Path) -> None:
    (notes / "heart.txt").write_bytes("about: M:1\n\nMénière".encode("latin-1"))
    with pytest.raises(InputError, match=r"heart\.txt, line 3: these bytes are not UTF-8"):
        ontology.load(notes)
