"""RDF as text: Turtle and N-Triples as a stream, JSON-LD whole; no context is ever fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ehrkg.foundation.damage import BROKEN, broken
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.triples import Triple
from ehrkg.ontology.formats.tsv import opened

BASE = "http://unnamed.invalid/"
"""What relative IRIs are relative to where the file does not say."""


def turtle(path: Path) -> Iterator[Triple]:
    """The triples of a Turtle file, as they are read.

    Raises:
        InputError: the syntax is broken or ends too early (with the line), or the gzip is.
    """
    return _streamed(path, "TURTLE")


def ntriples(path: Path) -> Iterator[Triple]:
    """The triples of an N-Triples file, as they are read.

    Raises:
        InputError: see ``turtle``.
    """
    return _streamed(path, "N_TRIPLES")


def _streamed(path: Path, syntax: str) -> Iterator[Triple]:
    import pyoxigraph

    known = getattr(pyoxigraph.RdfFormat, syntax)
    base = None if known == pyoxigraph.RdfFormat.N_TRIPLES else BASE
    try:
        with opened(path) as handle:
            _pass_mark(handle)
            for quad in pyoxigraph.parse(handle, format=known, base_iri=base):
                yield _triple(quad, pyoxigraph)
    except SyntaxError as error:
        raise InputError(
            "broken RDF",
            file=path,
            line=error.lineno,
            found=str(error.msg),
            expected=f"{syntax.title().replace('_', '-')}, in UTF-8",
            todo="mend the line, or fetch the file again if it ends too early",
        ) from error
    except BROKEN as error:
        raise broken(path, error) from error


def _pass_mark(handle: Any) -> None:
    """Go past a byte order mark."""
    if handle.read(3) != b"\xef\xbb\xbf":
        handle.seek(0)


def _triple(quad: Any, ox: Any) -> Triple:
    subject, target = quad.subject, quad.object
    s = f"_:{subject.value}" if isinstance(subject, ox.BlankNode) else subject.value
    if isinstance(target, ox.Literal):
        return s, quad.predicate.value, target.value, True, target.language or ""
    o = f"_:{target.value}" if isinstance(target, ox.BlankNode) else target.value
    return s, quad.predicate.value, o, False, ""


def json_ld(path: Path) -> Iterator[Triple]:
    """The triples of a JSON-LD file.

    Raises:
        InputError: it is no JSON (with the line), its context lies elsewhere (and is not fetched),
            or it is no JSON-LD.
    """
    from rdflib import BNode, Dataset, Literal

    try:
        with opened(path) as handle:
            found = json.loads(handle.read().decode("utf-8-sig"))
    except BROKEN as error:
        raise broken(path, error) from error
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=path, todo="save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise InputError(
            "broken JSON", file=path, line=error.lineno, found=error.msg, expected="JSON-LD"
        ) from error
    _check_contexts(found, path)
    graph = Dataset()
    graph.parse(data=json.dumps(found), format="json-ld", publicID=BASE)
    for s, p, o, _ in graph.quads():
        subject = f"_:{s}" if isinstance(s, BNode) else str(s)
        if isinstance(o, Literal):
            yield subject, str(p), str(o), True, o.language or ""
        else:
            yield subject, str(p), f"_:{o}" if isinstance(o, BNode) else str(o), False, ""


def _check_contexts(found: Any, path: Path) -> None:
    """Refuse a context that is only named: reading it would need the network, or another file."""
    waiting = [found]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            for key, value in node.items():
                named = value if isinstance(value, list) else [value]
                if key in ("@context", "@import") and any(isinstance(one, str) for one in named):
                    raise InputError(
                        "the context lies elsewhere, and nothing is fetched",
                        file=path,
                        column=key,
                        found=next(one for one in named if isinstance(one, str)),
                        expected="a context written out in the file",
                        todo="expand the file first (JSON-LD's expand), or write its context in",
                    )
                waiting.append(value)
        elif isinstance(node, list):
            waiting.extend(node)
