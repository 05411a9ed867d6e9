"""A graph as RDF with its provenance (PROV-O), and back, equal."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.storage import write_atomically
from ehrkg.graph.kgx_out import biolink_of
from ehrkg.graph.readers import read_evidence, read_knowledge, read_relations
from ehrkg.graph.schema import NODES
from ehrkg.graph.store import GraphStore
from ehrkg.ontology.formats import rdf, rdf_graph
from ehrkg.ontology.iris import written
from ehrkg.ontology.rdf_tables import (
    GRAPH,
    TYPE,
    iri,
    is_graph,
    lines,
    links,
    shapes,
    table_of,
    texts,
    triples_of,
)
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sql import mapped
from ehrkg.ontology.tables import SCHEMAS

PRETTY = {".ttl": "turtle", ".jsonld": "json-ld"}
"""Endings that rdflib writes, the whole graph in memory; N-Triples are written as a stream."""


@dataclass(frozen=True)
class Written:
    """What a file written by ``write_rdf`` holds.

    Attributes:
        knowledge: concepts, synonyms, edges, mappings, code attributes, passages.
        relations: as ``readers.read_relations`` gives them.
        evidence: as ``readers.read_evidence`` gives it.
    """

    knowledge: Knowledge
    relations: pa.Table
    evidence: pa.Table


def write_rdf(store: GraphStore, path: Path) -> int:
    """Write knowledge, relations and evidence; patients, visits and templates stay where they are.

    Each edge is a statement of its own (rdf:Statement) with the source it was derived from, its
    primary source and its licence; one that is not negated also stands as a plain triple, so that a
    SPARQL query needs no detour. Relations keep counts of patients: a file with them is as
    confidential as the graph.

    Args:
        store: the graph.
        path: a file that ends with .nt or .nt.gz (written as a stream), .ttl or .jsonld.

    Returns:
        How many triples; the same graph always gives the same bytes.

    Raises:
        UsageError: another ending.
        InputError: the file can't be written there.
    """
    name = path.name.lower()
    pretty = next((kind for ending, kind in PRETTY.items() if name.endswith(ending)), None)
    if pretty is None and not name.endswith((".nt", ".nt.gz")):
        raise UsageError(
            f"no RDF is written as {path.name!r}", todo="end it with .nt, .nt.gz, .ttl or .jsonld"
        )
    count = 0

    def fill(temporary: Path) -> None:
        nonlocal count
        with temporary.open("wb") as raw:
            if name.endswith(".gz"):
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                    count = _pour(store, packed.write)
            else:
                count = _pour(store, raw.write)
        if pretty is not None:
            _rewrite(temporary, pretty)

    write_atomically(path, fill)
    return count


def _pour(store: GraphStore, write: Callable[[bytes], object]) -> int:
    count = 0
    for piece in _lines(store):
        for chunk in piece.chunks:
            write("".join(chunk.to_pylist()).encode())
        count += len(piece)
    return count


def _rewrite(path: Path, syntax: str) -> None:
    """The same triples in a syntax that is easier on the eye."""
    from rdflib import Graph

    graph = Graph()
    graph.parse(str(path), format="nt")
    for prefix, beginning in written().items():
        graph.bind(prefix, beginning, override=True, replace=True)
    graph.serialize(str(path), format=syntax, encoding="utf-8")


def _lines(store: GraphStore) -> Iterator[pa.ChunkedArray]:
    known, relations, evidence = read_knowledge(store), read_relations(store), read_evidence(store)
    yield pa.chunked_array([[f"<urn:ehrkg:graph> <{TYPE}> <{iri(GRAPH)}> .\n"]])
    for name in SCHEMAS:
        yield from triples_of(name, getattr(known, name))
    yield from triples_of("relations", relations)
    yield from triples_of("evidence", evidence)
    yield from _concepts(known)
    yield from _statements(known.edges)
    yield from _sources(store)
    yield from _derived(relations, evidence)


def _concepts(known: Knowledge) -> Iterator[pa.ChunkedArray]:
    """Concepts as any reader of OWL knows them."""
    subjects = links(known.concepts.column("id"))
    yield lines(subjects, TYPE, pa.repeat(f"<{iri('owl:Class')}>", len(subjects)))
    synonyms = known.synonyms
    exact = pc.equal(synonyms.column("scope"), "exact")
    for term, rows in (
        ("oboInOwl:hasExactSynonym", synonyms.filter(exact)),
        ("oboInOwl:hasRelatedSynonym", synonyms.filter(pc.invert(exact))),
    ):
        yield lines(links(rows.column("concept")), iri(term), texts(rows.column("text")))


def _statements(edges: pa.Table) -> Iterator[pa.ChunkedArray]:
    """Edges as statements, and those that hold as plain triples too."""
    begins = shapes()["edges"].begins
    named = pc.binary_join_element_wise(f"<{begins}", edges.column("id"), ">", "")
    predicates = links(mapped(edges.column("predicate"), biolink_of))
    yield lines(named, TYPE, pa.repeat(f"<{iri('rdf:Statement')}>", edges.num_rows))
    yield lines(named, iri("rdf:predicate"), predicates)
    holds = pc.invert(edges.column("negated"))
    table = pa.table(
        [links(edges.column("subject")), predicates, links(edges.column("object"))],
        names=list("spo"),
    ).filter(holds)
    plain = table.group_by(["s", "p", "o"]).aggregate([]).sort_by([(n, "ascending") for n in "spo"])
    yield pc.binary_join_element_wise(
        plain.column("s"), plain.column("p"), plain.column("o"), pa.scalar(".\n"), " "
    )


def _sources(store: GraphStore) -> Iterator[pa.ChunkedArray]:
    """Whose word it is: PROV-O entities with licence, home and edition."""
    rows = store.read_nodes("Source")
    subjects = links(rows.column("id"))
    yield lines(subjects, TYPE, pa.repeat(f"<{iri('prov:Entity')}>", rows.num_rows))
    for column, term in (
        ("name", "rdfs:label"),
        ("licence", "dcterms:license"),
        ("url", "foaf:homepage"),
        ("version", "owl:versionInfo"),
        ("text", "dcterms:description"),
    ):
        yield lines(subjects, iri(term), texts(rows.column(column)))


def _derived(relations: pa.Table, evidence: pa.Table) -> Iterator[pa.ChunkedArray]:
    """What each relation and each piece of evidence was derived from."""
    begins = {name: shapes()[name].begins for name in ("relations", "evidence", "edges")}
    derived = iri("prov:wasDerivedFrom")
    yield lines(
        _pointed(begins["relations"], evidence.column("relation")),
        derived,
        _pointed(begins["evidence"], evidence.column("id")),
    )
    parents = pc.list_parent_indices(evidence.column("edges").combine_chunks())
    cited = pc.list_flatten(evidence.column("edges"))
    used = pc.and_(pc.is_valid(cited), pc.not_equal(cited, ""))
    yield lines(
        _pointed(begins["evidence"], evidence.column("id").take(parents)).filter(used),
        iri("ehrkg:cites"),
        _pointed(begins["edges"], cited).filter(used),
    )
    named = _pointed(begins["relations"], relations.column("id"))
    yield lines(named, TYPE, pa.repeat(f"<{iri('prov:Entity')}>", relations.num_rows))


def _pointed(begins: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    from urllib.parse import quote

    whole = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    return mapped(whole, lambda one: f"<{begins}{quote(one, safe='')}>")


def read_rdf(path: Path) -> Written:
    """Read back what ``write_rdf`` wrote.

    Raises:
        InputError: no RDF, broken (with the line), or of another writer (``ontology.load`` reads
            the RDF of others).
    """
    triples = rdf.triples_of(path)
    if not is_graph(triples):
        raise InputError(
            "this RDF is no graph of ehrkg", file=path, todo="read it with kg.load_ontology"
        )
    relations = table_of("relations", triples, NODES["Relation"].properties)
    evidence = table_of("evidence", triples, NODES["Evidence"].properties)
    return Written(
        rdf_graph.knowledge_of(triples),
        relations.sort_by("id").combine_chunks(),
        evidence.sort_by([(n, "ascending") for n in ("relation", "kind", "id")]).combine_chunks(),
    )
