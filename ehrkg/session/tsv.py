"""Tables as tab-separated text, by rename."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.storage import write_atomically

LIST = "; "
"""Between the values of a list."""


def write_tsv(table: pa.Table, path: Path) -> None:
    """Write a table as TSV: lists joined by "; ", no value an empty cell, no tab in a cell.

    Raises:
        InputError: the file can't be written there.
    """
    columns = [_cells(column) for column in table.columns]
    lines = pc.binary_join_element_wise(*columns, "\t").to_pylist() if len(table) else []
    text = "\n".join(["\t".join(table.column_names), *lines]) + "\n"
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def cell(value: object) -> str:
    r"""A value as one cell.

    >>> cell(["a", "b"]), cell(None), cell("a\tb")
    ('a; b', '', 'a b')
    """
    if isinstance(value, list):
        return LIST.join(map(str, value))
    text = "" if value is None else str(value)
    return " ".join(text.splitlines()).replace("\t", " ")


def _cells(column: pa.ChunkedArray) -> pa.Array:
    """A column as cells; each distinct value is written once, since most stand in many rows."""
    kind = column.type
    if pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
        column = pc.binary_join(column, LIST)
    elif pa.types.is_nested(kind):
        return pa.array([cell(value) for value in column.to_pylist()], pa.string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    told = column.combine_chunks()
    if isinstance(told, pa.ChunkedArray):
        told = told.chunk(0) if told.num_chunks else pa.array([], told.type)
    words = pa.array([cell(value) for value in told.dictionary.to_pylist()], pa.string())
    return pc.fill_null(words.take(told.indices), "")


__all__ = ["cell", "write_tsv"]
