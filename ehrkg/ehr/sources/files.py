"""Tables in files, read by a DuckDB engine of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ehrkg.ehr.sources import Note, RawTable, csv_files, parquet_files
from ehrkg.ehr.sources.finding import Part
from ehrkg.ehr.sources.opening import check_unchanged, state, unpack
from ehrkg.foundation.errors import InputError

if TYPE_CHECKING:
    from ibis.expr.types import Table


class FileTables:
    """Tables in files (see ``finding``) as a ``Source``; close it after use.

    Args:
        files: each table's files, by its name in lower case.
        scratch: a folder for what does not fit into memory.
        threads: the engine's; as many as there are cores by default. The result is the same.
    """

    def __init__(
        self, files: Mapping[str, Sequence[Part]], scratch: str, *, threads: int | None = None
    ) -> None:
        import ibis

        settings = {"temp_directory": scratch} | ({"threads": threads} if threads else {})
        self._files = files
        self._scratch = Path(tempfile.mkdtemp(prefix="unpacked-", dir=scratch))
        self._unpacked: dict[str, Part] = {}
        self._views: set[str] = set()
        self._con = ibis.duckdb.connect(**settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the engine.

        Raises:
            InputError: it ran out of disk or memory.
        """
        import duckdb

        self._con.disconnect()
        if isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException):
            raise InputError(
                "the disk or the memory is full",
                file=self._scratch.parent,
                found=str(error).splitlines()[0],
                todo="make room there, or let TMPDIR name a folder on a larger disk",
            ) from error

    def tables(self) -> Collection[str]:
        """See ``Source.tables``."""
        return self._files.keys()

    def columns(self, table: str) -> Sequence[str]:
        """See ``Source.columns``."""
        return columns_of(self._files[table])

    def open(self, table: str, columns: Collection[str], *, name: str) -> RawTable:
        """See ``Source.open``; a row's number is its line, the header and blank lines not counted.

        Raises:
            InputError: a file is empty, damaged or cut off, has a row that can't be read, or
                changed while it was read.
        """
        parts = [self._on_disk(part) for part in self._files[table]]
        before = [state(part) for part in parts]
        read = [parquet_files.check(p) if p.is_parquet else csv_files.check(p) for p in parts]
        written = {column.strip().lower(): column for each in read for column in each.header}
        wanted = sorted(set(columns) & set(written))
        if all(part.is_parquet for part in parts):
            self._views.add(name)
            selects = " UNION ALL ".join(each.select(wanted) for each in read)
            self._con.raw_sql(f'CREATE TEMP VIEW "{name}" AS {selects}')
        else:
            for place, (part, each) in enumerate(zip(parts, read, strict=True)):
                verb = f'INSERT INTO "{name}"' if place else f'CREATE TEMP TABLE "{name}" AS'
                csv_files.execute(self._con, part, f"{verb} {each.select(wanted)}")
        for part, was in zip(parts, before, strict=True):
            check_unchanged(part, was)
        text = self._con.table(name)
        rows = sum(each.rows for each in read)
        found = text.count().to_pyarrow().as_py()
        if found != rows:
            raise InputError(
                "the file's lines and its rows differ in number",
                file=parts[0].place,
                found=f"{found} rows",
                expected=f"{rows} rows, one a line",
                todo="look for values that run over the end of a line",
            )
        scans = {e.part.source: e.found for e in read if isinstance(e, csv_files.CsvFile)}
        return RawTable(
            table,
            written,
            rows,
            text,
            files={part.source: part.place for part in parts},
            breaks={source: tuple(scan.breaks) for source, scan in scans.items()},
            notes=tuple(
                Note(what, count, f"{source}, line {line}")
                for source, scan in scans.items()
                for what, (count, line) in sorted(scan.notes.items())
            ),
        )

    def _on_disk(self, part: Part) -> Part:
        if part.archive is not None and part.source not in self._unpacked:
            self._unpacked[part.source] = unpack(part, self._scratch)
        return self._unpacked.get(part.source, part)

    def keep(self, rows: Table, name: str) -> Table:
        """See ``Source.keep``."""
        self._con.raw_sql(f'CREATE TEMP TABLE "{name}" AS {self._con.compile(rows)}')
        return self._con.table(name)

    def release(self, name: str) -> None:
        """See ``Source.release``."""
        kind = "VIEW" if name in self._views else "TABLE"
        self._con.raw_sql(f'DROP {kind} IF EXISTS "{name}"')


def columns_of(parts: Sequence[Part]) -> Sequence[str]:
    """The columns of a table in files, as its first file writes them.

    Raises:
        InputError: the file can't be opened.
    """
    first = parts[0]
    return parquet_files.header_of(first) if first.is_parquet else csv_files.header_of(first)
