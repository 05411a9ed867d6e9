"""Where the marks of a chart stand; ``templates/charts.j2`` draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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


def tagged(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the letter by which a chart and its table name each of them.

    >>> [row["tag"] for row in tagged([{}, {}])]
    ['A', 'B']
    """
    return [{"tick": "", **row, "tag": _letters(at)} for at, row in enumerate(rows)]


def spread(rows: Sequence[Mapping[str, Any]], column: str) -> list[dict[str, Any]]:
    """Rows with the place ``at`` of a positive figure on a logarithmic axis from 0 to 1.

    Args:
        rows: of a section; a figure that is None or 0 has no place.
        column: the figure.

    >>> [row["at"] for row in spread([{"c": 1.0}, {"c": 100.0}, {"c": None}], "c")]
    [0.1, 0.7, None]
    """
    known = [math.log10(row[column]) for row in rows if row[column]]
    low, high = min(known, default=0.0), max(known, default=0.0)
    found = []
    for row in rows:
        at, tick = None, ""
        if row[column]:
            share = (math.log10(row[column]) - low) / (high - low) if high > low else 0.5
            at, tick = round(0.1 + 0.6 * share, 3), f"{row[column]:.3g}"
        found.append({**row, "at": at, "tick": tick})
    return found


def _letters(at: int) -> str:
    """A, B, to Z, then AA."""
    more, last = divmod(at, 26)
    return (_letters(more - 1) if more else "") + chr(ord("A") + last)
