"""Benchmarks put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ehrkg.ehr.formats import formats
from ehrkg.foundation.errors import UsageError

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

KEYS = {"items": "item_id", "templates": "id", "relations": "id", "evidence": "id"}
"""The tables that are put together, with the column that names their rows."""


def concat(first: Benchmark, others: Sequence[Benchmark]) -> Benchmark:
    """One benchmark out of several; see ``Benchmark.concat``."""
    if not others:
        return first
    every = (first, *others)
    step = {"do": "concat", "others": [other.recipe.as_json() for other in others]}
    if all(one._whole is first._whole and one._source is first._source for one in others):
        if any(one._rows is None for one in every):
            return first._with(None, step)
        rows = np.unique(np.concatenate([one._rows for one in every if one._rows is not None]))
        return first._with(rows, step)
    refuse_twins(every)
    made = type(first).from_tables(
        items=_one([one.to_arrow().select(one._source.items.names) for one in every], "items"),
        templates=_one([one.templates() for one in every], "templates"),
        relations=_beside(every, "relations"),
        evidence=_beside(every, "evidence"),
        store=first.store,
    )
    # The recipe goes on from the first one's, and names the others by theirs.
    made._steps = (*first._steps, step)
    made._whole = first._whole
    return made


def refuse_twins(every: Sequence[Benchmark]) -> None:
    """Raise where two benchmarks are of data sets that hold the same admissions.

    What a benchmark is of, its manifest says; tables in memory say nothing.

    Raises:
        UsageError: they are.
    """
    named = {str(one.manifest.get("format") or "") for one in every} - {""}
    for name in sorted(named & set(formats())):
        twins = named & set(formats()[name].shares_with)
        if twins:
            raise UsageError(
                f"{name} and {', '.join(sorted(twins))} hold the same admissions under other ids",
                todo="keep them apart: a patient would stand on both sides of every split",
            )


def _beside(every: Iterable[Benchmark], name: str) -> pa.Table | None:
    tables = [one.beside(name) for one in every]
    held = [table for table in tables if table is not None]
    return _one(held, name) if len(held) == len(tables) else None


def _one(tables: Sequence[pa.Table], name: str) -> pa.Table:
    """Rows of several tables, each key once.

    Raises:
        UsageError: two tables have different columns, or different rows under one key.
    """
    key = KEYS[name]
    lacking = {column for table in tables for column in table.column_names} - set.intersection(
        *(set(table.column_names) for table in tables)
    )
    if lacking:
        raise UsageError(
            f"not all {name} have the column {sorted(lacking)[0]!r}",
            todo="put together what one version of ehrkg made",
        )
    rows: dict[str, dict[str, object]] = {}
    kept: list[pa.Table] = []
    for table in tables:
        fresh = []
        for at, row in enumerate(table.to_pylist()):
            if rows.setdefault(row[key], row) is row:
                fresh.append(at)
            elif rows[row[key]] != row:
                raise UsageError(
                    f"two different {name} have the id {row[key]!r}",
                    todo="a.diff(b) shows in what they differ; take the newer one",
                )
        kept.append(table.take(pa.array(fresh, pa.int64())))
    return pa.concat_tables(kept, promote_options="permissive").sort_by(key)
