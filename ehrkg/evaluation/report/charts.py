"""Where the marks of a chart stand; ``templates/charts.j2`` draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any


def place(share: float) -> float:
    """A share as a place on an axis from 0 to 100 %.

    >>> place(0.25), place(1.2)
    (25.0, 100.0)
    """
    return round(100 * min(max(share, 0.0), 1.0), 2)


def log_share(count: int, top: int) -> float:
    """The length of a bar on a logarithmic axis that ends at ``top``, in percent.

    >>> log_share(1000, 1_000_000), log_share(0, 10)
    (50.0, 0.0)
    """
    if count < 1 or top < 1:
        return 0.0
    return round(100 * math.log10(count + 1) / math.log10(top + 1), 1)


def renamed(
    rows: Iterable[Mapping[str, Any]], name: str, value: str | None = None
) -> list[dict[str, Any]]:
    """Rows with the columns under which a chart looks for its labels and values.

    Args:
        rows: of a section.
        name: the column that names a row; a ``setting`` other than plain is told with it.
        value: the column that is drawn.
    """
    found = []
    for row in rows:
        setting = row.get("setting", "plain")
        label = row[name] if setting == "plain" else f"{row[name]} ({setting})"
        found.append({**row, "name": label} | ({"value": row[value]} if value else {}))
    return found


def figure_words(value: float | None, places: int) -> str:
    """A figure with so many places; a dash where there is none.

    >>> figure_words(0.51234, 3), figure_words(None, 3)
    ('0.512', '–')
    """
    return "–" if value is None else f"{value:.{places}f}"


def interval_words(row: Mapping[str, Any], low: str = "low", high: str = "high") -> str:
    """An interval of shares, in percent.

    >>> interval_words({"low": 0.4, "high": 0.555})
    '40.0 to 55.5'
    """
    if row[low] is None or row[high] is None:
        return "–"
    return f"{100 * row[low]:.1f} to {100 * row[high]:.1f}"
