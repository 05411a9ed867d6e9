"""Finding a declaration: by its name among those that ship, by its path, or beside a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.declared.declaration import Declaration, read_declaration
from ehrkg.ontology.declared.reading import tables_among, tables_in
from ehrkg.ontology.sources import Source

ENDINGS = (".yaml", ".yml")
BESIDE = "declaration.yaml"
"""The name of a declaration in a folder of tables."""


def _folder() -> Path:
    return Path(str(files("ehrkg.ontology.declared").joinpath("shipped")))


@cache
def declarations() -> Mapping[str, Declaration]:
    """The declarations that ship, by name.

    >>> "hetionet" in declarations()
    True
    """
    found = [read(path) for path in sorted(_folder().glob("*.yaml"))]
    return {item.name: item for item in found}


def shipped_sources() -> list[Source]:
    """The sources that these declarations describe; no two under one infores id."""
    return [source for item in declarations().values() for source in (item.source, *item.sources)]


def read(path: Path) -> Declaration:
    """Read a declaration; what it ``extends`` may be one that ships.

    Raises:
        InputError: see ``read_declaration``.
    """
    return read_declaration(path, folders=(_folder(),))


def named(name: str) -> Declaration | None:
    """The declaration of this name, or at this path; None where there is none.

    Raises:
        InputError: the path is not there, or holds no declaration.
    """
    if not name.lower().endswith(ENDINGS):
        return declarations().get(name)
    path = Path(name)
    if not path.is_file():
        raise InputError("no such declaration", file=path, todo="mend the path")
    return read(path)


def beside(path: Path) -> tuple[Declaration, Path] | None:
    """The user's own declaration for a path, and where its tables are.

    The path may be the declaration itself (its tables lie in its folder), a folder with a
    ``declaration.yaml``, or a table ``drugs.tsv`` with a ``drugs.yaml`` or ``drugs.tsv.yaml``.

    Raises:
        InputError: what was found is no declaration.
    """
    if path.is_file() and path.name.lower().endswith(ENDINGS):
        return read(path), path.parent
    for place in candidates(path):
        if place.is_file() and _declares(place):
            return read(place), path
    return None


def _declares(path: Path) -> bool:
    """Whether a YAML that happens to lie beside a file means to be a declaration."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return re.search(r"^(tables|extends)\s*:", text, re.MULTILINE) is not None


def candidates(path: Path) -> list[Path]:
    """Where a declaration for a folder or a table may lie."""
    if path.is_dir():
        return [path / BESIDE]
    names = (f"{path.name}.yaml", f"{path.name.split('.')[0]}.yaml")
    return [path.with_name(name) for name in names if name != "source.yaml"]


def fitting(path: Path) -> Declaration | None:
    """The shipped declaration that fits a file or folder by its columns; None where none does.

    Of several, the one with most tables there; then the first by name.
    """
    best: tuple[int, Declaration] | None = None
    inside = tables_in(path)
    for name in sorted(declarations()):
        item = declarations()[name]
        count = len(tables_among(inside, item))
        if count and (best is None or count > best[0]):
            best = (count, item)
    return best[1] if best else None
