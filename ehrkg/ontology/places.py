"""Where knowledge lies and in which format, in one text: ``drugs.tsv`` or ``hetionet=folder``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats import choose

COMPANIONS = ("source.yaml", "predicate_aliases.yaml")
"""Files that are read with any knowledge that they lie beside."""


@dataclass(frozen=True)
class Place:
    """A path and the format that it was said to be in.

    Attributes:
        path: a file, a folder or an archive.
        format: the name of a format, or the path of a declaration; None: found from the content.
    """

    path: Path
    format: str | None = None

    @property
    def label(self) -> str:
        """The format and the path's own name, the same on every machine."""
        return f"{Path(self.format).name}={self.path.name}" if self.format else self.path.name


def place_of(text: str | Path) -> Place:
    """The place that a text names; a path that is there is one, whatever signs are in it.

    >>> place_of("hetionet=data/hetionet")
    Place(path=PosixPath('data/hetionet'), format='hetionet')
    >>> place_of("data/doid.obo").format is None
    True
    """
    written = str(text)
    word, sign, rest = written.partition("=")
    if not sign or not word or not rest or Path(written).exists():
        return Place(Path(written))
    return Place(Path(rest), word)


def files_read(place: Place) -> dict[str, Path]:
    """The files that reading a place reads, by a name that is the same on every machine.

    Raises:
        InputError: there is nothing at the path.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "mine.obo"
    >>> _ = file.write_text("[Term]")
    >>> sorted(files_read(place_of(f"obo={file}")))
    ['mine.obo']
    """
    if not place.path.exists():
        raise InputError(
            "there is nothing here", file=place.path, todo="check the path that you gave"
        )
    inside = [place.path] if place.path.is_file() else sorted(place.path.rglob("*"))
    root = place.path.parent if place.path.is_file() else place.path
    found = {file.relative_to(root).as_posix(): file for file in inside if file.is_file()}
    return found | {file.name: file for file in _beside(place) if file.is_file()}


def _beside(place: Place) -> Iterator[Path]:
    """Declarations and companions that are read too, and the tables beside a declaration."""
    from ehrkg.ontology.declared.catalogue import ENDINGS, candidates

    if place.format is not None and place.format.lower().endswith(ENDINGS):
        yield Path(place.format)
    if place.path.is_file():
        yield from (place.path.with_name(name) for name in COMPANIONS)
        yield from candidates(place.path)
        if place.path.name.lower().endswith(ENDINGS):
            yield from sorted(place.path.parent.iterdir())


def acquaint(texts: Iterable[str | Path]) -> None:
    """Know the sources of these places: a build that goes on reads them no more, but weighs them.

    Raises:
        UsageError, InputError: see ``ehrkg.ontology.load``.

    >>> acquaint([])
    """
    for place in map(place_of, texts):
        choose(place.path, place.format)
