"""Where raw rows come from. Everything after it is Ibis expressions that any engine runs.

A source holds tables by name and gives each one's rows as text, with the place of every row. It
also owns the engine in which the rows are worked on: what is computed once is held there, and
nothing else in the package speaks an engine's own language.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.expr.types import Table

ROW_COLUMNS = ("source", "row")
"""The columns that tell where a row stands; every raw table has them."""


@dataclass(frozen=True)
class Note:
    """Something that was taken for something else, how often, and where first."""

    what: str
    count: int
    example: str


@dataclass(frozen=True)
class RawTable:
    """A table's rows as the source holds them, nothing normalised.

    Attributes:
        table: the table's name, in lower case.
        columns: the columns' names as written, by their lower-case form.
        rows: how many rows there are.
        text: an Ibis table of the columns that were asked for, under their lower-case names, all
            text (null where nothing stands), with ``source`` (text: the file, relative to the
            folder read, or the table's name in a database) and ``row`` (int64: from 1 in its
            source; (source, row) names a row).
        files: the path of each source that is a file; empty for a database.
        name: what a message calls the table where there are no files.
        breaks: by source, the row after which a line of the file is no row, once a line.
        notes: what a file's bytes were taken for.
    """

    table: str
    columns: Mapping[str, str]
    rows: int
    text: Table
    files: Mapping[str, Path] = field(default_factory=dict)
    name: str = ""
    breaks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def where(self, source: str | None = None, row: int | None = None) -> dict[str, Any]:
        """What an InputError says of a place: ``file`` and, for a file's row, ``line``."""
        if not self.files:
            return {"file": self.name or self.table}
        path = self.files.get(source or "", next(iter(self.files.values())))
        if row is None:
            return {"file": path}
        return {"file": path, "line": row + 1 + bisect_left(self.breaks.get(source or "", ()), row)}


class Source(Protocol):
    """Tables by name, and the engine in which their rows are worked on."""

    def tables(self) -> Collection[str]:
        """The names of the tables that are there, in lower case."""
        ...

    def columns(self, table: str) -> Sequence[str]:
        """A table's columns as written, without reading its rows.

        Raises:
            InputError: the table can't be opened.
        """
        ...

    def open(self, table: str, columns: Collection[str], *, name: str) -> RawTable:
        """A table's rows as text.

        Args:
            table: one of ``tables``.
            columns: lower-case names of the columns wanted; those that the table lacks are left
                out of ``RawTable.text``.
            name: the engine's name for the rows, where it holds them; another one each time.

        Raises:
            InputError: the table can't be read.
        """
        ...

    def keep(self, rows: Table, name: str) -> Table:
        """Compute rows now and hold them in the engine under a name of their own."""
        ...

    def fetch(self, rows: Table) -> Iterator[pa.RecordBatch]:
        """Bring rows here, in their order, a batch at a time."""
        ...

    def release(self, name: str) -> None:
        """Let go of what the engine holds under a name; nothing happens where it holds nothing."""
        ...
