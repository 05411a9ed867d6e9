"""Tables as tab-separated text, by rename."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from ehrkg.foundation.storage import write_atomically


def write_tsv(table: pa.Table, path: Path) -> None:
    """Write a table as TSV: lists joined by "; ", no value an empty cell, no tab in a cell.

    Raises:
        InputError: the file can't be written there.
    """
    lines = ["\t".join(table.column_names)]
    lines += ["\t".join(cell(row[name]) for name in row) for row in table.to_pylist()]
    text = "\n".join(lines) + "\n"
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def cell(value: object) -> str:
    r"""A value as one cell.

    >>> cell(["a", "b"]), cell(None), cell("a\tb")
    ('a; b', '', 'a b')
    """
    if isinstance(value, list):
        return "; ".join(map(str, value))
    text = "" if value is None else str(value)
    return " ".join(text.splitlines()).replace("\t", " ")
