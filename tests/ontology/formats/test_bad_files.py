"""Broken files of every format: refused with file and line, or counted; never silently less."""

from __future__ import annotations

import gzip
import socket
from pathlib import Path
from typing import NoReturn

import pytest

from ehrkg import ontology
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger

XML = """<?xml version="1.0"?>
{doctype}
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="http://www.w3.org/2002/07/owl#">
<owl:Class rdf:about="http://purl.obolibrary.org/obo/DOID_4">
<rdfs:label>{label}</rdfs:label>
</owl:Class>
</rdf:RDF>
"""
BOMB = (
    '<!DOCTYPE rdf:RDF [\n<!ENTITY a "aaaaaaaaaa">\n'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">\n' for a, b in ("ab", "bc", "cd", "de"))
    + "]>"
)
EXTERNAL = '<!DOCTYPE rdf:RDF [\n<!ENTITY a SYSTEM "file:///etc/passwd">\n]>'
ELSEWHERE = '<!DOCTYPE rdf:RDF SYSTEM "http://unreachable.invalid/a.dtd">'
LONG = f'<!DOCTYPE rdf:RDF [\n\n<!ENTITY a "{"x" * 5000}">\n]>'
PARAMETER = '<!DOCTYPE rdf:RDF [\n<!ENTITY % a SYSTEM "http://unreachable.invalid/a"> %a;\n]>'
TURTLE = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
FUNCTIONAL = "Prefix(o:=<http://x.org/>)\nOntology(<http://x.org/o>\n"
OBO = "format-version: 1.2\n\n[Term]\nid: DOID:1\n"
SSSOM = "#mapping_set_id: x\nsubject_id\tpredicate_id\tobject_id\n"

REFUSED: dict[str, tuple[str, bytes, str]] = {
    "an entity bomb": ("a.owl", XML.format(doctype=BOMB, label="&e;").encode(), "line 4.*grow"),
    "an external entity": (
        "a.owl",
        XML.format(doctype=EXTERNAL, label="&a;").encode(),
        "line 3.*external entity a at file",
    ),
    "an external document type": (
        "a.owl",
        XML.format(doctype=ELSEWHERE, label="x").encode(),
        "line 2.*unreachable",
    ),
    "a long entity": ("a.owl", XML.format(doctype=LONG, label="&a;").encode(), "line 4.*grow"),
    "a parameter entity": (
        "a.owl",
        XML.format(doctype=PARAMETER, label="x").encode(),
        "line 3.*entity a",
    ),
    "truncated XML": (
        "a.owl",
        XML.format(doctype="", label="x").encode()[:-30],
        "line [67].*(no element found|unclosed)",
    ),
    "Latin-1 in XML": (
        "a.owl",
        XML.format(doctype="", label="Ménière").encode("latin-1"),
        "line 6.*not well-formed",
    ),
    "XML that is no RDF": ("a.xml", b"<drugs><drug/></drugs>", "format .* could not be told"),
    "broken Turtle": ("a.ttl", (TURTLE + "<http://x.org/1> rdfs:label .\n").encode(), "line 2"),
    "truncated Turtle": ("a.ttl", (TURTLE + '<http://x.org/1> rdfs:label "x').encode(), "line 2"),
    "Latin-1 in Turtle": (
        "a.ttl",
        (TURTLE + '\n<http://x.org/1> rdfs:label "Ménière" .\n').encode("latin-1"),
        "line 3.*(?i:utf-8)",
    ),
    "an IRI with a space": (
        "a.nt",
        b"<http://x.org/1> <http://x.org/p> <http://x.org/2> .\n"
        b"<http://x.org/1> <http://x.org/p> <http://x.org/a b> .\n",
        "line 2",
    ),
    "broken JSON-LD": ("a.jsonld", b'{"@id": "http://x.org/1",\n "a" "b"}', "line 2"),
    "truncated functional syntax": (
        "a.ofn",
        (FUNCTIONAL + "SubClassOf(o:a o:b)\nSubClassOf(o:a").encode(),
        "line 4",
    ),
    "Latin-1 in functional syntax": (
        "a.ofn",
        (FUNCTIONAL + "# Ménière\n)").encode("latin-1"),
        "line 3.*UTF-8",
    ),
    "Latin-1 in OBO": ("a.obo", (OBO + "name: Ménière\n").encode("latin-1"), "line 5: not UTF-8"),
    "an OBO term without id": ("a.obo", b"format-version: 1.2\n\n[Term]\nname: x\n", "line 3"),
    "a column too many": ("a.tsv", (SSSOM + "A:1\tskos:exactMatch\tB:1\tx\n").encode(), "line 3"),
}


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("_no_network")
@pytest.mark.parametrize("what", REFUSED)
def test_a_broken_file_is_refused_with_its_place(what: str, tmp_path: Path) -> None:
    name, content, place = REFUSED[what]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"(?s){name.replace('.', '[.]')}.*{place}") as caught:
        ontology.load(tmp_path / name)
    assert "root:" not in str(caught.value)


WHOLE: dict[str, bytes] = {
    "a.owl": XML.format(doctype="", label="gout").encode(),
    "a.ttl": (TURTLE + '<http://x.org/1> rdfs:label "gout" .\n').encode(),
    "a.ofn": (FUNCTIONAL + "Declaration(Class(o:a)))\n").encode(),
    "a.obo": (OBO + "name: gout\n").encode(),
    "a.tsv": (SSSOM + "A:1\tskos:exactMatch\tB:1\n").encode(),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_truncated_gzip_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(WHOLE[name])[:-9])
    for named in (None, {"a.tsv": "sssom", "a.obo": "obo"}.get(name, "owl")):
        with pytest.raises(InputError, match=r"a\.\w+\.gz.*ends too early"):
            ontology.load(path, format=named)


@pytest.mark.parametrize("name", WHOLE)
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(WHOLE[name])
    plain = ontology.load(path)
    assert plain.concepts.num_rows + plain.mappings.num_rows == 1
    path.write_bytes(b"\xef\xbb\xbf" + WHOLE[name].replace(b"\n", b"\r\n"))
    assert ontology.load(path) == plain


def test_an_obo_id_with_spaces_is_kept_whole_and_its_edges_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.obo"
    path.write_text(OBO + "name: gout\nis_a: DOID:2 b ! odd\n\n[Term]\nid: DOID:2 b\nname: odd\n")
    ledger = Ledger()
    known = ontology.load(path, ledger=ledger)
    assert known.concepts["id"].to_pylist() == ["DOID:1", "DOID:2 b"]
    assert known.edges["object"].to_pylist() == ["DOID:2 b"]
    assert ledger.dropped("know") == {}
