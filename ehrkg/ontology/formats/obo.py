"""OBO 1.2/1.4: terms with names, definitions, synonyms, parents, relationships and xrefs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.categories import kind_of_curie
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.tsv import head, opened
from ehrkg.ontology.predicates import UNKNOWN, from_biolink
from ehrkg.ontology.sources import Source, read_source
from ehrkg.ontology.tables import build, knowledge, with_edge_ids

XREF_CONFIDENCE = 0.6
_QUOTED = re.compile(r'^"((?:[^"\\]|\\.)*)"\s*(.*)$')
_SCOPES = {"EXACT": "exact", "NARROW": "related", "BROAD": "related", "RELATED": "related"}
_ESCAPES = {"n": "\n", "t": "\t", "W": " "}


@dataclass
class _Term:
    line: int
    id: str = ""
    name: str = ""
    definition: str = ""
    obsolete: bool = False
    synonyms: list[tuple[str, str]] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    relationships: list[tuple[str, str]] = field(default_factory=list)
    xrefs: list[str] = field(default_factory=list)
    alternative: list[str] = field(default_factory=list)
    replaced_by: str = ""


def detect(path: Path) -> bool:
    """Whether a file begins as OBO does."""
    if not path.is_file():
        return False
    return any(line.startswith(("format-version:", "[Term]")) for line in head(path, 60))


def read(path: Path) -> Parts:
    """Read an OBO file.

    Obsolete terms are dropped and counted; their ids, and alternative ids, are kept as exact
    mappings of the term that replaces them, so that old references still arrive.

    Raises:
        InputError: a stanza has no id, a definition or synonym has no quoted text, the gzip ends
            too early, or a byte is not UTF-8.
    """
    described = path.parent / "source.yaml"
    source = read_source(described) if described.is_file() else None
    infores = source.infores if source else f"infores:{path.name.split('.')[0].lower()}"
    terms = list(_terms(path))
    live = [term for term in terms if not term.obsolete]
    concepts = [
        (term.id, term.name, kind_of_curie(term.id), term.definition, infores) for term in live
    ]
    synonyms = [(term.id, text, scope, infores) for term in live for text, scope in term.synonyms]
    parts = Parts(
        knowledge(
            concepts=build("concepts", concepts),
            synonyms=build("synonyms", synonyms),
            edges=_edges(live, infores, source),
            mappings=build("mappings", _mappings(terms, infores)),
        )
    )
    parts.rows.append(("nodes", len(terms), {"obsolete": len(terms) - len(live)}))
    parts.rows.append(("edges", parts.knowledge.edges.num_rows, {}))
    return parts


def _edges(live: list[_Term], infores: str, source: Source | None) -> pa.Table:
    stated = [(term.id, "is_a", parent) for term in live for parent in term.parents]
    stated += [(term.id, kind, other) for term in live for kind, other in term.relationships]
    rows = []
    for subject, relation, target in stated:
        known = from_biolink(relation)
        rows.append(
            {
                "subject": subject,
                "predicate": known or UNKNOWN,
                "object": target,
                "negated": False,
                "route": "",
                "source": infores,
                "origin": source.origin if source else infores,
                "licence": source.licence if source else "",
                "provenance": "",
                "original_predicate": "" if known else relation,
            }
        )
    names = (
        "subject",
        "predicate",
        "object",
        "negated",
        "route",
        "source",
        "origin",
        "licence",
        "provenance",
        "original_predicate",
    )
    schema = pa.schema([(n, pa.bool_() if n == "negated" else pa.string()) for n in names])
    return with_edge_ids(pa.Table.from_pylist(rows, schema=schema))


def _mappings(terms: list[_Term], infores: str) -> list[tuple[str, str, str, float, str]]:
    rows = []
    for term in terms:
        if term.obsolete:
            if term.replaced_by:
                rows.append((term.replaced_by, "skos:exactMatch", term.id, 0.95, infores))
            continue
        rows += [
            (term.id, "skos:closeMatch", xref, XREF_CONFIDENCE, infores) for xref in term.xrefs
        ]
        rows += [(term.id, "skos:exactMatch", old, 0.95, infores) for old in term.alternative]
    return rows


def _terms(path: Path) -> Iterator[_Term]:
    term: _Term | None = None
    for number, line in _lines(path):
        if line.startswith("["):
            if term is not None:
                yield _complete(term, path)
            term = _Term(number) if line == "[Term]" else None
        elif term is not None and line and not line.startswith("!"):
            tag, _, value = line.partition(":")
            _take(term, tag.strip(), value.strip(), path, number)
    if term is not None:
        yield _complete(term, path)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with opened(path) as handle:
            for number, raw in enumerate(handle, start=1):
                try:
                    yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    raise InputError(
                        "not UTF-8",
                        file=path,
                        line=number,
                        found=repr(raw[error.start : error.end]),
                        expected="UTF-8",
                        todo="save the file as UTF-8",
                    ) from error
    except EOFError as error:
        raise InputError(
            "the gzip file ends too early",
            file=path,
            found=str(error),
            todo="fetch or copy the file again",
        ) from error


def _complete(term: _Term, path: Path) -> _Term:
    if not term.id:
        raise InputError(
            "a [Term] without id",
            file=path,
            line=term.line,
            expected="id: PREFIX:1234567",
            todo="mend the stanza",
        )
    return term


def _take(term: _Term, tag: str, value: str, path: Path, line: int) -> None:
    """Put one tag's value into the term; tags that are not listed are passed over."""
    bare = value.split(" ! ")[0].split(" {")[0].strip()
    if tag == "id":
        term.id = normalise(bare)
    elif tag == "name":
        term.name = _unescape(value)
    elif tag == "def":
        term.definition = _quoted(value, path, line)[0]
    elif tag == "synonym":
        text, rest = _quoted(value, path, line)
        words = rest.split()
        scope = _SCOPES.get(words[0] if words else "RELATED", "related")
        if len(words) > 1 and "ABBREVIATION" in words[1].upper():
            scope = "abbreviation"
        term.synonyms.append((text, scope))
    elif tag == "is_a":
        term.parents.append(normalise(bare))
    elif tag == "relationship":
        kind, _, other = bare.partition(" ")
        term.relationships.append((kind, normalise(other)))
    elif tag == "xref":
        term.xrefs.append(normalise(bare.split(' "')[0]))
    elif tag == "alt_id":
        term.alternative.append(normalise(bare))
    elif tag == "is_obsolete":
        term.obsolete = bare.lower() == "true"
    elif tag == "replaced_by":
        term.replaced_by = normalise(bare)


def _quoted(value: str, path: Path, line: int) -> tuple[str, str]:
    match = _QUOTED.match(value)
    if match is None:
        raise InputError(
            "no quoted text",
            file=path,
            line=line,
            found=value[:80],
            expected='"text" ...',
            todo="mend the line",
        )
    return _unescape(match.group(1)), match.group(2)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found.group(1), found.group(1)), text)
