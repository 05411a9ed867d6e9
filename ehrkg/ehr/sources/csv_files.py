"""CSV files: checked through, then read as text by DuckDB.

DuckDB alone would lose rows in silence where a quote is never closed, so each file is first read
through once: its lines are counted, its quotes paired, its compression tested.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from ehrkg.ehr.sources.finding import Part
from ehrkg.foundation.errors import InputError

if TYPE_CHECKING:
    from ibis.backends.duckdb import Backend

_BLOCK = 1 << 22
_LINE = re.compile(r"CSV Error on Line: (\d+)")


@dataclass(frozen=True)
class CsvFile:
    """A CSV file that was checked through.

    Attributes:
        part: the file.
        header: its columns' names as written.
        rows: how many rows follow.
    """

    part: Part
    header: tuple[str, ...]
    rows: int

    def select(self, columns: Sequence[str]) -> str:
        """SQL for columns as text, by their lower-case names, with ``source`` and ``row``."""
        fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.header)))
        packed = "gzip" if self.part.is_packed else "none"
        places = {name.strip().lower(): place for place, name in enumerate(self.header)}
        picked = "".join(
            f', c{places[column]} AS "{column}"' if column in places else f', NULL AS "{column}"'
            for column in columns
        )
        # one thread a file, so row_number() follows its lines
        return (
            f"SELECT {quoted(self.part.source)} AS source, row_number() OVER () AS row{picked} "  # noqa: S608
            f"FROM read_csv({quoted(pattern(self.part.path))}, auto_detect=false, "
            f"columns={{{fields}}}, header=true, delim=',', quote='\"', escape='\"', nullstr='', "
            "strict_mode=true, null_padding=false, parallel=false, max_line_size=16777216, "
            f"compression='{packed}')"
        )


def quoted(text: str) -> str:
    """A text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def pattern(path: Path) -> str:
    """A path in which nothing is a pattern of DuckDB's."""
    return re.sub(r"([\[*?])", r"[\1]", str(path))


def header_of(part: Part) -> tuple[str, ...]:
    """The columns' names as written; no row is read.

    Raises:
        InputError: the file is empty or can't be opened, or two columns have one name.
    """
    with _reading(part), _binary(part) as handle:
        return _header(part, handle.readline())


def check(part: Part) -> CsvFile:
    """Read a file through once.

    Raises:
        InputError: the file is empty, is no gzip or a truncated one, or has a quote that is never
            closed.
    """
    with _reading(part), _binary(part) as handle:
        first = handle.readline()
        if first.count(b'"') % 2:
            raise _open_quote(part, 1, first)
        rows = sum(_lines_of(part, number, block) for number, block in _blocks(handle))
    return CsvFile(part, _header(part, first), rows)


def execute(con: Backend, file: Path, sql: str) -> None:
    """Run SQL over a CSV file.

    Raises:
        InputError: a row has the wrong width, is not UTF-8, or can't be read.
    """
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
                file=file,
                line=int(line[1]) if line else None,
                found=width[2],
                expected=width[1],
                todo="mend the line; a value with a comma in it must stand in quotes",
            ) from error
        if "unicode" in text or "utf-8" in text:
            raise InputError(
                "the text is not UTF-8",
                file=file,
                line=int(line[1]) if line else None,
                todo="convert the file to UTF-8",
            ) from error
        raise InputError(
            "the row can't be read as CSV",
            file=file,
            line=int(line[1]) if line else None,
            found=text.splitlines()[0],
            expected="comma-separated values, quotes doubled inside quotes",
            todo="mend the line",
        ) from error


def _header(part: Part, line: bytes) -> tuple[str, ...]:
    if not line.strip():
        raise InputError(
            "the file is empty",
            file=part.path,
            expected="a header and rows",
            todo="export the table again",
        )
    text = line.decode("utf-8-sig", errors="replace").rstrip("\r\n")
    names = next(csv.reader([text]))
    seen: set[str] = set()
    for name in names:
        if name.strip().lower() in seen:
            raise InputError(
                "two columns have the same name",
                file=part.path,
                line=1,
                column=name,
                todo="rename or remove one of them",
            )
        seen.add(name.strip().lower())
    return tuple(names)


@contextmanager
def _reading(part: Part) -> Iterator[None]:
    """Turn what a damaged file raises into an error with a way out."""
    try:
        yield
    except (EOFError, zlib.error) as error:
        raise InputError(
            "the gzip file is cut off or damaged",
            file=part.path,
            found=str(error),
            todo="copy or download the file again and compare its checksum",
        ) from error
    except gzip.BadGzipFile as error:
        raise InputError(
            "this is no gzip file, or its checksum is wrong",
            file=part.path,
            found=str(error),
            expected="gzip, as the name says",
            todo="rename it or download it again",
        ) from error
    except PermissionError as error:
        raise InputError(
            "the file can't be opened", file=part.path, todo="give yourself the right to read it"
        ) from error


def _binary(part: Part) -> BinaryIO:
    if part.is_packed:
        return cast("BinaryIO", gzip.open(part.path, "rb"))
    return part.path.open("rb")


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


def _lines_of(part: Part, first: int, block: bytes) -> int:
    """How many lines of a block are not blank; each must close the quotes it opens."""
    plain = not any(mark in block for mark in (b'"', b"\n\n", b"\n\r\n"))
    if plain and block[:1] not in (b"\n", b"\r"):
        return block.count(b"\n") + (not block.endswith(b"\n"))
    count = 0
    for offset, line in enumerate(block.split(b"\n")):
        if line.count(b'"') % 2:
            raise _open_quote(part, first + offset, line)
        count += bool(line.strip(b"\r"))
    return count


def _open_quote(part: Part, line: int, text: bytes = b"") -> InputError:
    return InputError(
        "a quote is opened and not closed on this line",
        file=part.path,
        line=line,
        found=text[:80].decode("utf-8", errors="replace") or None,
        expected='an even number of " on the line',
        todo="close the quote, or double it",
    )
