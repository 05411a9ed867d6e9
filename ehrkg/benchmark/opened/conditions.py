"""Conditions on columns, as SQL with bound values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import pyarrow as pa

from ehrkg.foundation.errors import UsageError
from ehrkg.graph.parameters import plain

BOUNDS: Mapping[str, str] = {"min_": ">=", "max_": "<="}
"""What a condition's name begins with that bounds a column of numbers, and how."""


@dataclass(frozen=True)
class Condition:
    """A condition that holds for a row or not.

    It never holds where the column is null, unless null is among the values asked for.

    Attributes:
        sql: with a ``?`` for each value.
        values: what is bound.
    """

    sql: str
    values: tuple[Any, ...] = ()


def bounded_column(name: str) -> str | None:
    """The column that a condition's name bounds, or ``None``.

    >>> bounded_column("min_score"), bounded_column("task")
    ('score', None)
    """
    return name[4:] if name[:4] in BOUNDS else None


def condition(place: str, kind: pa.DataType, name: str, value: Any, *, bounds: bool) -> Condition:
    """A condition on a column.

    Args:
        place: the column, as SQL.
        kind: its type.
        name: the condition's, as the caller wrote it: a column, or ``min_`` or ``max_`` before one.
        value: what the column is compared with; of a list, any member. ``None`` is null.
        bounds: whether the name's beginning is one of ``BOUNDS``.

    Raises:
        UsageError: the value does not fit the column.

    >>> condition("i.task", pa.string(), "task", "treatment", bounds=False)
    Condition(sql='coalesce(i.task IN (?), false)', values=('treatment',))
    >>> condition("t.score", pa.float64(), "min_score", 0.9, bounds=True).sql
    'coalesce(t.score >= ?, false)'
    """
    if bounds:
        sign = BOUNDS[name[:4]]
        return Condition(f"coalesce({place} {sign} ?, false)", (_number(kind, name, value),))
    several = isinstance(value, list | tuple | set | frozenset | pa.Array | pa.ChunkedArray)
    asked = plain(list(value) if isinstance(value, set | frozenset) else value)
    values = list(asked) if several or isinstance(asked, list) else [asked]
    inner = kind.value_type if pa.types.is_list(kind) else kind
    try:
        known = pa.array([one for one in values if one is not None], inner).to_pylist()
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise UsageError(
            f"{name}={value!r} does not fit a column of the type {kind}",
            todo="give a value of that type, or a list of such",
        ) from error
    parts = [f"{place} IS NULL"] if None in values else []
    if known and pa.types.is_list(kind):
        parts.append(f"coalesce(list_has_any({place}, ?), false)")
        return Condition(" OR ".join(parts), (known,))
    if known:
        parts.append(f"coalesce({place} IN ({', '.join('?' * len(known))}), false)")
    return Condition(" OR ".join(parts) or "false", tuple(known))


def _number(kind: pa.DataType, name: str, value: Any) -> float:
    """The value as a number with which the column can be compared."""
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise UsageError(
            f"{name}: the column {name[4:]!r} holds no numbers", todo=f"filter by {name[4:]}=value"
        )
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, Real):
        raise UsageError(f"{name}={value!r} is no number", todo=f"give one, such as {name}=1")
    return float(number)
