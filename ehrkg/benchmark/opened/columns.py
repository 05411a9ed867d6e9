"""A table that may still lie in its file: columns are read one by one, rows a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ehrkg.foundation.errors import InputError

Rows = npt.NDArray[np.int64]
"""Positions of rows, from 0, in ascending order."""

Part = TypeVar("Part", pa.Table, pa.RecordBatch)

PAGE = 1024
"""Rows that are decoded at once when a table is gone through."""


class Columns:
    """The columns of a table or of a Parquet file.

    Args:
        source: a table, or the path of a Parquet file.
        schema: the columns it must have.
        key: the column by which its rows are sorted; a table that is not, is sorted here.

    Attributes:
        path: the file, or ``None`` for a table in memory.
        names: of its columns, in order.
        num_rows: how many rows it has.

    Raises:
        InputError: the file can't be read, or a column is missing.

    >>> schema = pa.schema([("id", pa.string())])
    >>> Columns(pa.table({"id": ["b", "a"]}), schema, "id")["id"].to_pylist()
    ['a', 'b']
    """

    def __init__(self, source: pa.Table | str | Path, schema: pa.Schema, key: str) -> None:
        self.path: Path | None = None
        self._types = {field.name: field.type for field in schema}
        self._held: dict[str, pa.ChunkedArray] = {}
        if isinstance(source, pa.Table):
            _demand(source.column_names, schema, None)
            ordered = source.sort_by(key)
            self.schema = ordered.schema
            self.names = list(ordered.column_names)
            self.num_rows = int(ordered.num_rows)
            self._held = {name: ordered[name] for name in self.names}
            return
        self.path = Path(source)
        try:
            metadata = pq.read_metadata(self.path)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(
                f"this is no readable Parquet file: {error}",
                file=self.path,
                todo="build it again",
            ) from error
        read = metadata.schema.to_arrow_schema()
        self.schema = pa.schema([(one.name, self._types.get(one.name, one.type)) for one in read])
        self.names = list(self.schema.names)
        self.num_rows = int(metadata.num_rows)
        _demand(self.names, schema, self.path)

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        if name not in self._held:
            self._held[name] = self._typed(pq.read_table(self.path, columns=[name]))[name]
        return self._held[name]

    def table(self) -> pa.Table:
        """All columns."""
        if self.path is not None and len(self._held) < len(self.names):
            return self._typed(pq.read_table(self.path).select(self.names))
        return pa.table({name: self._held[name] for name in self.names})

    def pages(
        self, rows: Rows | None = None, *, names: Sequence[str] | None = None, size: int = PAGE
    ) -> Iterator[pa.RecordBatch]:
        """Go through rows in order without holding more than a row group of the file at once.

        Args:
            rows: which; all for ``None``.
            names: only these columns.
            size: rows a page at most.

        >>> table = Columns(pa.table({"id": ["a", "b", "c"]}), pa.schema([]), "id")
        >>> [page["id"].to_pylist() for page in table.pages(np.array([0, 2]))]
        [['a', 'c']]
        """
        wanted = list(names if names is not None else self.names)
        at = 0
        for page in self._pages(rows, wanted, size):
            if rows is None:
                yield page
            else:
                inside = rows[np.searchsorted(rows, at) : np.searchsorted(rows, at + page.num_rows)]
                if len(inside):
                    yield page.take(pa.array(inside - at))
            at += page.num_rows

    def _pages(
        self, rows: Rows | None, names: Sequence[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        """All pages in order; one of a row group without wanted rows comes without columns."""
        if self.path is None:
            table = pa.table({name: self._held[name] for name in names})
            yield from table.to_batches(max_chunksize=size)
            return
        with pq.ParquetFile(self.path) as file:
            at = 0
            for group in range(file.num_row_groups):
                count = file.metadata.row_group(group).num_rows
                if rows is not None and _none_within(rows, at, at + count):
                    yield pa.RecordBatch.from_arrays([pa.nulls(count)], ["nothing"])
                else:
                    pages = file.iter_batches(size, row_groups=[group], columns=list(names))
                    yield from map(self._typed, pages)
                at += count

    def _typed(self, rows: Part) -> Part:
        """The rows in the types of the schema: other writers have wider ones for texts."""
        wanted = pa.schema([(one.name, self._types.get(one.name, one.type)) for one in rows.schema])
        return rows if rows.schema.equals(wanted) else rows.cast(wanted)


def _none_within(rows: Rows, low: int, high: int) -> bool:
    return bool(np.searchsorted(rows, low) == np.searchsorted(rows, high))


def _demand(names: list[str], schema: pa.Schema, file: Path | None) -> None:
    missing = [name for name in schema.names if name not in names]
    if missing:
        raise InputError(
            f"a column is missing: {', '.join(missing)}",
            file=file,
            column=missing[0],
            found=", ".join(names),
            expected=", ".join(schema.names),
            todo="take the files of one build of this version",
        )
