"""OBO: logical definitions, replaced and repeated terms, cycles; each kept or counted."""

from __future__ import annotations

from pathlib import Path

from ehrkg import ontology
from ehrkg.foundation.ledger import Ledger

OBO = """format-version: 1.2
data-version: releases/2026-01-02

[Term]
id: DOID:1
name: gout
is_a: DOID:2 {source="MONDO:equivalentTo"} ! arthritis
is_a: DOID:5 ! disease
is_a: DOID:404 ! not in this file
intersection_of: DOID:2 ! arthritis
intersection_of: located_in UBERON:1 ! joint
relationship: has_sign HP:0000001 ! pain
disjoint_from: DOID:6 ! heart disease
equivalent_to: MONDO:0000001 ! gout

[Term]
id: DOID:2
name: arthritis
is_a: DOID:5
union_of: DOID:1
union_of: DOID:6

[Term]
id: DOID:2
name: joint inflammation

[Term]
id: DOID:5
name: disease
is_a: DOID:2 ! a cycle

[Term]
id: DOID:6
name: heart disease

[Term]
id: UBERON:1
name: joint

[Term]
id: HP:0000001
name: pain

[Term]
id: DOID:7
name: obsolete podagra
is_obsolete: true
is_a: DOID:2
replaced_by: DOID:1
consider: DOID:2

[Term]
id: DOID:8
name: obsolete, and nothing instead
is_obsolete: true

[Typedef]
id: has_sign
name: has sign
xref: RO:0002200

[Typedef]
id: located_in
name: located in
"""


def read(tmp_path: Path, text: str = OBO) -> tuple[ontology.Knowledge, Ledger]:
    path, ledger = tmp_path / "d.obo", Ledger()
    path.write_text(text, encoding="utf-8")
    return ontology.load(path, ledger=ledger), ledger


def test_definitions_relationships_and_disjointness_are_typed_edges(tmp_path: Path) -> None:
    known, _ = read(tmp_path)
    edges = {(r["subject"], r["predicate"], r["object"]): r for r in known.edges.to_pylist()}
    assert set(edges) == {
        ("DOID:1", "SUBCLASS_OF", "DOID:2"),
        ("DOID:1", "SUBCLASS_OF", "DOID:5"),
        ("DOID:2", "SUBCLASS_OF", "DOID:5"),
        ("DOID:5", "SUBCLASS_OF", "DOID:2"),
        ("DOID:1", "RELATED_TO", "UBERON:1"),
        ("DOID:1", "HAS_PHENOTYPE", "HP:0000001"),
        ("DOID:1", "DISJOINT_WITH", "DOID:6"),
    }
    located = edges["DOID:1", "RELATED_TO", "UBERON:1"]
    assert located["original_predicate"] == "located_in"
    assert located["provenance"] == 'located_in is "located in"; version releases/2026-01-02'


def test_obsolete_terms_lead_to_what_replaces_them(tmp_path: Path) -> None:
    known, ledger = read(tmp_path)
    assert "DOID:7" not in known.concepts["id"].to_pylist()
    assert "" not in known.concepts["name"].to_pylist()
    rows = {(r["subject"], r["predicate"], r["object"]) for r in known.mappings.to_pylist()}
    assert rows == {
        ("DOID:1", "skos:exactMatch", "MONDO:0000001"),
        ("DOID:1", "skos:exactMatch", "DOID:7"),
        ("DOID:2", "skos:closeMatch", "DOID:7"),
    }
    assert ledger.dropped("know", "nodes") == {"obsolete": 2, "name_conflict": 1}


def test_unresolved_parents_unions_and_repetitions_are_counted(tmp_path: Path) -> None:
    _, ledger = read(tmp_path)
    assert ledger.dropped("know", "edges") == {
        "absent_node": 1,
        "duplicate": 1,  # DOID:2 is a parent and the genus
        "unread_axiom": 2,
    }
    assert ledger.quarantine["know-edges"]["absent"].to_pylist() == ["DOID:404"]


def test_the_order_of_stanzas_decides_nothing(tmp_path: Path) -> None:
    known, _ = read(tmp_path)
    header, *stanzas = OBO.split("\n\n")
    again, _ = read(tmp_path, "\n\n".join([header, *reversed(stanzas)]) + "\n")
    assert again == known
