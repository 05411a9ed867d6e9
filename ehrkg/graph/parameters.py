"""Values of a query's parameters, as plain Python values that every engine binds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa


def plain(value: Any) -> Any:
    """A value without numpy's or Arrow's own types, in lists too.

    >>> plain(np.int64(3)), plain(pa.scalar("x")), plain(np.array([1.5])), plain([np.bool_(True)])
    (3, 'x', [1.5], [True])
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, pa.Scalar):
        return value.as_py()
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return value.to_pylist()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def plain_values(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a query, plain."""
    return {name: plain(value) for name, value in parameters.items()}
