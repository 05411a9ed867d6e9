"""Tables in files, read by a DuckDB engine of their own.

What the engine holds lies in Parquet files in a scratch folder, not in its memory: a column of few
different words is then a small one, and tables larger than the memory can be read.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ehrkg.ehr.sources import Note, RawTable, csv_files, parquet_files
from ehrkg.ehr.sources.csv_files import pattern, quoted
from ehrkg.ehr.sources.finding import Part
from ehrkg.ehr.sources.opening import check_unchanged, state, unpack
from ehrkg.foundation.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.expr.types import Table


ENGINE_MEMORY, MEMORY_A_THREAD = 1 << 30, 512 << 20
"""Bytes that the engine may use at once, and more of them for each thread, which has buffers of its
own; what it sorts or joins beyond that goes to disk."""

SHARE_OF_MEMORY = 0.4
"""Its share of the machine's memory where that is less."""

_BATCH, _FETCHED = 100_000, "fetched"


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

        settings: dict[str, Any] = {"temp_directory": scratch, "memory_limit": _memory(threads)}
        settings |= {"threads": threads} if threads else {}
        self._files = files
        self._scratch = Path(tempfile.mkdtemp(prefix="unpacked-", dir=scratch))
        self._unpacked: dict[str, Part] = {}
        self._held: dict[str, list[Path]] = {}
        self._files_made = 0
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
        written = {name.strip().lower(): name for part in parts for name in columns_of([part])}
        wanted = sorted(set(columns) & set(written))
        self._held[name] = []
        read: list[csv_files.CsvFile | parquet_files.ParquetFile] = []
        selects = []
        for part in parts:
            checked, rows = self._read(name, part, wanted)
            read.append(checked)
            selects.append(rows)
        self._con.raw_sql(f'CREATE TEMP VIEW "{name}" AS {" UNION ALL ".join(selects)}')
        for part, was in zip(parts, before, strict=True):
            check_unchanged(part, was)
        text = self._con.table(name)
        expected = sum(each.rows for each in read)
        found = text.count().to_pyarrow().as_py()
        if found != expected:
            raise InputError(
                "the file's lines and its rows differ in number",
                file=parts[0].place,
                found=f"{found} rows",
                expected=f"{expected} rows, one a line",
                todo="look for values that run over the end of a line",
            )
        scans = {e.part.source: e.found for e in read if isinstance(e, csv_files.CsvFile)}
        return RawTable(
            table,
            written,
            expected,
            text,
            files={part.source: part.place for part in parts},
            breaks={source: tuple(scan.breaks) for source, scan in scans.items()},
            notes=tuple(
                Note(what, count, f"{source}, line {line}")
                for source, scan in scans.items()
                for what, (count, line) in sorted(scan.notes.items())
            ),
        )

    def _read(
        self, name: str, part: Part, wanted: Sequence[str]
    ) -> tuple[csv_files.CsvFile | parquet_files.ParquetFile, str]:
        """A file that was checked, and the SQL that reads its columns.

        A CSV file is copied while its bytes are checked, as if it were UTF-8; what the check says
        of it goes before what the engine says.
        """
        import duckdb

        if part.is_parquet:
            parquet = parquet_files.check(part)
            return parquet, parquet.select(wanted)
        with ThreadPoolExecutor(1) as beside:
            checking = beside.submit(csv_files.check, part)
            supposed = csv_files.supposed(part)
            try:
                held = self._copied(name, supposed.select(wanted), part)
            except (InputError, duckdb.Error):
                checked = checking.result()
                if checked.found.encoding == supposed.found.encoding:
                    raise
            else:
                checked = checking.result()
                if checked.found.encoding == supposed.found.encoding:
                    return checked, held
        return checked, self._copied(name, checked.select(wanted), part)

    def _on_disk(self, part: Part) -> Part:
        if part.archive is not None and part.source not in self._unpacked:
            self._unpacked[part.source] = unpack(part, self._scratch)
        return self._unpacked.get(part.source, part)

    def keep(self, rows: Table, name: str) -> Table:
        """See ``Source.keep``."""
        self._held[name] = []
        held = self._copied(name, self._con.compile(rows))
        self._con.raw_sql(f'CREATE TEMP VIEW "{name}" AS {held}')
        return self._con.table(name)

    def fetch(self, rows: Table) -> Iterator[pa.RecordBatch]:
        """See ``Source.fetch``; by way of a file, for the engine would hold a whole answer."""
        import pyarrow.parquet as pq

        self.keep(rows, _FETCHED)
        (path,) = self._held[_FETCHED]
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(_BATCH)
        self.release(_FETCHED)

    def release(self, name: str) -> None:
        """See ``Source.release``."""
        self._con.raw_sql(f'DROP VIEW IF EXISTS "{name}"')
        for path in self._held.pop(name, ()):
            path.unlink()

    def _copied(self, name: str, rows: str, part: Part | None = None) -> str:
        """Put rows into a file of the scratch folder, and the SQL that reads it."""
        self._files_made += 1
        path = self._scratch / f"held-{self._files_made}.parquet"
        sql = f"COPY ({rows}) TO {quoted(str(path))} (FORMAT parquet, COMPRESSION lz4_raw)"
        if part is None:
            self._con.raw_sql(sql)
        else:
            csv_files.execute(self._con, part, sql)
        self._held[name].append(path)
        return f"SELECT * FROM read_parquet({quoted(pattern(path))})"  # noqa: S608


def _memory(threads: int | None) -> str:
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    wanted = ENGINE_MEMORY + MEMORY_A_THREAD * (threads or os.cpu_count() or 1)
    return f"{min(wanted, int(whole * SHARE_OF_MEMORY)) >> 20}MiB"


def columns_of(parts: Sequence[Part]) -> Sequence[str]:
    """The columns of a table in files, as its first file writes them.

    Raises:
        InputError: the file can't be opened.
    """
    first = parts[0]
    return parquet_files.header_of(first) if first.is_parquet else csv_files.header_of(first)
