"""An ontology says the same in whatever syntax, and what it can't say here is counted."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology.schema import Knowledge

TURTLE = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
<http://purl.obolibrary.org/obo/x.owl> a owl:Ontology ; owl:versionInfo "2026-01-02" ;
  dcterms:license <https://creativecommons.org/licenses/by/4.0/> .
obo:RO_0002200 a owl:ObjectProperty ; rdfs:label "has phenotype" .
obo:RO_0004026 a owl:ObjectProperty ; rdfs:label "disease has location" .
obo:IAO_0000115 a owl:AnnotationProperty .
obo:DOID_1 a owl:Class ; rdfs:label "gout"@en, "Gicht"@de ;
  obo:IAO_0000115 "Painful \\"crystal\\" arthritis.\\nOften of a toe." ;
  oio:hasExactSynonym "podagra", "GT" ; oio:hasBroadSynonym "joint trouble" ;
  oio:hasDbXref "ICD9CM:274.9", "MSH:D006073" ; oio:hasAlternativeId "DOID:9" ;
  rdfs:subClassOf obo:DOID_2,
    [ a owl:Restriction ; owl:onProperty obo:RO_0002200 ; owl:someValuesFrom obo:HP_0002829 ] ,
    [ a owl:Restriction ; owl:onProperty obo:RO_0002200 ; owl:allValuesFrom obo:HP_0002829 ] ;
  owl:equivalentClass obo:MONDO_0005393 .
[] a owl:Axiom ; owl:annotatedSource obo:DOID_1 ; owl:annotatedProperty oio:hasExactSynonym ;
  owl:annotatedTarget "GT" ; oio:hasSynonymType obo:x#ABBREVIATION .
obo:DOID_2 a owl:Class ; rdfs:label "arthritis" ; owl:disjointWith obo:DOID_4 .
obo:DOID_3 a owl:Class ; rdfs:label "obsolete gout" ; owl:deprecated true ;
  obo:IAO_0100001 obo:DOID_1 ; oio:consider "DOID:2" .
obo:DOID_4 a owl:Class ; rdfs:label "heart disease" ;
  owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( obo:DOID_5
    [ a owl:Restriction ; owl:onProperty obo:RO_0004026 ; owl:someValuesFrom obo:UBERON_0000948 ]
  ) ] .
obo:DOID_5 a owl:Class ; rdfs:label "disease" .
obo:UBERON_0000948 a owl:Class ; rdfs:label "heart" .
obo:HP_0002829 a owl:Class ; rdfs:label "joint pain" .
[] a owl:AllDisjointClasses ; owl:members ( obo:DOID_2 obo:HP_0002829 obo:UBERON_0000948 ) .
""".replace("obo:x#ABBREVIATION", "<http://purl.obolibrary.org/obo/x#ABBREVIATION>")

