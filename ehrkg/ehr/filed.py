"""Tables too large to hold: they lie in a file until somebody asks for them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import pyarrow as pa

IN_MEMORY = 1_000_000
"""Rows; a table of more is filed."""

_BATCH = 131_072


class Filed:
    """A table in a temporary file, which goes when nobody holds the table any more.

    Rows are written on a thread of their own, a piece behind those that are being made.

    Args:
        schema: the table's columns.
    """

    def __init__(self, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq

        self._folder = tempfile.TemporaryDirectory(prefix="ehrkg-rows-")
        self.schema, self.rows = schema, 0
        self._path = Path(self._folder.name) / "rows.parquet"
        self._writer = pq.ParquetWriter(self._path, schema, compression="lz4")
        self._beside = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    def add(self, table: pa.Table) -> None:
        """Append rows, before anybody reads any.

        Raises:
            OSError: the rows before these could not be written.
        """
        if self._last is not None:
            self._last.result()
        self._last = self._beside.submit(self._writer.write_table, table, _BATCH)
        self.rows += table.num_rows

    def done(self) -> None:
        """Nothing follows: from now on it can be read.

        Raises:
            OSError: the last rows could not be written.
        """
        self._beside.shutdown()
        if self._last is not None:
            self._last.result()
            self._last = None
        self._writer.close()

    @cached_property
    def table(self) -> pa.Table:
        """All of it, in memory from now on."""
        import pyarrow.parquet as pq

        return pq.read_table(self._path).cast(self.schema)

    def scan(self, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns in pieces, in order; of text those as dictionaries that are ``coded``."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self._path, read_dictionary=list(coded)) as file:
            for batch in file.iter_batches(_BATCH, columns=list(columns)):
                yield pa.Table.from_batches([batch]).select(columns)


def rows_of(pieces: Iterable[pa.Table], schema: pa.Schema, *, filed: bool) -> pa.Table | Filed:
    """Pieces as one table: filed, or in memory."""
    if not filed:
        return pa.concat_tables([schema.empty_table(), *pieces])
    whole = Filed(schema)
    for piece in pieces:
        whole.add(piece)
    whole.done()
    return whole


def scan(
    table: pa.Table | Filed, columns: Sequence[str], coded: Sequence[str] = ()
) -> Iterator[pa.Table]:
    """A table's rows in pieces and in order, never all in memory if they are filed.

    Args:
        table: the rows.
        columns: which columns.
        coded: those of text that are given as dictionaries.
    """
    if isinstance(table, Filed):
        yield from table.scan(columns, coded)
        return
    for batch in table.select(columns).to_batches(max_chunksize=_BATCH):
        piece = pa.Table.from_batches([batch])
        for name in coded:
            at = piece.column_names.index(name)
            piece = piece.set_column(at, name, piece[name].dictionary_encode())
        yield piece
