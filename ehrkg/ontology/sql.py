"""Set operations on Arrow tables in DuckDB, and per-value functions on their distinct values."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    import duckdb

WORK_MEMORY = "1GB"
"""What DuckDB may hold while it works; beyond this it goes to a temporary folder on disk."""


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One empty in-memory database a process: opening one takes longer than most queries here."""
    import duckdb

    return duckdb.connect(":memory:")


LARGE = 2_000_000
"""Rows from which a query is worked on a bench, within ``WORK_MEMORY``."""


def run(
    query: str, *, parameters: Mapping[str, object] | None = None, **tables: pa.Table
) -> pa.Table:
    """The result of a query over the tables given by name.

    Each call has a cursor of its own, and its tables are seen by no other.
    """
    if sum(table.num_rows for table in tables.values()) >= LARGE:
        with workbench() as bench:
            bench.execute("SET preserve_insertion_order = true")
            return _run(bench, query, parameters, tables)
    with _database().cursor() as cursor:
        _hush(cursor)
        return _run(cursor, query, parameters, tables)


def _run(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    parameters: Mapping[str, object] | None,
    tables: Mapping[str, pa.Table],
) -> pa.Table:
    for name, table in tables.items():
        connection.register(name, table)
    relation = (
        connection.sql(query, params=dict(parameters)) if parameters else connection.sql(query)
    )
    return relation.to_arrow_table()


SMALL = 1 << 24
"""Bytes of a file that is read in memory altogether, which takes less time to set up."""


def _hush(connection: duckdb.DuckDBPyConnection) -> None:
    """A library draws no bars on its caller's terminal; each connection is told anew.

    A notebook without ipywidgets has no bar, and the engine refuses to be told so there.
    """
    shown = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
    if shown == [(True,)]:
        connection.execute("SET enable_progress_bar = false")


@contextmanager
def workbench(file: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database for files that may be larger than memory.

    It lies in a temporary folder: its tables compressed, its sorts and joins spilling there. The
    process holds ``WORK_MEMORY`` of it at most, and the folder is gone afterwards. Rows come in no
    order that a query does not ask for.

    Args:
        file: what will be read; a small one is worked on in memory.

    >>> with workbench() as bench:
    ...     bench.execute("SELECT 1 + 1").fetchone()
    (2,)
    """
    import duckdb

    small = file is not None and file.is_file() and file.stat().st_size < SMALL
    with tempfile.TemporaryDirectory(prefix="ehrkg-") as folder:
        spill = Path(folder) / "spill"
        connection = duckdb.connect(
            ":memory:" if small else str(Path(folder) / "work.duckdb"),
            config={
                "memory_limit": WORK_MEMORY,
                "temp_directory": str(spill),
                "preserve_insertion_order": "false",
            },
        )
        _hush(connection)
        try:
            yield connection
        finally:
            connection.close()


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