FUNCTIONAL = """Prefix(owl:=<http://www.w3.org/2002/07/owl#>)
Prefix(rdfs:=<http://www.w3.org/2000/01/rdf-schema#>)
Prefix(obo:=<http://purl.obolibrary.org/obo/>)
Prefix(oio:=<http://www.geneontology.org/formats/oboInOwl#>)
Prefix(dcterms:=<http://purl.org/dc/terms/>)
Prefix(xsd:=<http://www.w3.org/2001/XMLSchema#>)
Ontology(<http://purl.obolibrary.org/obo/x.owl>
Annotation(owl:versionInfo "2026-01-02")
Annotation(dcterms:license <https://creativecommons.org/licenses/by/4.0/>)
Declaration(ObjectProperty(obo:RO_0002200))
Declaration(ObjectProperty(obo:RO_0004026))
AnnotationAssertion(rdfs:label obo:RO_0004026 "disease has location")
Declaration(Class(obo:DOID_1))
AnnotationAssertion(rdfs:label obo:DOID_1 "gout"@en)
AnnotationAssertion(rdfs:label obo:DOID_1 "Gicht"@de)
AnnotationAssertion(obo:IAO_0000115 obo:DOID_1 "Painful \\"crystal\\" arthritis.
Often of a toe.")
AnnotationAssertion(oio:hasExactSynonym obo:DOID_1 "podagra")
AnnotationAssertion(Annotation(oio:hasSynonymType <http://purl.obolibrary.org/obo/x#ABBREVIATION>)
  oio:hasExactSynonym obo:DOID_1 "GT")
AnnotationAssertion(oio:hasBroadSynonym obo:DOID_1 "joint trouble")
AnnotationAssertion(oio:hasDbXref obo:DOID_1 "ICD9CM:274.9")
AnnotationAssertion(oio:hasDbXref obo:DOID_1 "MSH:D006073")
AnnotationAssertion(oio:hasAlternativeId obo:DOID_1 "DOID:9")
SubClassOf(obo:DOID_1 obo:DOID_2)
SubClassOf(obo:DOID_1 ObjectSomeValuesFrom(obo:RO_0002200 obo:HP_0002829))
SubClassOf(obo:DOID_1 ObjectAllValuesFrom(obo:RO_0002200 obo:HP_0002829))
EquivalentClasses(obo:DOID_1 obo:MONDO_0005393)
Declaration(Class(obo:DOID_2))
AnnotationAssertion(rdfs:label obo:DOID_2 "arthritis")
DisjointClasses(obo:DOID_2 obo:DOID_4)
Declaration(Class(obo:DOID_3))
AnnotationAssertion(rdfs:label obo:DOID_3 "obsolete gout")
AnnotationAssertion(owl:deprecated obo:DOID_3 "true"^^xsd:boolean)
AnnotationAssertion(obo:IAO_0100001 obo:DOID_3 obo:DOID_1)
AnnotationAssertion(oio:consider obo:DOID_3 "DOID:2")
Declaration(Class(obo:DOID_4))
AnnotationAssertion(rdfs:label obo:DOID_4 "heart disease")
EquivalentClasses(obo:DOID_4 ObjectIntersectionOf(obo:DOID_5
  ObjectSomeValuesFrom(obo:RO_0004026 obo:UBERON_0000948)))
Declaration(Class(obo:DOID_5))
AnnotationAssertion(rdfs:label obo:DOID_5 "disease")
Declaration(Class(obo:UBERON_0000948))
AnnotationAssertion(rdfs:label obo:UBERON_0000948 "heart")
Declaration(Class(obo:HP_0002829))
AnnotationAssertion(rdfs:label obo:HP_0002829 "joint pain")
DisjointClasses(obo:DOID_2 obo:HP_0002829 obo:UBERON_0000948)
)
"""


def as_functional(path: Path) -> None:
    path.write_text(FUNCTIONAL, encoding="utf-8")


def as_rdf(syntax: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        import rdflib

        graph = rdflib.Graph().parse(data=TURTLE, format="turtle")
        graph.serialize(str(path), format=syntax, encoding="utf-8")

    return write


def as_packed_turtle(path: Path) -> None:
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + TURTLE.replace("\n", "\r\n").encode()))


SYNTAXES = {
    "RDF/XML": as_rdf("xml"),
    "N-Triples": as_rdf("nt"),
    "JSON-LD": as_rdf("json-ld"),
    "functional syntax": as_functional,
    "Turtle, gzip, with a byte order mark and Windows line ends": as_packed_turtle,
}


def turtle(path: Path, text: str = TURTLE) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Knowledge, Ledger]:
    """The ontology as read from Turtle, and the account of it."""
    ledger = Ledger()
    path = turtle(tmp_path_factory.mktemp("x") / "x.ttl")
    return ontology.load(path, ledger=ledger), ledger


def test_names_definitions_and_synonyms(known: tuple[Knowledge, Ledger]) -> None:
    concepts = {row["id"]: row for row in known[0].concepts.to_pylist()}
    assert set(concepts) == {"DOID:1", "DOID:2", "DOID:4", "DOID:5", "UBERON:0000948", "HP:0002829"}
    gout = concepts["DOID:1"]
    assert (gout["name"], gout["kind"]) == ("gout", "disease")
    assert gout["definition"] == 'Painful "crystal" arthritis.\nOften of a toe.'
    scopes = {(row["text"], row["scope"]) for row in known[0].synonyms.to_pylist()}
    assert scopes == {
        ("Gicht", "related"),
        ("podagra", "exact"),
        ("GT", "abbreviation"),
        ("joint trouble", "related"),
    }


