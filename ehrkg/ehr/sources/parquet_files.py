"""Parquet files, their values read as text by DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ehrkg.ehr.sources.csv_files import pattern, quoted
from ehrkg.ehr.sources.finding import Part
from ehrkg.ehr.sources.opening import binary
from ehrkg.foundation.errors import InputError


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file whose footer was read.

    Attributes:
        part: the file.
        header: its columns' names as written.
        rows: how many rows it holds.
    """

    part: Part
    header: tuple[str, ...]
    rows: int

    def select(self, columns: Sequence[str]) -> str:
        """SQL for columns as text, by their lower-case names, with ``source`` and ``row``."""
        own = {name.strip().lower(): name.replace('"', '""') for name in self.header}
        picked = "".join(
            f', CAST("{own[column]}" AS VARCHAR) AS "{column}"'
            if column in own
            else f', NULL AS "{column}"'
            for column in columns
        )
        return (
            f"SELECT {quoted(self.part.source)} AS source, file_row_number + 1 AS row{picked} "  # noqa: S608
            f"FROM read_parquet({quoted(pattern(self.part.path))}, file_row_number=true)"
        )


def header_of(part: Part) -> tuple[str, ...]:
    """The columns' names as written; no row is read.

    Raises:
        InputError: the file is no Parquet or cut off.
    """
    return check(part).header


def check(part: Part) -> ParquetFile:
    """Read a file's footer.

    Raises:
        InputError: the file is no Parquet or cut off.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with binary(part) as handle:
            footer = pq.read_metadata(handle)
        names = footer.schema.to_arrow_schema().names
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(
            "the Parquet file is cut off or damaged",
            file=part.place,
            found=str(error).splitlines()[0],
            todo="copy or download the file again and compare its checksum",
        ) from error
    return ParquetFile(part, tuple(names), footer.num_rows)
