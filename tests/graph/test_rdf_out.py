"""A graph written as RDF is read back equal, and says to others what it says here."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from graph_world import World, fill
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg import ontology
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.graph import readers, writers
from ehrkg.graph.rdf import read_rdf, write_rdf
from ehrkg.graph.store import open_store
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.tables import SCHEMAS
from tests.graph.statements import TEXTS, made


def written(known: Knowledge, path: Path) -> Path:
    with open_store(path.with_name("graph.lbug")) as store:
        writers.write_knowledge(store, known)
        write_rdf(store, path)
    return path


def same(found: Knowledge, known: Knowledge) -> None:
    for name in SCHEMAS:
        assert getattr(found, name).equals(getattr(known, name)), name


@pytest.mark.parametrize("ending", ["nt", "ttl", "jsonld"])
@settings(max_examples=3, deadline=None)
@given(texts=st.lists(TEXTS, min_size=4, max_size=4))
def test_strange_names_come_back_equal(
    tmp_path_factory: pytest.TempPathFactory, ending: str, texts: list[str]
) -> None:
    known = made(*texts)
    path = written(known, tmp_path_factory.mktemp("rdf") / f"graph.{ending}")
    same(read_rdf(path).knowledge, known)
    if ending == "nt":
        same(ontology.load(path), ontology.merge(known))


def test_relations_evidence_and_code_attributes_come_back_equal(
    world: World, tmp_path: Path
) -> None:
    with open_store(tmp_path / "graph.lbug") as store:
        fill(store, world)
        count = write_rdf(store, tmp_path / "graph.nt.gz")
        found = read_rdf(tmp_path / "graph.nt.gz")
        same(found.knowledge, readers.read_knowledge(store))
        assert found.relations.to_pylist() == readers.read_relations(store).to_pylist()
        assert found.evidence.to_pylist() == readers.read_evidence(store).to_pylist()
        assert found.relations.schema == readers.read_relations(store).schema
    with gzip.open(tmp_path / "graph.nt.gz", "rt", encoding="utf-8") as handle:
        text = handle.read()
    assert text.count(" .\n") == count
    assert "hosp/" not in text  # no row of a hospital's tables


def test_the_same_graph_gives_the_same_bytes(world: World, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with open_store(tmp_path / name / "graph.lbug") as store:
            fill(store, world)
            write_rdf(store, tmp_path / name / "g.nt.gz")
            write_rdf(store, tmp_path / name / "g.ttl")
    for file in ("g.nt.gz", "g.ttl"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_others_see_statements_with_their_provenance(tmp_path: Path) -> None:
    import rdflib

    path = written(made("furosemide", "heart failure", "oedema", "x"), tmp_path / "graph.ttl")
    graph = rdflib.Graph().parse(path)
    rows = {
        tuple(str(one) for one in row)
        for row in graph.query(
            """
            PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
            PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
            PREFIX prov: <http://www.w3.org/ns/prov#>
            PREFIX dcterms: <http://purl.org/dc/terms/>
            PREFIX biolink: <https://w3id.org/biolink/vocab/>
            SELECT ?drug ?disease ?source ?origin ?licence ?negated WHERE {
              ?e a rdf:Statement ; rdf:predicate biolink:treats ; rdf:subject/rdfs:label ?drug ;
                 rdf:object/rdfs:label ?disease ; prov:wasDerivedFrom ?source ;
                 prov:hadPrimarySource ?origin ; dcterms:license ?licence ;
                 biolink:negated ?negated }"""
        )
    }
    infores = "https://w3id.org/biolink/infores/"
    [row] = rows
    assert row[:2] == ("furosemide", "heart failure")
    assert row[2] in (f"{infores}a", f"{infores}b")
    assert row[3:5] == (f"{infores}label", "CC0-1.0")
    biolink = rdflib.Namespace("https://w3id.org/biolink/vocab/")
    stated = {
        row["predicate"] for row in made("a", "b", "c", "d").edges.to_pylist() if not row["negated"]
    }
    assert ((None, biolink.treats, None) in graph) == ("TREATS" in stated)
    assert ((None, biolink.causes, None) in graph) == ("CAUSES" in stated)


def test_another_ending_is_refused(world: World, tmp_path: Path) -> None:
    with open_store(tmp_path / "graph.lbug") as store:
        fill(store, world)
        with pytest.raises(UsageError, match="end it with"):
            write_rdf(store, tmp_path / "graph.csv")
    assert not (tmp_path / "graph.csv").exists()


def test_the_rdf_of_others_is_no_graph_of_ours(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text("<http://x.org/1> <http://x.org/p> <http://x.org/2> .\n")
    with pytest.raises(InputError, match="no graph of ehrkg"):
        read_rdf(tmp_path / "a.nt")
