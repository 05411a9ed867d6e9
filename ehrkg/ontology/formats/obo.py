"""OBO 1.2/1.4: terms with names, definitions, synonyms, parents, relationships and xrefs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ehrkg.foundation.damage import BROKEN, broken
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.categories import kind_of_curie
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.statements import Owner, edges_of, owner
from ehrkg.ontology.formats.tsv import head, opened
from ehrkg.ontology.predicates import reading
from ehrkg.ontology.sql import mapped
from ehrkg.ontology.tables import knowledge

XREF_CONFIDENCE = 0.6
_QUOTED = re.compile(r'^"((?:[^"\\]|\\.)*)"\s*(.*)$')
_SCOPES = {"EXACT": "exact", "NARROW": "related", "BROAD": "related", "RELATED": "related"}
_IDENTIFIERS = {
    "xref": "xrefs",
    "equivalent_to": "same",
    "alt_id": "alternative",
    "replaced_by": "replaced_by",
    "consider": "consider",
}
"""Tags whose value is an identifier, and the field of a stanza each fills."""
EXACT, CLOSE = "skos:exactMatch", "skos:closeMatch"
PIECE = 50_000
"""Statements gathered before they are packed into columns."""
_ESCAPES = {"n": "\n", "t": "\t", "W": " "}


@dataclass
class _Stanza:
    """A [Term], or a [Typedef] of which only its names matter."""

    kind: str
    line: int
    id: str = ""
    name: str = ""
    definition: str = ""
    obsolete: bool = False
    synonyms: list[tuple[str, str]] = field(default_factory=list)
    stated: list[tuple[str, str]] = field(default_factory=list)
    unions: int = 0
    xrefs: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    alternative: list[str] = field(default_factory=list)
    replaced_by: list[str] = field(default_factory=list)
    consider: list[str] = field(default_factory=list)


@dataclass
class _Gathered:
    """What the stanzas said so far, in tables that grow by pieces."""

    tables: dict[str, list[pa.Table]]
    rows: dict[str, list[tuple[object, ...]]]
    relations: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    terms: int = 0
    obsolete: int = 0
    unions: int = 0


_COLUMNS = {
    "concepts": ("id", "name", "kind", "definition"),
    "synonyms": ("concept", "text", "scope"),
    "stated": ("subject", "relation", "object"),
    "mappings": ("subject", "predicate", "object", "confidence"),
}


def detect(path: Path) -> bool:
    """Whether a file begins as OBO does."""
    if not path.is_file():
        return False
    return any(line.startswith(("format-version:", "[Term]")) for line in head(path, 60))


def read(path: Path) -> Parts:
    """Read an OBO file, a stanza at a time.

    Obsolete terms are dropped and counted; their ids, and alternative ids, are kept as exact
    mappings of the term that replaces them (as close ones of a term to consider), so that old
    references still arrive. Genus and differentia of a definition (intersection_of) are stated like
    parents and relationships; unions are counted as unread.

    Raises:
        InputError: a stanza has no id, a definition or synonym has no quoted text, the gzip ends
            too early, or a byte is not UTF-8.
    """
    gathered = _Gathered({name: [] for name in _COLUMNS}, {name: [] for name in _COLUMNS})
    header: dict[str, str] = {}
    for stanza in _stanzas(path, header):
        if stanza.kind == "[Typedef]":
            gathered.labels[stanza.id] = stanza.name
            for xref in filter(reading, stanza.xrefs):
                gathered.relations[stanza.id] = xref
        else:
            _gather(stanza, gathered)
        if len(gathered.rows["stated"]) > PIECE:
            _pack(gathered)
    _pack(gathered)
    return _parts(gathered, owner(path, version=header.get("data-version", "")))


def _parts(gathered: _Gathered, who: Owner) -> Parts:
    tables = {name: pa.concat_tables(pieces) for name, pieces in gathered.tables.items()}
    stated = tables["stated"]
    relation = stated.column("relation")
    stated = stated.append_column(
        "label", mapped(relation, lambda word: gathered.labels.get(word, ""))
    ).set_column(1, "relation", mapped(relation, lambda word: gathered.relations.get(word, word)))
    sourced = {
        name: tables[name].append_column(
            "source", pa.array([who.infores] * tables[name].num_rows, pa.string())
        )
        for name in ("concepts", "synonyms", "mappings")
    }
    parts = Parts(knowledge(edges=edges_of(stated, who), **sourced))
    parts.rows.append(("nodes", gathered.terms, {"obsolete": gathered.obsolete}))
    counted = stated.num_rows + gathered.unions
    parts.rows.append(("edges", counted, {"unread_axiom": gathered.unions}))
    return parts


def _gather(term: _Stanza, gathered: _Gathered) -> None:
    """Put a term's rows to the others."""
    rows = gathered.rows
    gathered.terms += 1
    if term.obsolete:
        gathered.obsolete += 1
        rows["mappings"] += [(new, EXACT, term.id, 0.95) for new in term.replaced_by]
        rows["mappings"] += [
            (new, CLOSE, term.id, 0.5) for new in term.consider if new not in term.replaced_by
        ]
        return
    gathered.unions += term.unions
    rows["concepts"].append((term.id, term.name, kind_of_curie(term.id), term.definition))
    rows["synonyms"] += [(term.id, text, scope) for text, scope in term.synonyms]
    rows["stated"] += [(term.id, relation, other) for relation, other in term.stated]
    rows["mappings"] += [(term.id, CLOSE, xref, XREF_CONFIDENCE) for xref in term.xrefs]
    rows["mappings"] += [(term.id, EXACT, other, 0.95) for other in term.same + term.alternative]


