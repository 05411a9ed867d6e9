"""One way to write a table, one way to name its content.

Files are written beside their place and renamed into it, so a reader never meets half a file.
Parquet goes through one writer with fixed settings: in one environment the same rows in the same
order give the same bytes. Across versions of the writer, ``content_hash`` is the fingerprint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ehrkg.foundation.errors import InputError

_NOTHING, _TAB, _LINE = (pa.scalar(text, pa.large_string()) for text in ("", "\t", "\n"))
_HASHED_ROWS = 16_384
"""Rows whose text is put together at a time."""

ROW_GROUP = 131_072
"""Rows a Parquet row group: small enough to stream, large enough to compress."""


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it into place.

    Raises:
        InputError: the file can't be written there; nothing is left behind.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        temporary.replace(path)
    except OSError as error:
        if temporary.is_file():
            temporary.unlink()
        raise InputError(
            f"this file can't be written: {error.strerror or error}",
            file=path,
            todo="name a place that you may write to, on a disk with room",
        ) from error


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet, by rename, with settings that give the same bytes each time.

    Args:
        table: the rows, already in their final order (every table of a build is sorted by its key).
        path: where the file shall lie.
    """
    plain = table.replace_schema_metadata(None).combine_chunks()
    stream_parquet([plain], plain.schema, path)


def stream_parquet(tables: Iterable[pa.Table], schema: pa.Schema, path: Path) -> None:
    """Write tables of one schema, one after another, as one Parquet file, by rename.

    The bytes do not depend on how the rows are cut into tables.

    Args:
        tables: the rows, already in their final order.
        schema: of them all.
        path: where the file shall lie.
    """

    def fill(temporary: Path) -> None:
        with pq.ParquetWriter(temporary, schema.remove_metadata(), **_SETTINGS) as writer:
            for group in _row_groups(tables, schema):
                writer.write_table(group, row_group_size=ROW_GROUP)

    write_atomically(path, fill)


_SETTINGS: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "use_dictionary": True,
    "write_statistics": True,
    "store_schema": True,
    "data_page_version": "1.0",
    "version": "2.6",
}


def _row_groups(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """The same rows in tables of ROW_GROUP rows; the last may be shorter."""
    held = schema.empty_table().replace_schema_metadata(None)
    none = True
    for table in tables:
        held = pa.concat_tables([held, table.replace_schema_metadata(None)])
        while held.num_rows >= ROW_GROUP:
            yield held.slice(0, ROW_GROUP).combine_chunks()
            held, none = held.slice(ROW_GROUP), False
    if held.num_rows or none:
        yield held.combine_chunks()


def read_parquet(path: Path) -> pa.Table:
    """Read a Parquet file whole."""
    return pq.read_table(path)


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _canonical(value: object) -> str:
    """A value as text that does not depend on the writer, the engine or the machine."""
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(round(value, 9) + 0.0)
    if isinstance(value, list | tuple):  # each item is closed, so no list reads like another
        items = (_canonical(item).replace(",", "\\,") for item in value)
        return "[" + "".join(f"{item}," for item in items) + "]"
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def content_hash(table: pa.Table, *, columns: Iterable[str] | None = None) -> str:
    """SHA-256 over a table's rows as sorted canonical text; row order and chunking do not matter.

    Args:
        table: any table; columns are taken in alphabetical order.
        columns: only these columns.

    >>> a = pa.table({"x": [1, 2], "y": ["b", None]})
    >>> content_hash(a) == content_hash(a.take([1, 0])) == content_hash(a.select(["y", "x"]))
    True
    >>> content_hash(a) == content_hash(pa.table({"x": [1, 2], "y": ["b", ""]}))
    False
    >>> content_hash(pa.table({"x": [[""]]})) == content_hash(
    ...     pa.table({"x": pa.array([[]], pa.list_(pa.string()))}))
    False
    """
    names = sorted(columns if columns is not None else table.column_names)
    digest = hashlib.sha256("\t".join(names).encode())
    texts = [_canonical_column(table.column(name)) for name in names]
    places = np.lexsort([_ranks(text) for text in reversed(texts)]) if texts else np.empty(0)
    for start in range(0, len(places), _HASHED_ROWS):
        rows = pa.array(places[start : start + _HASHED_ROWS])
        parts = [text.dictionary.take(text.indices.take(rows)) for text in texts]
        lines = pc.binary_join_element_wise(*parts, _TAB)
        lines = pc.binary_join_element_wise(_NOTHING, lines, _LINE)
        digest.update(lines.buffers()[2] or b"")
    return digest.hexdigest()


def _canonical_column(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column's canonical texts; each value is written once, however often it stands there."""
    values = column.combine_chunks()
    if isinstance(values, pa.DictionaryArray):
        values = values.cast(values.type.value_type)
    if pa.types.is_nested(values.type):
        return pa.array(_canonical_nested(values), pa.large_string()).dictionary_encode()
    coded = values.dictionary_encode(null_encoding="encode")
    texts = [_canonical(value) for value in coded.dictionary.to_pylist()]
    written = pa.array(texts, pa.large_string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(written.indices.take(coded.indices), written.dictionary)


def _canonical_nested(values: pa.Array) -> list[str]:
    """The canonical text of each list; lists of plain values are mostly the same few."""
    if not pa.types.is_list(values.type) or pa.types.is_nested(values.type.value_type):
        return [_canonical(value) for value in values.to_pylist()]
    kept: dict[tuple[object, ...] | None, str] = {}
    keys = (None if value is None else tuple(value) for value in values.to_pylist())
    return [kept.get(key) or kept.setdefault(key, _canonical(key)) for key in keys]


def _ranks(texts: pa.DictionaryArray) -> npt.NDArray[np.int64]:
    """The place of each text in the alphabet of its column's texts."""
    order = pc.sort_indices(texts.dictionary).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    rows: npt.NDArray[np.int64] = place[texts.indices.to_numpy()]
    return rows
