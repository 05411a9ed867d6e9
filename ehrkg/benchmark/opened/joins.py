"""Columns that a graph query, or a table of one's own, adds to the items."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.opened.columns import Columns
from ehrkg.benchmark.opened.source import Beside, Source
from ehrkg.foundation.errors import UsageError

KEYS = {"item": "item_id", "template": "template_id", "relation": "relation_id"}
"""Short names of the columns by which rows are found."""


def as_table(rows: Any) -> pa.Table:
    """A table out of Arrow, pandas, polars, or a list of dicts.

    Raises:
        UsageError: it is none of them.

    >>> as_table([{"template_id": "t1", "kind": "chronic"}]).column_names
    ['template_id', 'kind']
    """
    if isinstance(rows, pa.Table):
        return rows
    try:
        if isinstance(rows, list):
            return pa.Table.from_pylist(rows)
        if hasattr(rows, "to_arrow"):
            return rows.to_arrow()
        return pa.Table.from_pandas(rows, preserve_index=False)
    except (pa.ArrowException, TypeError, AttributeError) as error:
        raise UsageError(
            f"{type(rows).__name__} is no table to join",
            todo="give a query, or a table of Arrow, pandas, polars or a list of dicts",
        ) from error


def beside_of(source: Source, answer: pa.Table, on: str | None) -> Beside:
    """The columns of a table as columns of the items.

    Args:
        source: what they are joined to.
        answer: a column that names items, templates, relations or the value of another column of
            theirs, and what is to be known of it.
        on: that column; by default the first whose name is one of ``KEYS`` or of a column.

    Raises:
        UsageError: there is no such column, another one has a name that is taken, or a key stands
            twice.
    """
    named = answer.rename_columns([name.rpartition(".")[2] for name in answer.column_names])
    names = named.column_names
    if len(set(names)) < len(names):
        raise UsageError(
            f"two columns to join have one name: {', '.join(names)}", todo="RETURN ... AS name"
        )
    found = on or next((name for name in names if name in KEYS or name in source.names), None)
    if found is None or found not in names:
        raise UsageError(
            f"nothing says to which items the rows belong: {', '.join(names) or 'no column'}",
            todo="RETURN t.id AS template_id (or relation_id, item_id, or another column) first",
        )
    key = KEYS.get(found, found)
    source.where(key)
    taken = [name for name in names if name != found and name in {*source.names, "at", "id"}]
    if taken:
        raise UsageError(
            f"the items have a column {taken[0]!r} already", todo=f"RETURN ... AS my_{taken[0]}"
        )
    named = named.rename_columns([key if name == found else name for name in names])
    named = named.set_column(
        named.column_names.index(key), key, named[key].cast(source.type(key), safe=True)
    )
    named = named.filter(pc.is_valid(named[key]))
    twice = [row["values"] for row in pc.value_counts(named[key]).to_pylist() if row["counts"] > 1]
    if twice:
        raise UsageError(
            f"{len(twice):,} values of {key} stand in several rows, such as {twice[0]!r}",
            todo="let the query give one row for each: collect(...), count(...), min(...)",
        )
    return Beside(Columns(named, pa.schema([]), key), key, key)