def test_class_axioms_become_typed_edges(known: tuple[Knowledge, Ledger]) -> None:
    edges = {
        (row["subject"], row["predicate"], row["object"]): row for row in known[0].edges.to_pylist()
    }
    assert set(edges) == {
        ("DOID:1", "SUBCLASS_OF", "DOID:2"),
        ("DOID:1", "HAS_PHENOTYPE", "HP:0002829"),
        ("DOID:4", "SUBCLASS_OF", "DOID:5"),
        ("DOID:4", "RELATED_TO", "UBERON:0000948"),
        ("DOID:2", "DISJOINT_WITH", "DOID:4"),
        ("DOID:2", "DISJOINT_WITH", "HP:0002829"),
        ("DOID:2", "DISJOINT_WITH", "UBERON:0000948"),
        ("HP:0002829", "DISJOINT_WITH", "UBERON:0000948"),
    }
    located = edges["DOID:4", "RELATED_TO", "UBERON:0000948"]
    assert located["original_predicate"] == "RO:0004026"
    assert located["provenance"] == 'RO:0004026 is "disease has location"; version 2026-01-02'
    assert {row["licence"] for row in edges.values()} == {"CC-BY-4.0"}
    assert {(row["source"], row["origin"]) for row in edges.values()} == {
        ("infores:x", "infores:x")
    }


def test_equivalence_references_and_replacements_become_mappings(
    known: tuple[Knowledge, Ledger],
) -> None:
    rows = {
        (row["subject"], row["predicate"], row["object"]) for row in known[0].mappings.to_pylist()
    }
    assert rows == {
        ("DOID:1", "skos:exactMatch", "MONDO:0005393"),
        ("DOID:1", "skos:closeMatch", "ICD9CM:274.9"),
        ("DOID:1", "skos:closeMatch", "MESH:D006073"),
        ("DOID:1", "skos:exactMatch", "DOID:9"),
        ("DOID:1", "skos:exactMatch", "DOID:3"),
        ("DOID:2", "skos:closeMatch", "DOID:3"),
    }


def test_what_was_not_used_is_counted_and_kept_apart(known: tuple[Knowledge, Ledger]) -> None:
    ledger = known[1]
    assert ledger.dropped("know", "nodes") == {"obsolete": 1}
    assert ledger.dropped("know", "edges") == {"unread_axiom": 1}
    assert ledger.quarantine["know-axioms"].to_pylist() == [
        {"subject": "DOID:1", "axiom": "owl:allValuesFrom"}
    ]


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_every_syntax_says_the_same(
    syntax: str, known: tuple[Knowledge, Ledger], tmp_path: Path
) -> None:
    SYNTAXES[syntax](tmp_path / "x.any")
    assert ontology.load(tmp_path / "x.any") == known[0]


