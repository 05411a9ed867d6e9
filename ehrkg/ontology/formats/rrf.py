"""Rich Release Format: pipe-separated files without a header, each line ended by a pipe as well."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.categories import read_yaml
from ehrkg.ontology.formats.archives import Entry, entries
from ehrkg.ontology.formats.streams import PIPES, Rows, fill, first_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb


@cache
def layouts() -> dict[str, tuple[str, ...]]:
    """The columns of each file, by its name without ``.RRF`` (rrf_layouts.yaml)."""
    return {name: tuple(columns) for name, columns in read_yaml("formats/rrf_layouts.yaml").items()}


def find(path: Path) -> dict[str, Entry]:
    """The RRF files of a release (its folder, META/ or rrf/ below it, a zip) or one file.

    >>> find(Path("/nowhere"))
    {}
    """
    if not path.exists():
        return {}
    found: dict[str, Entry] = {}
    for entry in entries(path, "META", "rrf"):
        stem, _, suffix = entry.name.upper().rpartition(".")
        if suffix == "RRF" and stem in layouts():
            found.setdefault(stem, entry)
    if not found and path.is_file():
        kind = _kind_of_names(Entry(path))
        if kind:
            found[kind] = Entry(path)
    return found


def needed(path: Path, found: Mapping[str, Entry], kind: str) -> Entry:
    """The file of a kind.

    Raises:
        InputError: it is not there.
    """
    if kind not in found:
        raise InputError(
            f"there is no {kind}.RRF",
            file=path,
            found=", ".join(sorted(found)) or "no RRF file",
            expected=f"a release with {kind}.RRF",
            todo="give the release's folder (or META/ in it)",
        )
    return found[kind]


def _kind_of_names(entry: Entry) -> str | None:
    """MRCONSO or RXNCONSO, whatever the file is called: told by its first line's cells."""
    lines = first_lines(entry, 1)
    cells = lines[0].split("|") if lines else []
    if len(cells) != len(layouts()["MRCONSO"]) + 1 or len(cells[1]) != 3 or not cells[1].isupper():
        return None
    if cells[0].startswith("C") and cells[0][1:].isdigit():
        return "MRCONSO"
    return "RXNCONSO" if cells[0].isdigit() else None


def load(
    bench: duckdb.DuckDBPyConnection, table: str, entry: Entry, kind: str, wanted: Sequence[str]
) -> int:
    """Put columns of an RRF file into a table of the bench (see ``fill``)."""
    columns = (*layouts()[kind], "after_the_last_pipe")
    return fill(bench, table, Rows(entry, PIPES, columns), wanted)
