"""Set operations on Arrow tables in DuckDB, and per-value functions on their distinct values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    import duckdb


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One empty in-memory database a process: opening one takes longer than most queries here."""
    import duckdb

    return duckdb.connect(":memory:")


def run(
    query: str, *, parameters: Mapping[str, object] | None = None, **tables: pa.Table
) -> pa.Table:
    """The result of a query over the tables given by name.

    Each call has a cursor of its own, and its tables are seen by no other.
    """
    with _database().cursor() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        relation = (
            connection.sql(query, params=dict(parameters)) if parameters else connection.sql(query)
        )
        return relation.to_arrow_table()


def mapped(column: pa.ChunkedArray, function: Callable[[str], str]) -> pa.ChunkedArray:
    """Apply a text function to each distinct value once, then to the column.

    >>> mapped(pa.chunked_array([["a", "b", "a"]]), str.upper).to_pylist()
    ['A', 'B', 'A']
    """
    encoded = pc.dictionary_encode(column).unify_dictionaries()
    if encoded.num_chunks == 0:
        return pa.chunked_array([], pa.string())
    values = encoded.chunk(0).dictionary.to_pylist()
    words = pa.array([function(value or "") for value in values], pa.string())
    return pa.chunked_array([words.take(chunk.indices) for chunk in encoded.chunks], pa.string())
