"""Tables as sets of rows: casting to a schema, folding duplicates, canonical text, fingerprints."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import InputError, UsageError

_LARGEST = int(np.iinfo(np.int64).max)

_HASH_PIECE = 50_000
"""Rows joined into one string while hashing: far below Arrow's 2 GB for a string."""


def conform(table: pa.Table, schema: pa.Schema, what: str, *, also: Sequence[str] = ()) -> pa.Table:
    """The table's columns in the schema's order and types; columns that are not there stay away.

    Args:
        table: any columns of the schema and of ``also``.
        schema: names and types.
        what: the label or type, for messages.
        also: further text columns that come first and must be there.

    Raises:
        UsageError: a column that the schema does not know, or one of ``also`` is missing.
        InputError: a value does not fit the column's type.
    """
    unknown = [name for name in table.column_names if name not in schema.names + list(also)]
    if unknown:
        raise UsageError(
            f"{what} has no property {unknown[0]!r}",
            todo=f"use some of {', '.join(schema.names)}",
        )
    missing = [name for name in also if name not in table.column_names]
    if missing:
        raise UsageError(f"the table for {what} lacks the column {missing[0]!r}")
    types = {name: pa.string() for name in also} | {field.name: field.type for field in schema}
    names = [*also, *(name for name in schema.names if name in table.column_names)]
    columns = []
    for name in names:
        column = table.column(name)
        try:
            columns.append(column if column.type == types[name] else column.cast(types[name]))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise InputError(
                f"a value of {what} does not fit: {error}",
                column=name,
                found=str(column.type),
                expected=str(types[name]),
            ) from error
    return pa.table(columns, names=names).combine_chunks()


def complete(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with every column of the schema, in its order; nulls where a column was missing."""
    return pa.table(
        [
            table.column(field.name).cast(field.type)
            if field.name in table.column_names
            else pa.nulls(table.num_rows, field.type)
            for field in schema
        ],
        schema=schema,
    )


def canonical(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    r"""A column as text: equal values, equal texts; different values, different texts.

    The forms are those of ``foundation.storage.content_hash``: every item of a list is closed by a
    comma, so that no list reads like another.

    >>> canonical(pa.array([["a", "b"], [""], [], None])).to_pylist()
    ['[a,b,]', '[,]', '[]', '\\N']
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # combining no chunks at all gives a table's column
        column = pa.concat_arrays(column.chunks) if column.chunks else pa.nulls(0, column.type)
    return pc.fill_null(_texts(column), "\\N")


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        for raw, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n")):
            column = pc.replace_substring(column, raw, escaped)
        return column
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, "true", "false")
    if pa.types.is_floating(column.type):
        encoded = pc.dictionary_encode(column)
        words = [
            None if x is None else repr(round(x, 9) + 0.0) for x in encoded.dictionary.to_pylist()
        ]
        return pa.array(words, pa.string()).take(encoded.indices)
    if pa.types.is_list(column.type):
        items = pc.replace_substring(canonical(column.flatten()), ",", "\\,")
        items = pc.binary_join_element_wise(items, ",", "")
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), items), "")
        text = pc.binary_join_element_wise("[", joined, "]", "")
        return pc.if_else(pc.is_null(column), pa.scalar(None, pa.string()), text)
    return column.cast(pa.string())


def row_texts(table: pa.Table, columns: Iterable[str]) -> pa.Array:
    """One unambiguous text a row over the named columns: equal texts, equal rows."""
    parts = [canonical(table.column(name)) for name in columns]
    if not parts:
        return pa.array([""] * table.num_rows, pa.string())
    return pc.binary_join_element_wise(*parts, "\t")


def fold(table: pa.Table, key: Sequence[str], what: str) -> pa.Table:
    """The table without repeated rows.

    Raises:
        InputError: a key is null, or two rows share one and differ elsewhere.
    """
    for name in key:
        if table.column(name).null_count:
            raise InputError(f"{what}: a row without {name}", column=name, expected="no nulls")
    if _all_different(table, key):
        return table
    keys = row_texts(table, key)
    if len(pc.unique(keys)) == table.num_rows:
        return table
    table = table.take(_firsts(row_texts(table, table.column_names)))
    keys = row_texts(table, key)
    firsts = _firsts(keys)
    if len(firsts) != table.num_rows:
        repeated = np.setdiff1d(np.arange(table.num_rows), firsts)[0]
        where = {name: table.column(name)[int(repeated)].as_py() for name in key}
        raise InputError(
            f"{what}: two rows share a key and differ elsewhere",
            found=where,
            expected=f"one row for each ({', '.join(key)})",
        )
    return table


def _all_different(table: pa.Table, key: Sequence[str]) -> bool:
    """Whether no two rows share a key; False too where numbers are too small to tell."""
    if not table.num_rows:
        return True
    numbers, room = np.zeros(table.num_rows, np.int64), 1
    for name in key:
        column = table.column(name)
        if not pa.types.is_string(column.type):
            return False
        coded = pc.dictionary_encode(column.combine_chunks())
        if isinstance(coded, pa.ChunkedArray):
            coded = coded.combine_chunks()
        many = len(coded.dictionary)
        room *= many
        if room > _LARGEST:
            return False
        numbers = numbers * many + coded.indices.to_numpy()
    numbers.sort()
    return bool((numbers[1:] != numbers[:-1]).all())


def _firsts(texts: pa.Array) -> npt.NDArray[np.int64]:
    codes = pc.dictionary_encode(texts).indices.to_numpy(zero_copy_only=False)
    firsts: npt.NDArray[np.int64] = np.sort(np.unique(codes, return_index=True)[1])
    return firsts


def content_hash(table: pa.Table) -> str:
    r"""A table's fingerprint: ``foundation.storage.content_hash``, computed by whole columns.

    >>> from ehrkg.foundation import storage
    >>> table = pa.table({"x": [2.5, None, 1.0], "y": [[], [""], ["a,", None]],
    ...                   "z": ["t\t", "", "é"]})
    >>> content_hash(table) == storage.content_hash(table)
    True
    """
    names = sorted(table.column_names)
    digest = hashlib.sha256("\t".join(names).encode())
    texts = pa.table([canonical(table.column(name)) for name in names], names=names)
    order = pc.sort_indices(texts, sort_keys=[(name, "ascending") for name in names])
    rows = pc.binary_join_element_wise(*[texts.column(name) for name in names], "\t").take(order)
    for start in range(0, len(rows), _HASH_PIECE):
        piece = rows.slice(start, _HASH_PIECE).to_pylist()
        digest.update(("\n" + "\n".join(piece)).encode())
    return digest.hexdigest()
