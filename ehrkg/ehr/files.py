"""A hospital's CSV files: found by name in any case, checked, and read whole as text by DuckDB.

DuckDB alone would lose rows in silence where a quote is never closed, so each file is first read
through once: its lines are counted, its quotes paired, its compression tested.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from ehrkg.foundation.errors import InputError

if TYPE_CHECKING:
    from ibis.backends.duckdb import Backend
    from ibis.expr.types import Table

SUFFIXES = (".csv", ".csv.gz")
_BLOCK = 1 << 22
_LINE = re.compile(r"CSV Error on Line: (\d+)")


@dataclass(frozen=True)
class TableFile:
    """A table's file.

    Attributes:
        table: the table's name, in lower case.
        path: where it lies.
        source: its path relative to the folder read, with forward slashes.
    """

    table: str
    path: Path
    source: str


@dataclass(frozen=True)
class RawTable:
    """A file's rows as text, unchanged.

    Attributes:
        file: where they come from.
        columns: the header's names as written, by their lower-case form.
        rows: how many there are.
        select: SQL that gives them: ``row`` (from 1, header not counted) and c0, c1, ...
    """

    file: TableFile
    columns: dict[str, str]
    rows: int
    select: str


def find_tables(source: Path, folders: Sequence[str]) -> dict[str, TableFile]:
    """Every CSV file in these folders below ``source``, by table name in lower case.

    Raises:
        InputError: the folder is not there or no folder, or two files hold one table.
    """
    if not source.exists():
        raise InputError(
            "there is no such folder", file=source, todo="give the folder that holds the tables"
        )
    if not source.is_dir():
        raise InputError(
            "this is a file, not a folder", file=source, todo="give the folder that holds it"
        )
    found: dict[str, TableFile] = {}
    for folder in folders:
        for path in sorted((source / folder).glob("*")):
            name = path.name.lower()
            suffix = next((s for s in reversed(SUFFIXES) if name.endswith(s)), None)
            if suffix is None or not path.is_file():
                continue
            table = name.removesuffix(suffix)
            if table in found:
                raise InputError(
                    f"two files hold the table {table!r}",
                    file=path,
                    found=f"{found[table].source} and {path.relative_to(source).as_posix()}",
                    todo="leave one of them in the folder",
                )
            found[table] = TableFile(table, path, path.relative_to(source).as_posix())
    return found


def open_table(file: TableFile) -> RawTable:
    """Check a file through and make it readable by the engine.

    Raises:
        InputError: the file is empty, holds a header only, is no gzip or a truncated one, has a
            quote that is never closed, a row of the wrong width, or is not UTF-8.
    """
    header, lines = _check(file)
    columns: dict[str, str] = {}
    for name in header:
        if name.strip().lower() in columns:
            raise InputError(
                "two columns have the same name",
                file=file.path,
                line=1,
                column=name,
                todo="rename or remove one of them",
            )
        columns[name.strip().lower()] = name
    if lines < 1:
        raise InputError(
            "the table has a header but no rows",
            file=file.path,
            line=1,
            expected="at least one row",
            todo="export the table again",
        )
    fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
    path = re.sub(r"([\[*?])", r"[\1]", str(file.path)).replace("'", "''")
    packed = "gzip" if file.path.name.lower().endswith(".gz") else "none"
    # what stands in a path is no pattern; one thread a file, so row_number() follows its lines
    select = (
        f"SELECT row_number() OVER () AS row, * FROM read_csv('{path}', auto_detect=false, "  # noqa: S608
        f"columns={{{fields}}}, header=true, delim=',', quote='\"', escape='\"', nullstr='', "
        "strict_mode=true, null_padding=false, parallel=false, max_line_size=16777216, "
        f"compression='{packed}')"
    )
    return RawTable(file, columns, lines, select)


def load(con: Backend, raw: RawTable, columns: Sequence[str], name: str) -> Table:
    """The named columns of a file as a table of the engine, all text, with ``row``.

    Args:
        con: the engine.
        raw: the file.
        columns: lower-case names, which become the table's columns.
        name: the engine's name for it.

    Raises:
        InputError: a column is missing, or a row can't be read.
    """
    places = {column: place for place, column in enumerate(raw.columns)}
    for column in columns:
        if column not in places:
            raise InputError(
                f"the table has no column {column!r}",
                file=raw.file.path,
                line=1,
                found=", ".join(raw.columns.values()),
                expected=", ".join(columns),
                todo="export the table with this column, or rename it if it has another name",
            )
    picked = ", ".join(f'c{places[column]} AS "{column}"' for column in columns)
    sql = f"SELECT row, {picked} FROM ({raw.select})"  # noqa: S608 (names are quoted)
    _execute(con, raw, f'CREATE TEMP TABLE "{name}" AS {sql}')
    table = con.table(name)
    rows = table.count().to_pyarrow().as_py()
    if rows != raw.rows:
        raise InputError(
            "the file's lines and its rows differ in number",
            file=raw.file.path,
            found=f"{rows} rows",
            expected=f"{raw.rows} rows, one a line",
            todo="look for values that run over the end of a line",
        )
    return table


def rows_as_json(raw: RawTable, wanted: str) -> str:
    """SQL for whole rows as JSON text: columns ``row`` and ``raw``.

    Args:
        raw: the file.
        wanted: SQL that gives the row numbers, in one column.
    """
    pairs = ", ".join(
        f"'{name.replace(chr(39), chr(39) * 2)}', coalesce(c{place}, '')"
        for place, name in enumerate(raw.columns.values())
    )
    return (
        f"SELECT row, CAST(json_object({pairs}) AS VARCHAR) AS raw "  # noqa: S608 (names are quoted)
        f"FROM ({raw.select}) WHERE row IN ({wanted})"
    )


def _execute(con: Backend, raw: RawTable, sql: str) -> None:
    import duckdb

    try:
        con.raw_sql(sql)
    except duckdb.Error as error:
        text = str(error)
        line = _LINE.search(text)
        width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
        if width:
            raise InputError(
                "a row has the wrong number of values",
                file=raw.file.path,
                line=int(line[1]) if line else None,
                found=width[2],
                expected=width[1],
                todo="mend the line; a value with a comma in it must stand in quotes",
            ) from error
        if "unicode" in text or "utf-8" in text:
            raise InputError(
                "the text is not UTF-8",
                file=raw.file.path,
                line=int(line[1]) if line else None,
                todo="convert the file to UTF-8",
            ) from error
        raise InputError(
            "the row can't be read as CSV",
            file=raw.file.path,
            line=int(line[1]) if line else None,
            found=text.splitlines()[0],
            expected="comma-separated values, quotes doubled inside quotes",
            todo="mend the line",
        ) from error


def _check(file: TableFile) -> tuple[list[str], int]:
    """A file's header, and how many lines of data follow it (blank ones left out)."""
    try:
        with _binary(file.path) as handle:
            header = handle.readline()
            if header.count(b'"') % 2:
                raise _open_quote(file, 1, header)
            lines = sum(_lines_of(file, number, block) for number, block in _blocks(handle))
    except (EOFError, zlib.error) as error:
        raise InputError(
            "the gzip file is cut off or damaged",
            file=file.path,
            found=str(error),
            todo="copy or download the file again and compare its checksum",
        ) from error
    except gzip.BadGzipFile as error:
        raise InputError(
            "this is no gzip file, or its checksum is wrong",
            file=file.path,
            found=str(error),
            expected="gzip, as the name says",
            todo="rename it or download it again",
        ) from error
    except PermissionError as error:
        raise InputError(
            "the file can't be opened", file=file.path, todo="give yourself the right to read it"
        ) from error
    if not header.strip():
        raise InputError(
            "the file is empty",
            file=file.path,
            expected="a header and rows",
            todo="export the table again",
        )
    text = header.decode("utf-8-sig", errors="replace").rstrip("\r\n")
    return next(csv.reader([text])), lines


