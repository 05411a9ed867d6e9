"""Which items a condition on a column holds for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import UsageError
from ehrkg.graph.parameters import plain

BOUNDS: Mapping[str, Callable[..., Any]] = {"min_": pc.greater_equal, "max_": pc.less_equal}
"""What a condition's name begins with that bounds a column of numbers, and how."""


def holds(
    column: pa.ChunkedArray, name: str, value: Any, *, bounded: bool
) -> npt.NDArray[np.bool_]:
    """For each row, whether the condition holds; never where there is a null.

    Args:
        column: the values.
        name: the condition's, as the caller wrote it: a column, or ``min_`` or ``max_`` before one.
        value: what the column is compared with; of a list, any member.
        bounded: whether the name's beginning is one of ``BOUNDS``.

    Raises:
        UsageError: the value does not fit the column.

    >>> holds(pa.chunked_array([[1, 5, None]]), "min_score", 2, bounded=True).tolist()
    [False, True, False]
    """
    if bounded:
        return _truths(BOUNDS[name[:4]](column, _number(column, name, value)))
    values = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    if pa.types.is_list(column.type):
        wanted = set(values)
        return np.array([not wanted.isdisjoint(held or ()) for held in column.to_pylist()], bool)
    try:
        among = pa.array(plain(values), column.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise UsageError(
            f"{name}={value!r} does not fit a column of the type {column.type}",
            todo="give a value of that type, or a list of such",
        ) from error
    return _truths(pc.is_in(column, value_set=among))


def _number(column: pa.ChunkedArray, name: str, value: Any) -> float:
    """The value as a number with which the column can be compared."""
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise UsageError(
            f"{name}: the column {name[4:]!r} holds no numbers", todo=f"filter by {name[4:]}=value"
        )
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, Real):
        raise UsageError(f"{name}={value!r} is no number", todo=f"give one, such as {name}=1")
    return float(number)


def _truths(values: Any) -> npt.NDArray[np.bool_]:
    """Truth values out of Arrow; null is no."""
    return np.asarray(pc.fill_null(values, False), dtype=bool)
