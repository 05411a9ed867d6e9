"""A user's own text files as passages that can be cited: guidelines, textbooks, notes of one's own.

A folder with a file ``texts.yaml`` and text files beside it::

    # texts.yaml
    source:
      infores: infores:our-guidelines
      name: Guidelines of our hospital
      licence: CC-BY-4.0
    files: "*.txt"                # the default; any glob of this folder
    kind: treatment               # what the passages say; may be left out

A text file may begin with lines that say what it is about, and then a blank line::

    about: MONDO:0005252, DRUGBANK:DB00695
    title: Heart failure
    url: https://example.org/heart-failure

Each paragraph (blank lines stand between) is a passage. Without ``about`` a file is about a concept
of its own, and its sentences count for what they name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from ehrkg.foundation.errors import InputError
from ehrkg.foundation.texts import utf8_text
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.schema import PASSAGES
from ehrkg.ontology.sources import Source, learn, source_of
from ehrkg.ontology.tables import build, knowledge, with_passage_ids

NAME = "texts.yaml"
_WORDS = ("source", "files", "kind")
_HEAD = ("about", "title", "kind", "url")


def detect(path: Path) -> bool:
    """Whether a folder holds a texts.yaml, or the path is one."""
    return (path / NAME).is_file() if path.is_dir() else path.name == NAME


def read(path: Path) -> Parts:
    """Read the paragraphs of the text files in a folder.

    Raises:
        InputError: texts.yaml is broken, says something unknown or lacks its source; no file fits;
            a file is not UTF-8.
    """
    folder = path if path.is_dir() else path.parent
    said = _declaration(folder / NAME)
    source = source_of(said.get("source"), folder / NAME)
    learn(source)
    pattern = str(said.get("files", "*.txt"))
    files = sorted(file for file in folder.glob(pattern) if file.is_file() and file.name != NAME)
    if not files:
        raise InputError(
            "no text file beside it",
            file=folder / NAME,
            found=f"nothing that fits {pattern!r}",
            todo="put the files into this folder, or mend `files`",
        )
    rows: list[dict[str, str]] = []
    concepts: list[tuple[str, str, str, str, str]] = []
    silent: list[dict[str, str]] = []
    for file in files:
        head, paragraphs = _parted(file)
        about = [one.strip() for one in head.get("about", "").split(",") if one.strip()]
        if not about:
            about = [f"TEXTS:{_slug(file.relative_to(folder).with_suffix('').as_posix())}"]
            concepts.append((about[0], head.get("title", ""), "grouping", "", source.infores))
        if not paragraphs:
            silent.append({"file": file.name, "reason": "no_text"})
        for line, text in paragraphs:
            row = _row(head, text, source, str(said.get("kind", "")), f"{file.name}#{line}")
            rows += [{"concept": one, **row} for one in about]
    table = pa.Table.from_pylist(
        rows, schema=pa.schema([item for item in PASSAGES if item.name != "id"])
    )
    parts = Parts(knowledge(concepts=build("concepts", concepts), passages=with_passage_ids(table)))
    parts.rows.append(("nodes", len(concepts), {}))
    parts.rows.append(("passages", len(rows) + len(silent), {"no_text": len(silent)}))
    if silent:
        parts.quarantine["texts"] = pa.Table.from_pylist(silent)
    return parts


def _declaration(file: Path) -> dict[str, Any]:
    try:
        said: Any = yaml.safe_load(utf8_text(file, what="declaration"))
    except yaml.YAMLError as error:
        raise InputError("not YAML", file=file, found=str(error).splitlines()[0]) from error
    unknown = sorted(set(said) - set(_WORDS)) if isinstance(said, dict) else ["no fields"]
    if not unknown and "source" not in said:
        unknown = [*sorted(said), "no source"]
    if unknown:
        raise InputError(
            "not what such a file may say",
            file=file,
            found=", ".join(map(str, unknown)),
            expected=", ".join(_WORDS),
            todo="mend the file",
        )
    return dict(said)


def _parted(file: Path) -> tuple[dict[str, str], list[tuple[int, str]]]:
    """What a file's first lines say, and its paragraphs, each with the line it begins in."""
    lines = utf8_text(file, what="text").splitlines()
    head: dict[str, str] = {}
    at = 0
    while at < len(lines):
        word, colon, value = lines[at].partition(":")
        if not colon or word.strip().lower() not in _HEAD:
            break
        head[word.strip().lower()] = value.strip()
        at += 1
    paragraphs: list[tuple[int, str]] = []
    fresh = True
    for number, line in enumerate(lines[at:], at + 1):
        text = " ".join(line.split())
        if not text:
            fresh = True
        elif fresh:
            paragraphs.append((number, text))
            fresh = False
        else:
            begun, before = paragraphs[-1]
            paragraphs[-1] = (begun, f"{before} {text}")
    return head, paragraphs


def _row(
    head: dict[str, str], text: str, source: Source, kind: str, provenance: str
) -> dict[str, str]:
    return {
        "kind": head.get("kind", kind),
        "title": head.get("title", ""),
        "text": text,
        "source": source.infores,
        "origin": source.origin,
        "licence": source.licence,
        "url": head.get("url", source.url),
        "provenance": provenance,
    }


def _slug(text: str) -> str:
    return "_".join("".join(sign if sign.isalnum() else " " for sign in text.lower()).split())
