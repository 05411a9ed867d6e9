"""Tables in files, read by a DuckDB engine of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ehrkg.ehr.sources import RawTable, csv_files, parquet_files
from ehrkg.ehr.sources.finding import Part
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
        self._con = ibis.duckdb.connect(**settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._con.disconnect()

    def tables(self) -> Collection[str]:
        """See ``Source.tables``."""
        return self._files.keys()

    def columns(self, table: str) -> Sequence[str]:
        """See ``Source.columns``."""
        return columns_of(self._files[table])

    def open(self, table: str, columns: Collection[str], *, name: str) -> RawTable:
        """See ``Source.open``; a row's number is its line, the header and blank lines not counted.

        Raises:
            InputError: a file is empty, damaged, cut off, or has a row that can't be read.
        """
        written: dict[str, str] = {}
        rows = 0
        for place, part in enumerate(self._files[table]):
            read = parquet_files.check(part) if part.is_parquet else csv_files.check(part)
            own = {column.strip().lower(): column for column in read.header}
            wanted = [column for column in sorted(columns) if place == 0 or column in written]
            written = written or own
            rows += read.rows
            if place == 0:
                wanted = [column for column in wanted if column in own]
                verb = f'CREATE TEMP TABLE "{name}" AS'
            else:
                verb = f'INSERT INTO "{name}"'
            csv_files.execute(self._con, part.path, f"{verb} {read.select(wanted)}")
        if not rows:
            raise InputError(
                "the table has a header but no rows",
                file=self._files[table][0].path,
                line=1,
                expected="at least one row",
                todo="export the table again",
            )
        text = self._con.table(name)
        found = text.count().to_pyarrow().as_py()
        paths = {part.source: part.path for part in self._files[table]}
        if found != rows:
            raise InputError(
                "the file's lines and its rows differ in number",
                file=next(iter(paths.values())),
                found=f"{found} rows",
                expected=f"{rows} rows, one a line",
                todo="look for values that run over the end of a line",
            )
        return RawTable(table, written, rows, text, paths)

    def keep(self, rows: Table, name: str) -> Table:
        """See ``Source.keep``."""
        self._con.raw_sql(f'CREATE TEMP TABLE "{name}" AS {self._con.compile(rows)}')
        return self._con.table(name)

    def release(self, name: str) -> None:
        """See ``Source.release``."""
        self._con.raw_sql(f'DROP TABLE IF EXISTS "{name}"')


def columns_of(parts: Sequence[Part]) -> Sequence[str]:
    """The columns of a table in files, as its first file writes them.

    Raises:
        InputError: the file can't be opened.
    """
    first = parts[0]
    return parquet_files.header_of(first) if first.is_parquet else csv_files.header_of(first)
