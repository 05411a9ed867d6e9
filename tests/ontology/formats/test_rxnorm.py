"""RxNorm in RRF. The layout is the documented one, the content is made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology.schema import Knowledge

NAMES = [  # RXCUI, SAB, TTY, CODE, STR, SUPPRESS
    ("77", "RXNORM", "IN", "77", "medlarine", "N"),
    ("77", "ATC", "IN", "C99XX01", "Medlarine", "N"),
    ("77", "MTHSPL", "SU", "UNII1", "MEDLARINE BASE", "N"),
    ("78", "RXNORM", "BN", "78", "Medlarex", "N"),
    ("79", "RXNORM", "SCD", "79", "medlarine 5 MG Oral Tablet", "N"),
    ("79", "RXNORM", "PSN", "79", "medlarine 5 mg tablet", "N"),
    ("80", "RXNORM", "IN", "80", "damsonate", "N"),
    ("81", "RXNORM", "SCD", "81", "damsonate 1 MG / medlarine 5 MG Oral Tablet", "N"),
    ("82", "RXNORM", "DF", "82", "Oral Tablet", "N"),
    ("83", "RXNORM", "IN", "83", "forgottenine", "O"),
    ("84", "RXNORM", "BN", "84", "Duoplum", "N"),
]
RELATIONS = [  # RXCUI1, REL, RXCUI2, RELA, SUPPRESS: the second says it of the first
    ("77", "RO", "79", "has_ingredient", ""),
    ("79", "RO", "77", "ingredient_of", ""),
    ("77", "RO", "78", "tradename_of", ""),
    ("77", "RO", "81", "has_ingredient", ""),
    ("80", "RO", "81", "has_ingredient", ""),
    ("77", "RO", "84", "tradename_of", ""),
    ("80", "RO", "84", "tradename_of", ""),
    ("82", "RO", "79", "has_dose_form", ""),
    ("", "RO", "", "has_ingredient", ""),
]
ATTRIBUTES = [  # RXCUI, ATN, SAB, ATV, SUPPRESS
    ("79", "NDC", "RXNORM", "00011222233", "N"),
    ("79", "NDC", "RXNORM", "00011222233", "N"),
    ("79", "NDC", "MTHSPL", "0011-2222-33", "N"),
    ("79", "NDC", "RXNORM", "00099888877", "O"),
    ("81", "NDC", "RXNORM", "1234", "N"),
    ("81", "RXN_AVAILABLE_STRENGTH", "RXNORM", "5 MG", "N"),
]


def release(folder: Path) -> Path:
    rrf = folder / "rrf"
    rrf.mkdir()
    (rrf / "RXNCONSO.RRF").write_text(
        "".join(
            f"{cui}|ENG||||||A{at}||||{sab}|{tty}|{code}|{name}||{suppress}||\n"
            for at, (cui, sab, tty, code, name, suppress) in enumerate(NAMES)
        )
    )
    (rrf / "RXNREL.RRF").write_text(
        "".join(
            f"{one}||CUI|{rel}|{two}||CUI|{rela}|R{at}||RXNORM|RXNORM|||{suppress}|4096|\n"
            for at, (one, rel, two, rela, suppress) in enumerate(RELATIONS)
        )
    )
    (rrf / "RXNSAT.RRF").write_text(
        "".join(
            f"{cui}||||||AT{at}||{name}|{sab}|{value}|{suppress}||\n"
            for at, (cui, name, sab, value, suppress) in enumerate(ATTRIBUTES)
        )
    )
    return folder


@pytest.fixture(scope="module")
def account() -> Ledger:
    return Ledger()


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory, account: Ledger) -> Knowledge:
    return ontology.load(release(tmp_path_factory.mktemp("rxnorm")), ledger=account)


def test_concepts_and_their_names(known: Knowledge) -> None:
    assert {(r["id"], r["name"], r["kind"]) for r in known.concepts.to_pylist()} == {
        ("RXCUI:77", "medlarine", "drug"),
        ("RXCUI:78", "Medlarex", "drug"),
        ("RXCUI:79", "medlarine 5 MG Oral Tablet", "drug"),
        ("RXCUI:80", "damsonate", "drug"),
        ("RXCUI:81", "damsonate 1 MG / medlarine 5 MG Oral Tablet", "drug"),
        ("RXCUI:82", "Oral Tablet", "grouping"),
        ("RXCUI:84", "Duoplum", "drug"),
    }
    assert {(r["concept"], r["text"], r["scope"]) for r in known.synonyms.to_pylist()} == {
        ("RXCUI:77", "MEDLARINE BASE", "exact"),
        ("RXCUI:77", "Medlarex", "brand"),  # a brand of two ingredients is a name of neither
        ("RXCUI:79", "medlarine 5 mg tablet", "exact"),
    }


def test_a_product_of_one_ingredient_is_a_kind_of_it_and_a_combination_is_not(
    known: Knowledge,
) -> None:
    edges = {
        (r["subject"][6:], r["predicate"], r["object"][6:], r["origin"])
        for r in known.edges.to_pylist()
    }
    assert edges == {
        ("79", "SUBCLASS_OF", "77", "infores:rxnorm"),
        ("78", "SUBCLASS_OF", "77", "infores:rxnorm"),
        ("81", "RELATED_TO", "77", "infores:rxnorm"),
        ("81", "RELATED_TO", "80", "infores:rxnorm"),
        ("84", "RELATED_TO", "77", "infores:rxnorm"),
        ("84", "RELATED_TO", "80", "infores:rxnorm"),
        ("79", "RELATED_TO", "82", "infores:rxnorm"),
    }


def test_package_codes_and_other_vocabularies_are_mappings(known: Knowledge) -> None:
    assert {(r["subject"], r["object"], r["confidence"]) for r in known.mappings.to_pylist()} == {
        ("RXCUI:77", "ATC:C99XX01", 0.9),
        ("RXCUI:79", "NDC:00011222233", 0.95),
    }


def test_every_row_is_accounted_for(known: Knowledge, account: Ledger) -> None:
    dropped = {entry.unit: entry.dropped for entry in account}
    assert dropped["nodes"] == {"suppressed": 1, "further_name": 3}
    assert dropped["edges"] == {"no_concept": 1, "duplicate": 1}
    assert dropped["mappings"] == {
        "other_attribute": 2,
        "suppressed": 1,
        "no_ndc_of_a_product": 1,
        "duplicate": 1,
    }
    assert known.edges.num_rows == 7
