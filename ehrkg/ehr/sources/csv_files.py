"""CSV files: checked through (see ``csv_check``), then read as text by DuckDB."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.ehr.sources.csv_check import Scan, read_header, scan
from ehrkg.ehr.sources.finding import Part
from ehrkg.ehr.sources.opening import binary, reading
from ehrkg.foundation.errors import InputError

if TYPE_CHECKING:
    from ibis.backends.duckdb import Backend

_LINE = re.compile(r"CSV Error on Line: (\d+)")


@dataclass(frozen=True)
class CsvFile:
    """A CSV file that was checked through.

    Attributes:
        part: the file.
        found: what its bytes say.
    """

    part: Part
    found: Scan

    @property
    def header(self) -> tuple[str, ...]:
        """The columns' names as written."""
        return self.found.header

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.found.rows

    def select(self, columns: Sequence[str]) -> str:
        """SQL for columns as text, by their lower-case names, with ``source`` and ``row``."""
        fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(self.header)))
        packed = "gzip" if self.part.is_packed else "none"
        places = {name.strip().lower(): place for place, name in enumerate(self.header)}
        picked = "".join(
            f', c{places[column]} AS "{column}"' if column in places else f', NULL AS "{column}"'
            for column in columns
        )
        parting = "delim='\t', quote='', escape=''" if self.found.tab else _COMMAS
        # one thread a file, so row_number() follows its lines
        return (
            f"SELECT {quoted(self.part.source)} AS source, row_number() OVER () AS row{picked} "  # noqa: S608
            f"FROM read_csv({quoted(pattern(self.part.path))}, auto_detect=false, "
            f"columns={{{fields}}}, header=true, {parting}, nullstr='', strict_mode=true, "
            f"encoding='{self.found.encoding}', null_padding=false, parallel=false, "
            f"max_line_size=16777216, compression='{packed}')"
        )


_COMMAS = "delim=',', quote='\"', escape='\"'"


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
    return supposed(part).header


def supposed(part: Part) -> CsvFile:
    """What a file is taken for before it is read through: UTF-8, with the columns it names.

    Raises:
        InputError: the file is empty or can't be opened, or two columns have one name.
    """
    with reading(part), binary(part) as handle:
        return CsvFile(part, Scan(*read_header(part, handle.readline())))


def check(part: Part) -> CsvFile:
    """Read a file through once.

    Raises:
        InputError: the file is empty, is no gzip or a truncated one, has a quote that is never
            closed, or two encodings.
    """
    with reading(part), binary(part) as handle:
        return CsvFile(part, scan(part, handle))


def execute(con: Backend, part: Part, sql: str) -> None:
    """Run SQL over a CSV file.

    Raises:
        InputError: a row has the wrong width or can't be read.
    """
    import duckdb

    try:
        con.raw_sql(sql)
    except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
        text = str(error)
        line = _LINE.search(text)
        number = int(line[1]) if line else None
        width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
        if width:
            raise InputError(
                "a row has the wrong number of values",
                file=part.place,
                line=number,
                found=width[2],
                expected=width[1],
                todo="mend the line; a value with a comma in it must stand in quotes",
            ) from error
        raise InputError(
            "the row can't be read as CSV",
            file=part.place,
            line=number,
            found=text.splitlines()[0],
            expected="comma-separated values, quotes doubled inside quotes",
            todo="mend the line",
        ) from error
