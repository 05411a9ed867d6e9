"""OWL in RDF/XML and OWL/XML, parsed by owlready2 into triples; imports are never followed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.safe_xml import check_xml
from ehrkg.ontology.formats.triples import Triple
from ehrkg.ontology.formats.tsv import opened

BASE = "http://unnamed.invalid/ontology#"
"""What relative IRIs are relative to where the file does not say."""


def triples(path: Path) -> Iterator[Triple]:
    """All triples of a file, its class axioms among them.

    Raises:
        InputError: the XML is refused or broken (``check_xml``), or it is no OWL or RDF.
    """
    check_xml(path)
    graph = _parsed(path)
    yield from (
        (_node(s, sub), p, _node(o, obj), False, "")
        for s, p, o, sub, obj in graph.execute(
            "SELECT s.iri, p.iri, o.iri, q.s, q.o FROM objs q JOIN resources p ON p.storid = q.p "
            "LEFT JOIN resources s ON s.storid = q.s LEFT JOIN resources o ON o.storid = q.o"
        )
    )
    yield from (
        (_node(s, sub), p, _text(value), True, datatype[1:] if _is_language(datatype) else "")
        for s, p, value, datatype, sub in graph.execute(
            "SELECT s.iri, p.iri, q.o, q.d, q.s FROM datas q JOIN resources p ON p.storid = q.p "
            "LEFT JOIN resources s ON s.storid = q.s"
        )
    )


def _parsed(path: Path) -> Any:
    """The quadstore of a world of its own; the parser alone runs, so nothing is looked up."""
    import owlready2

    world = owlready2.World()
    graph = world.get_ontology(BASE).graph
    try:
        with opened(path) as handle:
            graph.parse(handle, default_base=BASE)
    except owlready2.OwlReadyOntologyParsingError as error:
        cause = error.__cause__ or error
        raise InputError(
            "no OWL or RDF could be read from this XML",
            file=path,
            line=getattr(cause, "lineno", None),
            found=str(cause).splitlines()[0][:200],
            expected="RDF/XML or OWL/XML",
            todo="name the right format with format=",
        ) from error
    return world.graph


def _node(iri: str | None, number: int) -> str:
    return iri if iri is not None else f"_:{-number}"


def _is_language(datatype: object) -> bool:
    return isinstance(datatype, str) and datatype.startswith("@")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
