"""MedQuAD: questions and answers of NIH and CDC websites as passages that can be cited."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ehrkg.foundation.damage import BROKEN, broken, parsing_xml
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.categories import read_yaml
from ehrkg.ontology.formats.archives import check_name, is_tar
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.schema import PASSAGES
from ehrkg.ontology.sources import SOURCES
from ehrkg.ontology.tables import build, knowledge, with_passage_ids

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

INFORES = "infores:medquad"
LARGEST = 1 << 24
"""Bytes of a document; the largest real one has a hundredth of it."""
_TAGS = {"doctitle-focus": "focus", "pair": "qapair"}
"""A handful of documents have an older layout: these words for those, and small letters."""
_ROOTS = ("document", "doc", "diseasefile")


@dataclass
class _Found:
    concepts: list[tuple[str, str, str, str, str]] = field(default_factory=list)
    synonyms: list[tuple[str, str, str, str]] = field(default_factory=list)
    passages: list[dict[str, str]] = field(default_factory=list)
    silent: list[dict[str, str]] = field(default_factory=list)


@cache
def _about() -> dict[str, Any]:
    about: dict[str, Any] = read_yaml("formats/medquad.yaml")
    return about


def detect(path: Path) -> bool:
    """Whether the first XML document at a path, in a tar or below a folder, is one of MedQuAD's."""
    if path.is_file() and not (is_tar(path) or path.suffix.lower() == ".xml"):
        return False
    try:
        first = next(islice(_documents(path), 1), None)
    except InputError:
        return False
    return first is not None and b"<qapairs" in first[1][:16_384].lower()


def read(path: Path) -> Parts:
    """Read the documents in a tar archive, below a folder, or in one file.

    Each answer is a passage about every UMLS CUI of its document (one row each), about a concept of
    its own where it has none. The document's focus names the concept where there is one: of several
    CUIs, nobody knows which it names.

    Raises:
        InputError: a document is no XML or declares entities; the archive is broken or holds a path
            that climbs out of it; nothing in it is MedQuAD's.
    """
    found = _Found()
    documents = 0
    for name, content in _documents(path):
        root = _parsed(path, name, content)
        if root is not None:
            documents += 1
            _take(found, name, root)
    if not documents:
        raise InputError(
            "holds no document of MedQuAD",
            file=path,
            expected="XML documents with Focus and QAPairs",
            todo="name the right path or format",
        )
    rows = pa.Table.from_pylist(
        found.passages, schema=pa.schema([item for item in PASSAGES if item.name != "id"])
    )
    parts = Parts(
        knowledge(
            concepts=build("concepts", found.concepts),
            synonyms=build("synonyms", found.synonyms),
            passages=with_passage_ids(rows),
        )
    )
    count = len(found.passages) + len(found.silent)
    parts.rows.append(("nodes", len(found.concepts), {}))
    parts.rows.append(("passages", count, {"no_answer": len(found.silent)}))
    if found.silent:
        parts.quarantine["medquad"] = pa.Table.from_pylist(found.silent)
    return parts


def _documents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the XML documents; a tar is read once, from its beginning to its end."""
    if is_tar(path):
        yield from _in_tar(path)
        return
    if path.is_file():
        yield path.name, path.read_bytes()
        return
    for file in chain(sorted(path.glob("*.xml")), sorted(path.glob("*/*.xml"))):
        yield file.relative_to(path).as_posix(), file.read_bytes()


def _in_tar(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(path, "r|*") as archive:
            for info in archive:
                check_name(path, info.name)
                if not (info.isfile() and info.name.lower().endswith(".xml")):
                    continue
                if info.size > LARGEST:
                    raise InputError(
                        "a document is too large",
                        file=f"{path}!{info.name}",
                        found=f"{info.size:,} bytes",
                        expected=f"at most {LARGEST:,}",
                        todo="use the archive as its owner ships it",
                    )
                content = archive.extractfile(info)
                if content is not None:
                    yield info.name, content.read()
    except BROKEN as error:
        raise broken(path, error) from error


def _parsed(path: Path, name: str, content: bytes) -> Element | None:
    """The root of a document; None where it is another kind of XML."""
    from defusedxml.ElementTree import fromstring

    with parsing_xml(f"{path}!{name}"):
        root: Element = fromstring(content, forbid_dtd=True)
    return root if root.tag.lower() in _ROOTS else None


def _take(found: _Found, name: str, root: Element) -> None:
    """Put one document's focus and answers into what was found."""
    focus = next(_texts(root, "focus"), "")
    cuis = sorted(set(_texts(root, "cui")))
    about = [f"UMLS:{cui}" for cui in cuis] or [f"MEDQUAD:{_slug(focus)}"]
    kind = _kind(root)
    named = focus if len(about) == 1 else ""
    found.concepts += [(curie, named, kind, "", INFORES) for curie in about]
    if named:
        found.synonyms += [(about[0], text, "related", INFORES) for text in _texts(root, "synonym")]
    owner = root.get("source") or root.get("corpus") or ""
    for pair in _elements(root, "qapair"):
        question = next(_elements(pair, "question"), None)
        answer = next(_texts(pair, "answer"), "")
        asked = question.get("qtype", "") if question is not None else ""
        row = {
            "kind": _about()["kinds"].get(asked, asked.replace(" ", "_")),
            "title": next(_texts(pair, "question"), ""),
            "text": answer,
            "source": INFORES,
            "origin": owner or SOURCES[INFORES].origin,
            "licence": SOURCES[INFORES].licence,
            "url": root.get("url", ""),
            "provenance": f"{name}#{pair.get('pid', '')}",
        }
        if answer:
            found.passages += [{"concept": curie, **row} for curie in about]
        else:
            found.silent.append({"concept": "|".join(about), **row, "reason": "no_answer"})


def _kind(root: Element) -> str:
    types = set(_texts(root, "semantictype"))
    if types and types <= set(_about()["findings"]):
        return "finding"
    return "disease" if types else "grouping"


def _elements(root: Element, tag: str) -> Iterator[Element]:
    for element in root.iter():
        word = element.tag.lower()
        if _TAGS.get(word, word) == tag:
            yield element


def _texts(root: Element, tag: str) -> Iterator[str]:
    """The texts of all elements of a tag, blanks run together, without empty ones."""
    for element in _elements(root, tag):
        text = " ".join((element.text or "").split())
        if text:
            yield text


def _slug(text: str) -> str:
    return "_".join("".join(c if c.isalnum() else " " for c in text.lower()).split())