def test_a_thesaurus_and_plain_statements(tmp_path: Path) -> None:
    text = """
    @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    @prefix biolink: <https://w3id.org/biolink/vocab/> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix ex: <https://example.org/> .
    ex:a a skos:Concept ; skos:prefLabel "gout" ; skos:broader ex:b ; skos:narrower ex:d ;
      skos:exactMatch <http://snomed.info/id/90560007> ; skos:relatedMatch ex:b .
    ex:b a skos:Concept ; skos:prefLabel "arthritis" ; skos:altLabel "joint disease" .
    ex:d a skos:Concept ; skos:prefLabel "gout of the toe" .
    ex:c a biolink:Drug ; rdfs:label "colchicine" ; ex:likes ex:b ;
      biolink:treats ex:nowhere .
    ex:a biolink:treated_by ex:c .
    ex:s a rdf:Statement ; rdf:subject ex:c ; rdf:predicate biolink:contraindicated_in ;
      rdf:object ex:b ; biolink:negated true ;
      biolink:primary_knowledge_source <https://w3id.org/biolink/infores/label> .
    """
    ledger = Ledger()
    loaded = ontology.load(turtle(tmp_path / "t.ttl", text), ledger=ledger)
    ex = "https://example.org/"
    edges = {
        (r["subject"].removeprefix(ex), r["predicate"], r["object"].removeprefix(ex)): r
        for r in loaded.edges.to_pylist()
    }
    assert set(edges) == {
        ("a", "SUBCLASS_OF", "b"),
        ("d", "SUBCLASS_OF", "a"),
        ("c", "TREATS", "a"),
        ("c", "RELATED_TO", "b"),
        ("c", "CONTRAINDICATED_IN", "b"),
    }
    assert edges["c", "RELATED_TO", "b"]["original_predicate"] == "https://example.org/likes"
    denied = edges["c", "CONTRAINDICATED_IN", "b"]
    assert (denied["negated"], denied["source"]) == (True, "infores:label")
    kinds = {row["name"]: row["kind"] for row in loaded.concepts.to_pylist()}
    assert kinds["colchicine"] == "drug"
    assert [row["object"] for row in loaded.mappings.to_pylist()] == ["SNOMEDCT:90560007"]
    assert ledger.dropped("know") == {"absent_node": 1, "no_match_predicate": 1}


def test_an_import_is_said_counted_and_not_fetched(tmp_path: Path) -> None:
    line = (
        "<http://purl.obolibrary.org/obo/x.owl> owl:imports <http://unreachable.invalid/ro.owl> ."
    )
    ledger = Ledger()
    for number, write in enumerate((turtle, _as_xml)):
        path = write(tmp_path / f"{number}.any", TURTLE + line)
        with pytest.warns(UserWarning, match="unreachable.invalid/ro.owl: nothing is fetched"):
            ontology.load(path, ledger=ledger)
    assert ledger.dropped("know", "imports") == {"not_fetched": 2}


def _as_xml(path: Path, text: str) -> Path:
    import rdflib

    rdflib.Graph().parse(data=text, format="turtle").serialize(str(path), format="xml")
    return path


def test_entities_that_name_namespaces_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.owl"
    path.write_text(
        """<?xml version="1.0"?>
        <!DOCTYPE rdf:RDF [ <!ENTITY obo "http://purl.obolibrary.org/obo/" > ]>
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
          xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
          xmlns:owl="http://www.w3.org/2002/07/owl#">
        <owl:Class rdf:about="&obo;DOID_4"><rdfs:label>disease &amp; more</rdfs:label></owl:Class>
        </rdf:RDF>"""
    )
    assert ontology.load(path).concepts.to_pylist()[0]["id"] == "DOID:4"
    assert ontology.load(path).concepts.to_pylist()[0]["name"] == "disease & more"


def test_a_context_that_lies_elsewhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonld"
    path.write_text('{"@context": "https://unreachable.invalid/c", "@id": "https://x.org/1"}')
    with pytest.raises(InputError, match=r"x\.jsonld(?s:.*)nothing is fetched(?s:.*)unreachable"):
        ontology.load(path)


def test_the_real_disease_ontology(shared_data: Path) -> None:
    path = shared_data / "hdo" / "doid-simple_2016-09-01.obo"
    ledger = Ledger()
    loaded = ontology.load(path, ledger=ledger)
    text = path.read_text(encoding="utf-8")
    stanzas = re.split(r"^\[Term\]$", text, flags=re.M)[1:]
    live = [one for one in stanzas if "is_obsolete: true" not in one]
    assert loaded.concepts.num_rows == len(live)
    assert "" not in loaded.concepts["name"].to_pylist()
    parents = len(re.findall(r"^is_a:", "".join(live), flags=re.M))
    assert loaded.edges["predicate"].to_pylist().count("SUBCLASS_OF") == parents
    assert ledger.dropped("know", "nodes") == {"obsolete": len(stanzas) - len(live)}
    assert all("version " in row for row in loaded.edges["provenance"].to_pylist())
