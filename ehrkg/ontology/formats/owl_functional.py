"""OWL in functional syntax, parsed by horned-owl into triples; imports are never followed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ehrkg.foundation.damage import BROKEN, broken
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.triples import Triple
from ehrkg.ontology.formats.tsv import opened
from ehrkg.ontology.iris import written

HEADER = "urn:x-ontology"
"""Stands for the ontology itself, whatever its IRI."""
_PLACE = re.compile(r"line_col: Pos\(\((\d+),")


def triples(path: Path) -> Iterator[Triple]:
    """The axioms that say something of classes, as triples.

    Raises:
        InputError: it is no functional syntax (with the line), or no UTF-8.
    """
    import pyhornedowl

    text = _text(path)
    try:
        ontology = pyhornedowl.open_ontology_from_string(text, "ofn")
    except ValueError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place else None
        raise InputError(
            "no OWL in functional syntax",
            file=path,
            line=line,
            found=text.splitlines()[line - 1].strip()[:80] if line else str(error)[:80],
            expected="Prefix(...) and Ontology(...)",
            todo="mend the line, or fetch the file again if it ends too early",
        ) from error
    writer = _Writer()
    yield _link(HEADER, "rdf:type", _iri("owl:Ontology"))
    for one in ontology.get_components():
        yield from writer.component(one.component, one.ann)


def _text(path: Path) -> str:
    try:
        with opened(path) as handle:
            raw = handle.read()
    except BROKEN as error:
        raise broken(path, error) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "not UTF-8",
            file=path,
            line=raw.count(b"\n", 0, error.start) + 1,
            found=repr(raw[error.start : error.end]),
            expected="UTF-8",
            todo="save the file as UTF-8",
        ) from error


def _iri(name: str) -> str:
    """The IRI of a word of RDF, RDFS or OWL."""
    prefix, _, local = name.partition(":")
    return f"{written()[prefix]}{local}"


class _Writer:
    """Turns axioms into triples, numbering the blank nodes."""

    def __init__(self) -> None:
        self._blanks = 0

    def component(self, axiom: Any, annotations: Any) -> Iterator[Triple]:
        """The triples of one axiom; those of no use to us give none."""
        kind = type(axiom).__name__
        if kind.startswith("Declare"):
            declared = kind.removeprefix("Declare")
            yield _link(_name(axiom.first), "rdf:type", _iri(f"owl:{declared}"))
        elif kind == "SubClassOf":
            yield from self._joined(axiom.sub, "rdfs:subClassOf", axiom.sup)
        elif kind == "EquivalentClasses":
            first, *others = sorted(axiom.first, key=lambda one: (not _is_named(one), str(one)))
            for other in others:
                yield from self._joined(first, "owl:equivalentClass", other)
        elif kind == "DisjointClasses":
            group = self._blank()
            yield _link(group, "rdf:type", _iri("owl:AllDisjointClasses"))
            yield from self._list(group, "owl:members", axiom.first)
        elif kind == "AnnotationAssertion":
            yield from self._annotated(str(axiom.subject), axiom.ann, annotations)
        elif kind == "OntologyAnnotation":
            yield from self._annotated(HEADER, axiom.first, ())
        elif kind == "Import":
            yield _link(HEADER, "owl:imports", str(axiom.first))

    def _annotated(self, subject: str, annotation: Any, others: Any) -> Iterator[Triple]:
        predicate, (target, literal, lang) = str(annotation.ap.first), _value(annotation.av)
        yield subject, predicate, target, literal, lang
        if others:
            axiom = self._blank()
            yield _link(axiom, "rdf:type", _iri("owl:Axiom"))
            yield _link(axiom, "owl:annotatedSource", subject)
            yield _link(axiom, "owl:annotatedProperty", predicate)
            yield axiom, _iri("owl:annotatedTarget"), target, literal, lang
            for other in others:
                value, is_literal, language = _value(other.av)
                yield axiom, str(other.ap.first), value, is_literal, language

    def _joined(self, first: Any, predicate: str, second: Any) -> Iterator[Triple]:
        subject, target = self._node(first), self._node(second)
        yield _link(subject, predicate, target)
        yield from self._said(subject, first)
        yield from self._said(target, second)

    def _said(self, node: str, expression: Any) -> Iterator[Triple]:
        """What a blank node stands for; the kinds not listed stay bare, and are counted later."""
        kind = type(expression).__name__
        if kind == "ObjectSomeValuesFrom" and type(expression.ope).__name__ == "ObjectProperty":
            filler = self._node(expression.bce)
            yield _link(node, "rdf:type", _iri("owl:Restriction"))
            yield _link(node, "owl:onProperty", _name(expression.ope))
            yield _link(node, "owl:someValuesFrom", filler)
        elif kind == "ObjectIntersectionOf":
            yield from self._list(node, "owl:intersectionOf", expression.first)

    def _list(self, node: str, predicate: str, members: Any) -> Iterator[Triple]:
        cells = [self._blank() for _ in members]
        yield _link(node, predicate, cells[0])
        for at, (cell, member) in enumerate(zip(cells, members, strict=True)):
            target = self._node(member)
            yield _link(cell, "rdf:first", target)
            rest = cells[at + 1] if at + 1 < len(cells) else _iri("rdf:nil")
            yield _link(cell, "rdf:rest", rest)
            yield from self._said(target, member)

    def _node(self, expression: Any) -> str:
        return _name(expression) if _is_named(expression) else self._blank()

    def _blank(self) -> str:
        self._blanks += 1
        return f"_:{self._blanks}"


def _is_named(expression: Any) -> bool:
    return type(expression).__name__ == "Class"


def _name(entity: Any) -> str:
    return str(entity.first)


def _link(subject: str, predicate: str, target: str) -> Triple:
    return subject, _iri(predicate), target, False, ""


def _value(value: Any) -> tuple[str, bool, str]:
    """An annotation's value: text or IRI, whether a literal, its language."""
    kind = type(value).__name__
    if kind == "IRI":
        return str(value), False, ""
    if kind == "AnonymousIndividual":
        return "_:anonymous", False, ""
    return str(value.literal), True, str(getattr(value, "lang", "") or "")
