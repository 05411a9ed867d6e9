"""Every syntax of RDF and OWL, told apart by content; one reading of what their triples say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats import (
    axioms,
    owl_functional,
    owl_xml,
    rdf_graph,
    rdf_text,
    triples,
)
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.tsv import check_packing, head
from ehrkg.ontology.rdf_tables import is_graph


@dataclass(frozen=True)
class Syntax:
    """A way to write triples.

    Attributes:
        words: how an error message calls it.
        begins: what the beginning of a file in it looks like.
        triples: reads them.
        owl: whether ontologies come in it, rather than any data.
    """

    words: str
    begins: re.Pattern[str]
    triples: Callable[[Path], Iterator[triples.Triple]]
    owl: bool = False


SYNTAXES: Mapping[str, Syntax] = {
    "rdfxml": Syntax(
        "RDF/XML",
        re.compile(r"\A\s*<[?!].*<rdf:RDF\b|\A\s*<rdf:RDF\b", re.S),
        owl_xml.triples,
        True,
    ),
    "owlxml": Syntax(
        "OWL/XML",
        re.compile(r"\A\s*<(\?|!).*<Ontology\b.*w3\.org/2002/07/owl#|\A\s*<Ontology\b", re.S),
        owl_xml.triples,
        True,
    ),
    "functional": Syntax(
        "OWL functional syntax",
        re.compile(r"\A\s*(#[^\n]*\n\s*)*(Prefix|Ontology)\s*\("),
        owl_functional.triples,
        True,
    ),
    "turtle": Syntax(
        "Turtle",
        re.compile(r"\A\s*(#[^\n]*\n\s*)*(@(prefix|base)\b|(prefix|base)\s+[\w.-]*:?\s*<)", re.I),
        rdf_text.turtle,
    ),
    "ntriples": Syntax(
        "N-Triples",
        re.compile(r"\A\s*(#[^\n]*\n\s*)*(<[^<>\s]+>|_:\S+)\s+<[^<>\s]+>\s+[<_\"]"),
        rdf_text.ntriples,
    ),
    "jsonld": Syntax(
        "JSON-LD", re.compile(r"\A\s*[\[{].*\"@(context|id|graph)\"\s*:", re.S), rdf_text.json_ld
    ),
}
"""One row a syntax; the first whose beginning fits is taken."""


def _syntax(path: Path) -> Syntax | None:
    if not path.is_file():
        return None
    beginning = "\n".join(head(path, 60))
    return next((one for one in SYNTAXES.values() if one.begins.search(beginning)), None)


def detect(path: Path) -> bool:
    """Whether a file is RDF as data: Turtle, N-Triples or JSON-LD."""
    found = _syntax(path)
    return found is not None and not found.owl


def detect_owl(path: Path) -> bool:
    """Whether a file is OWL or RDF in XML, or OWL in functional syntax."""
    found = _syntax(path)
    return found is not None and found.owl


def read(path: Path) -> Parts:
    """Read an ontology or RDF data, in whichever syntax.

    Obsolete terms are no concepts; their identifiers are mappings of what replaces them. Axioms
    that state nothing between two classes are counted and kept apart, and so are imports: nothing
    is fetched.

    Raises:
        InputError: no syntax fits, or the one that does is broken (with the line), or the XML is
            of a kind that is refused.
    """
    found = triples_of(path)
    return rdf_graph.parts_of(found) if is_graph(found) else axioms.parts_of(found, path)


def triples_of(path: Path) -> pa.Table:
    """The triples of a file (TRIPLES), in whichever syntax.

    Raises:
        InputError: see ``read``.
    """
    syntax = _syntax(path)
    if syntax is None:
        check_packing(path)
        raise InputError(
            "no RDF or OWL",
            file=path,
            found=next(iter(head(path, 1)), "")[:80] or "nothing",
            expected=", ".join(one.words for one in SYNTAXES.values()),
            todo="name the right format with format=",
        )
    return triples.table(syntax.triples(path))
