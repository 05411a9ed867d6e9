"""Reading tab-separated files by columns, with errors that name file, line and column."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.csv as pc

from ehrkg.foundation.damage import BROKEN, broken
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.archives import Entry
from ehrkg.ontology.formats.streams import TSV, Rows


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it is gzip (by content, not by name)."""
    with path.open("rb") as probe:
        packed = probe.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rb") if packed else path.open("rb") as handle:
        yield handle  # type: ignore[misc]


def head(path: Path, lines: int = 200) -> list[str]:
    """The first lines of a file, without line ends; [] where it can't be read as text."""
    try:
        with opened(path) as handle:
            found = [handle.readline(65_536) for _ in range(lines)]
    except BROKEN:
        return []
    return [line.decode("utf-8-sig", "replace").rstrip("\r\n") for line in found if line]


def check_packing(path: Path) -> None:
    """Refuse a gzip file that can't be unpacked to its end.

    Raises:
        InputError: it is broken, or ends too early.
    """
    try:
        with opened(path) as handle:
            while handle.read(1 << 20):
                pass
    except BROKEN as error:
        raise broken(path, error) from error


def header(path: Path) -> tuple[list[str], int, list[str]]:
    """The column names, the number of '#' lines before them, and those lines."""
    lines = head(path)
    comments = 0
    while comments < len(lines) and lines[comments].startswith("#"):
        comments += 1
    names = lines[comments].split("\t") if comments < len(lines) else []
    return [name.strip() for name in names], comments, lines[:comments]


def layout(path: Path, required: Sequence[str]) -> Rows:
    """A TSV's columns, for reading it as a stream (see ``streams.fill``).

    Args:
        path: the file, plain or gzip; leading lines with '#' are passed over.
        required: columns that must be there.

    Raises:
        InputError: a column is missing.
    """
    names, comments, _ = header(path)
    _check_columns(path, names, comments, required)
    return Rows(Entry(path), TSV, tuple(names), skip=comments + 1)


def _check_columns(
    path: Path, names: Sequence[str], comments: int, required: Sequence[str]
) -> None:
    missing = [name for name in required if name not in names]
    if missing:
        check_packing(path)
        raise InputError(
            f"lacks the column {', '.join(missing)}",
            file=path,
            line=comments + 1,
            found=", ".join(names)[:200] or "nothing",
            expected=", ".join(required),
            todo="add the column, or name the right format",
        )


def read_tsv(path: Path, required: Sequence[str]) -> pa.Table:
    """A whole TSV as a table of strings; empty cells are "".

    Args:
        path: the file, plain or gzip; leading lines with '#' are passed over.
        required: columns that must be there.

    Raises:
        InputError: a column is missing, a line has another number of columns, the gzip ends too
            early, or a byte is not UTF-8.
    """
    names, comments, _ = header(path)
    _check_columns(path, names, comments, required)
    wrong: list[int] = []

    def note(row: pc.InvalidRow) -> str:
        wrong.append(row.actual_columns)
        return "error"

    try:
        with opened(path) as handle:
            return pc.read_csv(
                pa.PythonFile(handle, mode="r"),
                read_options=pc.ReadOptions(skip_rows=comments, block_size=1 << 24),
                parse_options=pc.ParseOptions(
                    delimiter="\t",
                    quote_char=False,
                    escape_char=False,
                    invalid_row_handler=note,
                ),
                convert_options=pc.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
                ),
            )
    except BROKEN as error:
        raise broken(path, error) from error
    except pa.ArrowInvalid as error:
        raise _bad_line(path, names, comments, error) from error


def _bad_line(path: Path, names: Sequence[str], comments: int, error: Exception) -> InputError:
    """Find the line at fault: only now is it worth reading line by line."""
    with opened(path) as handle:
        for number, line in enumerate(handle, start=1):
            if number <= comments or not line.strip(b"\r\n"):
                continue
            try:
                cells = line.decode("utf-8").rstrip("\r\n").split("\t")
            except UnicodeDecodeError as bad:
                return InputError(
                    "not UTF-8",
                    file=path,
                    line=number,
                    found=repr(line[bad.start : bad.end]),
                    expected="UTF-8",
                    todo="save the file as UTF-8",
                )
            if len(cells) != len(names):
                return InputError(
                    "wrong number of columns",
                    file=path,
                    line=number,
                    found=f"{len(cells)} columns",
                    expected=f"{len(names)} columns",
                    todo="mend the line (a tab inside a cell, or a missing one?)",
                )
    return InputError("could not be read", file=path, found=str(error))


def column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column, or one of empty strings where the table lacks it."""
    if name in table.column_names:
        return table.column(name)
    return pa.chunked_array([pa.repeat(pa.scalar("", pa.string()), table.num_rows)])
