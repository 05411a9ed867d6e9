# ruff: noqa: E501 (rows of tables)
"""SemMedDB's PREDICATION table. The layout is the documented one, the content is made up."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger

ROWS = r"""
1,11,900,"TREATS","C0000003","medlarine","orch",1,"C0000001","Quince fever","dsyn",1,\N,\N,\N
2,12,901,"TREATS","C0000003","medlarine","phsu",1,"C0000001","Quince fever","dsyn",1,\N,\N,\N
3,13,901,"TREATS","C0000003","medlarine","phsu",1,"C0000001","Quince fever","dsyn",1,\N,\N,\N
4,14,902,"NEG_TREATS","C0000003","medlarine","phsu",1,"C0000001","Quince fever","dsyn",1,\N,\N,\N
5,15,903,"MANIFESTATION_OF","C0000004","Wilting, \"sudden\"","sosy",1,"C0000001","Quince fever","dsyn",1,\N,\N,\N
6,16,904,"COEXISTS_WITH","C0000004","Wilting, \"sudden\"","sosy",1,"C0000002|777","Orchard disease|ORC","dsyn",1,\N,\N,\N
7,17,905,"TREATS","C0000003","medlarine","phsu",1,"C0030705","Patients","podg",0,\N,\N,\N
8,18,906,"STIMULATES","777","ORC","gngm",1,"C0000001","Quince fever","dsyn",1,\N,\N,\N
9,19,907,"ISA","C0000001","Quince fever","dsyn",1,"C0000001","Quince fever","dsyn",1,\N,\N,\N
""".lstrip()


def test_statements_denials_and_citations(tmp_path: Path) -> None:
    path = tmp_path / "semmedVER43_PREDICATION.csv"
    path.write_text(ROWS)
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    edges = {
        (r["subject"][-1], r["predicate"], r["object"][-1], r["negated"]): r["provenance"]
        for r in known.edges.to_pylist()
    }
    assert edges["3", "TREATS", "1", False] == "PMID:900, PMID:901"
    assert edges["3", "TREATS", "1", True] == "PMID:902"
    assert edges["1", "HAS_PHENOTYPE", "4", False] == "PMID:903"
    assert ("4", "RELATED_TO", "2", False) in edges
    assert len(edges) == 4
    assert {r["licence"] for r in known.edges.to_pylist()} == {"LicenseRef-UMLS"}
    assert {(r["name"], r["kind"]) for r in known.concepts.to_pylist()} == {
        ("medlarine", "drug"),
        ("Quince fever", "disease"),
        ('Wilting, "sudden"', "finding"),
        ("Orchard disease", "disease"),
    }
    assert ledger.dropped("know", "edges") == {
        "duplicate": 2,
        "no_cui": 1,
        "same_concept": 1,
        "too_general": 1,
    }


def test_more_citations_than_are_named_are_counted(tmp_path: Path) -> None:
    row = '{0},1,{0},"TREATS","C0000003","m","phsu",1,"C0000001","q","dsyn",1\n'
    path = tmp_path / "old.csv.gz"  # the twelve columns of earlier versions
    path.write_bytes(gzip.compress("".join(row.format(n) for n in range(25, 0, -1)).encode()))
    (edge,) = ontology.load(path).edges.to_pylist()
    named = ", ".join(f"PMID:{n}" for n in range(1, 11))
    assert edge["provenance"] == f"{named} and 15 more"


def test_order_and_a_header_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(ROWS)
    header = "PREDICATION_ID,SENTENCE_ID,PMID,PREDICATE,a,b,c,d,e,f,g,h,i,j,k\r\n"
    lines = reversed(ROWS.splitlines())
    (tmp_path / "b.csv").write_text("\ufeff" + header + "\r\n".join(lines) + "\r\n")
    assert ontology.load(tmp_path / "a.csv") == ontology.load(tmp_path / "b.csv")


def test_a_broken_row_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(ROWS + "10,20,30\n")
    with pytest.raises(InputError, match="line 10: wrong number of columns"):
        ontology.load(path)
