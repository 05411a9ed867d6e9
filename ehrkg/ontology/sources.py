"""The sources of knowledge: who owns each, under which licence, how far it is trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.resources import shipped

_FILES = ("code_system_sources.yaml", "licensed_sources.yaml")
_FIELDS = ("infores", "name", "origin", "licence", "url", "version", "reliability", "text")
DEFAULT_RELIABILITY = 0.5
"""For a source that nobody has described: neither trusted nor distrusted. One statement of it alone
supports nothing; two that agree, of two origins, may."""


@dataclass(frozen=True)
class Source:
    """What a source.yaml says.

    Attributes:
        infores: its identifier ("infores:mondo").
        name: what people call it.
        origin: where its facts were first stated; support counts origins.
        licence: SPDX id.
        url, version: where it is from and which edition.
        reliability: 0 to 1; weighs its edges and settles conflicts of names.
        text: a sentence on what it holds.

    >>> SOURCES["infores:mondo"].licence
    'CC-BY-4.0'
    """

    infores: str
    name: str
    origin: str
    licence: str
    url: str
    version: str
    reliability: float
    text: str


def read_source(path: Path) -> Source:
    """Read one source.yaml.

    Raises:
        InputError: it lacks a field, or is no mapping.
    """
    try:
        row: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError("not YAML", file=path, found=str(error).splitlines()[0]) from error
    return source_of(row, path)


def source_of(row: Any, path: Path) -> Source:
    """What the fields of a source.yaml, or of a declaration's ``source``, say.

    Raises:
        InputError: infores or name is missing, or it is no mapping; ``path`` is named.
    """
    if not isinstance(row, dict):
        raise InputError("no fields", file=path, expected=", ".join(_FIELDS))
    missing = [field for field in ("infores", "name") if not row.get(field)]
    if missing:
        raise InputError(
            f"lacks {', '.join(missing)}",
            file=path,
            expected=", ".join(_FIELDS),
            todo="add the field; ontologies/*/source.yaml are examples",
        )
    try:
        said = row.get("reliability")
        trust = DEFAULT_RELIABILITY if said in (None, "") else float(said)
    except ValueError as error:
        raise InputError(
            "not a number",
            file=path,
            column="reliability",
            found=row["reliability"],
            expected="a number from 0 to 1",
            todo="mend the field",
        ) from error
    return Source(
        infores=str(row["infores"]),
        name=str(row["name"]),
        origin=str(row.get("origin") or row["infores"]),
        licence=str(row.get("licence") or ""),
        url=str(row.get("url") or ""),
        version=str(row.get("version") or ""),
        reliability=trust,
        text=" ".join(str(row.get("text") or "").split()),
    )


_LEARNT: dict[str, Source] = {}


def learn(*sources: Source) -> None:
    """Know further sources from here on: those of the files that a user loads.

    One that ships with the package is not replaced.
    """
    for source in sources:
        if source.infores not in load_sources() and _LEARNT.get(source.infores) != source:
            _LEARNT[source.infores] = source


@cache
def load_sources() -> Mapping[str, Source]:
    """All sources that ship: code systems, licensed ones, ontologies/, and the declared tables."""
    from ehrkg.ontology.declared.catalogue import shipped_sources

    paths = [files("ehrkg.ontology").joinpath(name) for name in _FILES]
    sources = [
        *shipped_sources(),
        *(
            source_of(row, Path(str(path)))
            for path in paths
            for row in yaml.safe_load(path.read_text(encoding="utf-8"))
        ),
    ]
    try:
        folder = shipped("ontologies")
    except UsageError:  # an installation without them can still read a user's own files
        folder = None
    if folder is not None:
        sources += [read_source(file) for file in sorted(folder.glob("*/source.yaml"))]
    return {source.infores: source for source in sources}


class _Sources(Mapping[str, Source]):
    """Reads the folder when first asked, so that importing costs nothing."""

    def __getitem__(self, key: str) -> Source:
        return load_sources().get(key) or _LEARNT[key]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*load_sources(), *_LEARNT}))

    def __len__(self) -> int:
        return len({*load_sources(), *_LEARNT})


SOURCES: Mapping[str, Source] = _Sources()
"""Every known source, by its infores id."""


def reliability(infores: str) -> float:
    """How far a source is trusted, 0 to 1; ``DEFAULT_RELIABILITY`` where nothing is said.

    >>> reliability("infores:icd10cm") > reliability("infores:nobody-knows")
    True
    """
    source = SOURCES.get(infores)
    return source.reliability if source else DEFAULT_RELIABILITY
