"""Places: a path, or a format and a path; and every file that decides what is read from it."""

from __future__ import annotations

from pathlib import Path

import pytest

import ehrkg
from ehrkg import ontology
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.ontology.places import Place, acquaint, files_read, place_of
from ehrkg.ontology.sources import reliability
from ehrkg.session.manifest import knowledge_hashes
from ehrkg.session.settings import Settings

OWN = """name: own
source: {infores: "infores:own-places", name: Own, licence: CC0-1.0, reliability: 0.83}
tables:
  - files: "*.tsv"
    edges: {subject: a, predicate: p, object: b, bare_ends: "true"}
"""
TABLE = "a\tp\tb\nX:1\ttreats\tX:2\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.tsv").write_text(TABLE)
    (tmp_path / "own.yaml").write_text(OWN)
    return tmp_path


def test_a_format_may_stand_before_the_path(folder: Path) -> None:
    text = f"{folder / 'own.yaml'}={folder / 't.tsv'}"
    assert place_of(text) == Place(folder / "t.tsv", str(folder / "own.yaml"))
    assert ontology.load(text).edges.num_rows == 1
    with pytest.raises(UsageError, match="no such format"):
        ontology.load(f"nothing={folder / 't.tsv'}")


def test_a_path_that_is_there_may_hold_the_sign(folder: Path) -> None:
    odd = folder / "own=t.tsv"
    odd.write_text(TABLE)
    assert place_of(odd) == Place(odd)
    assert ontology.load(odd, format=str(folder / "own.yaml")).edges.num_rows == 1


def test_every_file_that_decides_is_named(folder: Path) -> None:
    plain = files_read(place_of(folder / "t.tsv"))
    assert set(plain) == {"t.tsv"}
    named = files_read(place_of(f"{folder / 'own.yaml'}={folder / 't.tsv'}"))
    assert set(named) == {"t.tsv", "own.yaml"}
    (folder / "t.yaml").write_text(OWN)
    (folder / "source.yaml").write_text("infores: infores:x\nname: x\n")
    assert set(files_read(place_of(folder / "t.tsv"))) == {"t.tsv", "t.yaml", "source.yaml"}
    assert set(files_read(place_of(folder))) == {"t.tsv", "t.yaml", "own.yaml", "source.yaml"}
    assert "t.tsv" in files_read(place_of(folder / "own.yaml"))
    with pytest.raises(InputError, match="nothing here"):
        files_read(place_of(folder / "none.tsv"))


def test_a_changed_declaration_is_another_build(folder: Path) -> None:
    text = f"{folder / 'own.yaml'}={folder / 't.tsv'}"
    before = knowledge_hashes((text,))
    assert knowledge_hashes((text,)) == before
    (folder / "own.yaml").write_text(OWN.replace("0.83", "0.5"))
    after = knowledge_hashes((text,))
    assert {key for key in before if before[key] != after[key]} == {"knowledge/1/own.yaml"}
    assert Settings(knowledge=(text,)).as_json()["knowledge"] == ["own.yaml=t.tsv"]


def test_several_places_stand_in_one_graph_with_the_files_own_words(folder: Path) -> None:
    (folder / "t.tsv").write_text(TABLE + "X:1\theals\tX:3\n")
    (folder / "m.sssom.tsv").write_text(
        "subject_id\tpredicate_id\tobject_id\nX:2\tskos:exactMatch\tICD10CM:M10.9\n"
    )
    with ehrkg.open(folder / "graph.lbug") as kg:
        kg.load_ontology(f"{folder / 'own.yaml'}={folder / 't.tsv'}")
        kg.load_ontology(folder / "m.sssom.tsv")
        found = kg.query(
            "MATCH (a:Concept)-[r:RELATED_TO]->(b:Concept) "
            "WHERE r.original_predicate = 'heals' RETURN a.id AS a, b.id AS b"
        )
    assert found.to_pylist() == [{"a": "X:1", "b": "X:3"}]
    with ehrkg.open(folder / "graph.lbug", read_only=True) as kg:
        known = kg.knowledge
    stated = {e["object"] for e in known.edges.to_pylist() if e["source"] == "infores:own-places"}
    assert stated == {"X:2", "X:3"}
    assert "ICD10CM:M10.9" in known.mappings["object"].to_pylist()


def test_sources_are_known_before_anything_is_read(folder: Path) -> None:
    acquaint([f"{folder / 'own.yaml'}={folder / 't.tsv'}"])
    assert reliability("infores:own-places") == 0.83
