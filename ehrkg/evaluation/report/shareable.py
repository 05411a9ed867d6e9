"""What may be passed on: no row of a visit, no stem, no count under 11, and nothing that tells one.

The rules, applied to all that a section gives to its template, so that text, tables, charts and
what is read aloud instead of them follow the same figures:

- A whole number is a count. Under ``LEAST`` it is ``FEW``, shown as "<11"; from there on it is
  rounded up to the next multiple of ``STEP``, so that no difference of two counts, in one table or
  between two, tells a small one (the way of OpenSAFELY's rounded outputs): with five other parts
  of a sum at least six values stay possible for the small one, in the worst case. What is whole
  and no count (a number of options, a year) is given as text.
- A share is worked out from the rounded counts, never from the true ones.
- Any other figure (a mean, an end of an interval) stands only in a row that says how many
  ``patients`` it rests on, and only where these are 11 or more; where they are fewer, the row's
  other counts (of questions, say) are left out too. In a table such a row is left out whole: that
  it is there would tell that there are some.
- What a section names as private is empty, and private sections are left out altogether.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

LEAST = 11
"""The least count that may be shown (PhysioNet's and CMS's rule for small cells)."""

STEP = 10
"""Counts are rounded up to multiples of this."""

PATIENTS = "patients"
"""The key under which a row says how many patients its figures rest on."""


class Few:
    """A count that may not be told."""

    def __repr__(self) -> str:
        return f"<{LEAST}"


FEW: Final = Few()


def held_back(
    value: Any, private: frozenset[str] = frozenset(), *, enough: bool | None = None
) -> Any:
    """A value as it may be passed on; see the rules above.

    Args:
        value: what a section gives: mappings and sequences of plain values.
        private: keys whose values are emptied, at any depth.
        enough: whether the figures here rest on 11 patients or more; None where nobody says.

    Raises:
        TypeError: a value is of a kind for which there is no rule.

    >>> held_back({"patients": 7, "items": 30, "accuracy": 0.5, "task": "diagnosis"})
    {'patients': <11, 'items': None, 'accuracy': None, 'task': 'diagnosis'}
    >>> held_back({"patients": 12, "accuracy": 0.5, "by": [{"items": 3, "low": 0.4}]})
    {'patients': 20, 'accuracy': 0.5, 'by': [{'items': <11, 'low': 0.4}]}
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return None if enough is False else _rounded(value)
    if isinstance(value, float):
        return value if enough else None
    if isinstance(value, Mapping):
        patients = value.get(PATIENTS)
        if isinstance(patients, int):
            enough = patients >= LEAST
        shown = {
            key: _emptied(part) if key in private else held_back(part, private, enough=enough)
            for key, part in value.items()
        }
        return shown | ({PATIENTS: _rounded(patients)} if isinstance(patients, int) else {})
    if isinstance(value, Sequence):
        kept = [part for part in value if not _of_few(part)]
        return [held_back(part, private, enough=enough) for part in kept]
    raise TypeError(f"a section gave a {type(value).__name__}, of which nobody knows what it tells")


def _of_few(row: Any) -> bool:
    """Whether this is a row that rests on too few patients."""
    patients = row.get(PATIENTS) if isinstance(row, Mapping) else None
    return isinstance(patients, int) and patients < LEAST


def _rounded(count: int) -> int | Few:
    return FEW if count < LEAST else -(-count // STEP) * STEP


def _emptied(value: Any) -> Any:
    return type(value)() if isinstance(value, str | list) else None


def count_words(value: int | Few | None) -> str:
    """A count as it is shown.

    >>> count_words(1234), count_words(FEW), count_words(None)
    ('1,234', '<11', '–')
    """
    if value is None:
        return "–"
    return repr(value) if isinstance(value, Few) else f"{value:,}"


def share_of(part: int | Few | None, whole: int | Few | None) -> float | None:
    """A share of two counts, where both may be told; ``None`` else, and of nothing.

    >>> share_of(30, 120), share_of(FEW, 120)
    (0.25, None)
    """
    if isinstance(part, int) and isinstance(whole, int) and whole > 0:
        return min(part / whole, 1.0)
    return None


def size_of(value: int | Few | None) -> int:
    """A count as the length of a bar: nothing where it may not be told."""
    return value if isinstance(value, int) else 0


def percent_words(share: float | None, places: int = 1) -> str:
    """A share as a percentage.

    >>> percent_words(0.4567), percent_words(None)
    ('45.7 %', '–')
    """
    return "–" if share is None else f"{100 * share:.{places}f} %"
