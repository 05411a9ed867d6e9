"""Delimited files as streams that DuckDB reads once: bounded memory, errors with file and line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pc

from ehrkg.foundation.damage import BROKEN, broken
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.archives import Entry

if TYPE_CHECKING:
    import duckdb

BLOCK = 1 << 24
"""Bytes of text in memory at a time."""


@dataclass(frozen=True)
class Dialect:
    """How a file parts its cells.

    Attributes:
        delimiter: one character.
        quoted: whether cells may stand in double quotes.
        escaped: whether a backslash takes the next character as it is (MySQL's exports).
    """

    delimiter: str
    quoted: bool = False
    escaped: bool = False

    def cells(self, line: str) -> list[str]:
        """The cells of one line."""
        if not self.quoted:
            return line.split(self.delimiter)
        escape = "\\" if self.escaped else None
        reader = csv.reader([line], delimiter=self.delimiter, escapechar=escape)
        return next(reader, [])


TSV = Dialect("\t")
PIPES = Dialect("|")
CSV = Dialect(",", quoted=True)


@dataclass(frozen=True)
class Rows:
    """A delimited file and its columns.

    Attributes:
        entry: the file.
        dialect: how cells are parted.
        columns: the names of all cells of a line, in order.
        skip: lines before the first row (a header, comments).
    """

    entry: Entry
    dialect: Dialect
    columns: tuple[str, ...]
    skip: int = 0


def first_lines(entry: Entry, lines: int = 20) -> list[str]:
    """The first lines without line ends; [] where they can't be read."""
    try:
        with entry.opened() as handle:
            found = [handle.readline(65_536) for _ in range(lines)]
    except BROKEN:
        return []
    return [line.decode("utf-8-sig", "replace").rstrip("\r\n") for line in found if line]


def fill(
    bench: duckdb.DuckDBPyConnection,
    table: str,
    rows: Rows,
    wanted: Sequence[str],
    select: str = "SELECT * FROM file",
) -> int:
    """Put a file's columns into a table of the bench, in one pass over its bytes.

    Args:
        bench: a connection of ``workbench()``.
        table: the name of the table to make.
        rows: the file.
        wanted: the columns to read; they are text, and "" where a cell is empty.
        select: what to keep of the view ``file``.

    Returns:
        How many rows the file has.

    Raises:
        InputError: the file is damaged or ends too early, a line has another number of columns, or
            a byte is not UTF-8 (with its line).
    """
    import duckdb

    stream = _Stream(rows, wanted)
    try:
        with stream:
            bench.register("file", stream.reader())
            bench.execute(f'CREATE TABLE "{table}" AS {select}')
    except duckdb.Error as error:
        if stream.failure is None:
            raise
        raise _explain(rows, stream.failure) from error
    except (pa.ArrowInvalid, *BROKEN) as error:  # in the first block, before DuckDB has begun
        raise _explain(rows, error) from error
    finally:
        bench.unregister("file")
    return stream.count


class _Stream:
    """The batches of a file; keeps what went wrong, which DuckDB would only tell as text."""

    def __init__(self, rows: Rows, wanted: Sequence[str]) -> None:
        self.rows, self.wanted = rows, list(wanted)
        self.count = 0
        self.failure: Exception | None = None
        self._open = ExitStack()

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _bytes(self) -> pa.NativeFile:
        entry = self.rows.entry
        if entry.member:
            return pa.PythonFile(self._open.enter_context(entry.opened()), mode="r")
        packed = "gzip" if entry.is_gzip() else None
        return self._open.enter_context(pa.input_stream(str(entry.path), compression=packed))

    def reader(self) -> pa.RecordBatchReader:
        schema = pa.schema([(name, pa.string()) for name in self.wanted])
        if not _has_rows(self.rows):
            return pa.RecordBatchReader.from_batches(schema, iter(()))
        dialect = self.rows.dialect
        batches = pc.open_csv(
            self._bytes(),
            read_options=pc.ReadOptions(
                column_names=list(self.rows.columns), skip_rows=self.rows.skip, block_size=BLOCK
            ),
            parse_options=pc.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char='"' if dialect.quoted else False,
                escape_char="\\" if dialect.escaped else False,
            ),
            convert_options=pc.ConvertOptions(
                include_columns=self.wanted,
                column_types=dict.fromkeys(self.rows.columns, pa.string()),
                strings_can_be_null=False,
            ),
        )
        return pa.RecordBatchReader.from_batches(schema, self._batches(batches))

    def _batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            for batch in batches:
                self.count += batch.num_rows
                yield batch
        except (pa.ArrowInvalid, *BROKEN) as error:
            self.failure = error
            raise


def _has_rows(rows: Rows) -> bool:
    """Whether anything follows the lines that are skipped; a damaged file is an error here."""
    with rows.entry.opened() as handle:
        lines = [handle.readline() for _ in range(rows.skip + 1)]
    return bool(lines[-1])


def _explain(rows: Rows, error: Exception) -> InputError:
    """Find the line at fault: only now is it worth reading line by line."""
    if not isinstance(error, pa.ArrowInvalid):
        return broken(rows.entry.where, error)
    with rows.entry.opened() as handle:
        for number, line in enumerate(io.BufferedReader(handle), start=1):  # type: ignore[type-var]
            if number <= rows.skip or not line.strip(b"\r\n"):
                continue
            found = _fault(rows, number, line)
            if found is not None:
                return found
    return InputError("could not be read", file=rows.entry.where, found=str(error))


def _fault(rows: Rows, number: int, line: bytes) -> InputError | None:
    try:
        cells = rows.dialect.cells(
            line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        )
    except UnicodeDecodeError as bad:
        return InputError(
            "not UTF-8",
            file=rows.entry.where,
            line=number,
            found=repr(line[bad.start : bad.end]),
            expected="UTF-8",
            todo="save the file as UTF-8",
        )
    if len(cells) == len(rows.columns):
        return None
    return InputError(
        "wrong number of columns",
        file=rows.entry.where,
        line=number,
        found=f"{len(cells)} columns",
        expected=f"{len(rows.columns)} columns",
        todo="mend the line (a delimiter inside a cell, or a missing one?)",
    )
