"""Columns and rows of CSV as arrays of text."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.synth.draws import Flags, Ints


def quoted(text: str) -> str:
    """A text as it stands in a CSV cell."""
    marked = any(mark in text for mark in ',"\n')
    return '"' + text.replace('"', '""') + '"' if marked else text


def text(numbers: npt.NDArray[Any]) -> pa.Array:
    """Numbers as text."""
    return pa.array(numbers).cast(pa.string())


def pick(values: list[str], places: npt.NDArray[Any]) -> pa.Array:
    """The values at these places (from the end where negative)."""
    places = np.asarray(places)
    wrapped = np.where(places < 0, places + len(values), places)
    return pa.array(values, pa.string()).take(pa.array(wrapped))


def same(value: str, count: int) -> pa.Array:
    """One value, in every row."""
    return pa.repeat(pa.scalar(value), count)


def times(seconds: Ints, empty: Flags | None = None) -> pa.Array:
    """Seconds since 1970 as date and time, some of them empty."""
    text = pa.array(seconds.astype("datetime64[s]")).cast(pa.string())
    return text if empty is None else pc.if_else(pa.array(empty), "", text)


def days(seconds: Ints, empty: Flags | None = None) -> pa.Array:
    """Seconds since 1970 as a date, some of them empty."""
    text = pa.array(seconds.astype("datetime64[s]").astype("datetime64[D]")).cast(pa.string())
    return text if empty is None else pc.if_else(pa.array(empty), "", text)


def lines(columns: list[pa.Array]) -> pa.Array:
    """Rows as lines of CSV; texts that need quotes have them already."""
    *first, last = columns
    return pc.binary_join_element_wise(*first, pc.binary_join_element_wise(last, "", "\n"), ",")


def twice(columns: list[pa.Array], again: Flags) -> pa.Array:
    """The rows, some of them repeated."""
    rows = np.repeat(np.arange(len(again)), 1 + again.astype(int))
    return lines(columns).take(pa.array(rows))