def _pack(gathered: _Gathered) -> None:
    """Turn the rows gathered so far into columns, which take a tenth of the memory."""
    for name, rows in gathered.rows.items():
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(_COLUMNS[name])
        kinds = [pa.float64() if c == "confidence" else pa.string() for c in _COLUMNS[name]]
        arrays = [pa.array(list(c), kind) for c, kind in zip(columns, kinds, strict=True)]
        gathered.tables[name].append(pa.table(arrays, names=list(_COLUMNS[name])))
        rows.clear()


def _stanzas(path: Path, header: dict[str, str]) -> Iterator[_Stanza]:
    """The terms and typedefs of a file; the header's tags go into ``header``."""
    stanza: _Stanza | None = None
    begun = False
    for number, line in _lines(path):
        if line.startswith("["):
            if stanza is not None:
                yield _complete(stanza, path)
            begun = True
            stanza = _Stanza(line, number) if line in ("[Term]", "[Typedef]") else None
        elif line and not line.startswith("!"):
            tag, _, value = line.partition(":")
            if stanza is not None:
                _take(stanza, tag.strip(), value.strip(), path, number)
            elif not begun:
                header.setdefault(tag.strip(), value.strip())
    if stanza is not None:
        yield _complete(stanza, path)


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
    except BROKEN as error:
        raise broken(path, error) from error


def _complete(term: _Stanza, path: Path) -> _Stanza:
    if not term.id:
        raise InputError(
            f"a {term.kind} without id",
            file=path,
            line=term.line,
            expected="id: PREFIX:1234567",
            todo="mend the stanza",
        )
    return term


def _take(term: _Stanza, tag: str, value: str, path: Path, line: int) -> None:
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
    elif tag in ("is_a", "disjoint_from"):
        term.stated.append((tag, normalise(bare)))
    elif tag in ("relationship", "intersection_of"):
        kind, _, other = bare.rpartition(" ")
        term.stated.append((kind.strip() or "is_a", normalise(other)))
    elif tag == "union_of":
        term.unions += 1
    elif tag == "is_obsolete":
        term.obsolete = bare.lower() == "true"
    elif tag in _IDENTIFIERS:
        getattr(term, _IDENTIFIERS[tag]).append(normalise(bare.split(' "')[0]))


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
