"""The answers of queries as tables whose types do not depend on the engine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

TIMES = pa.timestamp("us")
"""What every moment without a zone comes as."""


def common(kind: pa.DataType) -> pa.DataType:
    """The type that stands for a type in every answer.

    >>> common(pa.int32()), common(pa.timestamp("s")), common(pa.list_(pa.float32()))
    (DataType(int64), TimestampType(timestamp[us]), ListType(list<item: double>))
    """
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return pa.int64()  # an engine may sum integers into something wider
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz)
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(common(kind.value_type))
    return kind


def widened(table: pa.Table) -> pa.Table:
    """An answer with the common types: an engine with narrow numbers says no more than others."""
    return table.cast(pa.schema([pa.field(f.name, common(f.type)) for f in table.schema]))


def from_values(names: Sequence[str], records: Iterable[Sequence[Any]]) -> pa.Table:
    """An answer out of plain Python values, for engines whose columns have no types.

    A column of nothing but nulls has the null type; one that mixes kinds becomes JSON text.

    >>> from_values(["n", "x"], [(1, "a"), (2, 0.5)]).to_pydict()
    {'n': [1, 2], 'x': ['"a"', '0.5']}
    """
    columns = list(zip(*records, strict=True)) or [()] * len(names)
    return pa.table([_column(list(values)) for values in columns], names=list(names))


def _column(values: list[Any]) -> pa.Array:
    try:
        column = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        texts = [
            None if one is None else json.dumps(one, ensure_ascii=False, default=str)
            for one in values
        ]
        return pa.array(texts, pa.string())
    wanted = common(column.type)
    if wanted == pa.list_(pa.null()):  # nothing but empty lists: the schema's are all of texts
        wanted = pa.list_(pa.string())
    return column if column.type == wanted else column.cast(wanted)