def _binary(path: Path) -> BinaryIO:
    if path.name.lower().endswith(".gz"):
        return cast("BinaryIO", gzip.open(path, "rb"))
    return path.open("rb")


def _blocks(handle: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines after the header, each with the number of its first line."""
    number, rest = 2, b""
    while block := handle.read(_BLOCK):
        block = rest + block
        whole, newline, rest = block.rpartition(b"\n")
        if newline:
            yield number, whole + newline
        number += whole.count(b"\n") + len(newline)
    if rest:
        yield number, rest


def _lines_of(file: TableFile, first: int, block: bytes) -> int:
    """How many lines of a block are not blank; each must close the quotes it opens."""
    plain = not any(mark in block for mark in (b'"', b"\n\n", b"\n\r\n"))
    if plain and block[:1] not in (b"\n", b"\r"):
        return block.count(b"\n") + (not block.endswith(b"\n"))
    count = 0
    for offset, line in enumerate(block.split(b"\n")):
        if line.count(b'"') % 2:
            raise _open_quote(file, first + offset, line)
        count += bool(line.strip(b"\r"))
    return count


def _open_quote(file: TableFile, line: int, text: bytes = b"") -> InputError:
    return InputError(
        "a quote is opened and not closed on this line",
        file=file.path,
        line=line,
        found=text[:80].decode("utf-8", errors="replace") or None,
        expected='an even number of " on the line',
        todo="close the quote, or double it",
    )
