"""Reading the open tables: rows, names as they are compared, and the rules by which to judge."""

from __future__ import annotations

import csv
import gzip
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats import obo
from ehrkg.ontology.schema import Knowledge

Row = dict[str, str]

_WORD = re.compile(r"[^a-z0-9]+")


@cache
def data(name: str) -> Mapping[str, Any]:
    """A YAML file beside this module."""
    text = files("ehrkg.ontology.derive").joinpath(name).read_text(encoding="utf-8")
    found: Mapping[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (both are safe loaders)
    return found


def rules() -> Mapping[str, Any]:
    """rules.yaml."""
    return data("rules.yaml")


def present(path: Path) -> Path:
    """The path, if a file lies there.

    Raises:
        InputError: none does.
    """
    if not path.is_file():
        raise InputError(
            "no such table",
            file=path,
            expected="the folder of open tables",
            todo="name the folder that holds drugcentral/, everycure/, mondo/, maxo/",
        )
    return path


def read_rows(path: Path, delimiter: str = "\t") -> Iterator[Row]:
    """The rows of a table with a header, plain or gzip, without its leading comment lines.

    Raises:
        InputError: the file is not there.
    """
    present(path)
    csv.field_size_limit(sys.maxsize)  # label texts pass the module's default of 128 KiB
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
        lines = (line for line in stream if not line.startswith("#"))
        yield from csv.DictReader(lines, delimiter=delimiter)


def read_obo(path: Path) -> Knowledge:
    """An OBO file as tables.

    Raises:
        InputError: the file is not there, or broken.
    """
    return obo.read(present(path)).knowledge


@cache
def key(name: str) -> str:
    """A name as it is compared: no case, no punctuation, one spelling.

    >>> key("Hyperkalaemia") == key("hyperkalemia"), key("Crohn's disease") == key("Crohn disease")
    (True, True)
    """
    text = name.lower().replace("'s ", " ").replace("'", "")
    for long, short in rules()["spelling"]:
        text = text.replace(long, short)
    return _WORD.sub(" ", text).strip()


def without_salt(name: str) -> str:
    """A drug's name without the salts at its end.

    >>> without_salt("metoprolol succinate"), without_salt("potassium chloride")
    ('metoprolol', 'potassium chloride')
    """
    words = name.lower().split()
    while len(words) > 1 and words[-1].strip("()") in rules()["salts"]:
        words.pop()
    return name.lower() if not words or words[0] in rules()["elements"] else " ".join(words)


def add_names(index: dict[str, str], pairs: Iterable[tuple[str, str]]) -> None:
    """Add (name, id) pairs of another table to an index, where they name one id only."""
    shared: dict[str, set[str]] = defaultdict(set)
    for name, concept in pairs:
        shared[key(name)].add(concept)
    for text in sorted(shared):
        if text and text not in index and len(shared[text]) == 1:
            index[text] = next(iter(shared[text]))
