"""From rows of text to typed rows, each usable or with the reason why it is not.

Nothing here knows a format: the declaration (``formats``) says which column is what.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ehr.fields import Laid, lay
from ehrkg.ehr.formats import Field, Unit
from ehrkg.ehr.repairs import damaged, mend, too_short
from ehrkg.ehr.sources import ROW_COLUMNS, Source
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger

if TYPE_CHECKING:
    from ibis.expr.types import (
        BooleanValue,
        Column,
        IntegerScalar,
        StringColumn,
        StringValue,
        Table,
    )

STAGE = "read"
"""The stage's name in the ledger and the quarantine."""

QUARANTINE = pa.schema(
    [
        ("unit", pa.string()),
        ("source", pa.string()),
        ("row", pa.int64()),
        ("patient", pa.string()),  # whom the row names, "" where the table names nobody
        ("visit", pa.string()),
        ("reason", pa.string()),
        ("raw", pa.string()),  # the columns read, as JSON text, under their own names
    ]
)
"""The unusable rows of reading. Sorted by source, row."""

WHO = ("patient", "visit")
"""The columns above that name somebody."""

_OURS = "our "
"""Before the names of our columns beside a file's own: no header holds it."""

_SHORTEST_DATE = 10
"""Shorter words that engines take for times ("epoch", "infinity") are none."""

_GLANCE = 1_000
"""So many rows are looked at before all are."""

_INTEGER = r"^[+-]?\d+$"
_EXPECTED = {"time": "YYYY-MM-DD HH:MM:SS or YYYY-MM-DD", "int": "a whole number"}
_REASONS = {"time": "bad_date", "int": "bad_number", "id": "empty_id"}
"""Why a value that its type does not hold makes a row unusable, in this order."""


@dataclass(frozen=True)
class Staged:
    """A table's rows, typed, each with ``reason`` ("" if usable).

    Attributes:
        unit: its name in the ledger: "patient", "visit", "diagnosis", ...
        laid: the table as its source holds it, under our names.
        rows: the rows: ``source``, ``row``, our fields, ``raw_code`` where there is a code,
            ``reason``. An expression until ``hold`` computes it.
        count: how many rows there are.
    """

    unit: str
    laid: Laid
    rows: Table
    count: int

    @property
    def usable(self) -> Table:
        """The rows without a reason against them."""
        return self.rows.filter(self.rows.reason == "").drop("reason")


def stage(source: Source, unit: Unit, name: str, ledger: Ledger) -> Staged:
    """Read a table, mend what can be mended and give its fields their types.

    Args:
        source: where the tables are.
        unit: the table's declaration.
        name: what the ledger calls it.
        ledger: told what was mended.

    Raises:
        InputError: a column is missing, no row at all holds a value of a column's type, or the
            codes have lost their leading zeros.
    """
    laid = lay(source, unit, name)
    text, mended = mend(laid)
    for note in laid.raw.notes:
        record_mended(ledger, f"{name}.{note.what}", note.count, note.example)
    for each in mended:
        record_mended(ledger, f"{name}.{each.name}", each.rows, each.example)
    _check_types(laid, text)
    values = {key: _value(text[key], field) for key, field in unit.columns.items()}
    if "code" in unit.columns and "raw_code" not in unit.columns:
        values["raw_code"] = text["raw_code"]
    rows = text.select(*ROW_COLUMNS, reason=_first(_reasons(laid, text)), **values)
    whole = unit.pick is None and not unit.distinct and not unit.wide
    count = laid.raw.rows if whole else int(text.count().to_pyarrow().as_py())
    return Staged(name, laid, rows, count)


def _reasons(laid: Laid, text: Table) -> list[tuple[BooleanValue, str]]:
    """What makes a row unusable by itself, in the order in which it counts."""
    columns = laid.unit.columns
    written = {
        key: laid.raw.columns[field.columns[0]].strip()
        for key, field in columns.items()
        if len(field.columns) == 1 and field.columns[0] in laid.raw.columns
    }
    found = []
    if written:
        repeated = [text[key] == name for key, name in written.items()]
        found.append((reduce(and_, repeated), "repeated_header"))
    found += [
        (damaged(text[key]), "damaged_id")
        for key, field in columns.items()
        if field.type in ("id", "key")
    ]
    found += [
        (_is_bad(text[key], field), reason)
        for kind, reason in _REASONS.items()
        for key, field in columns.items()
        if field.type == kind
    ]
    short = too_short(laid, text)
    return found if short is None else [*found, (short, "lost_leading_zero")]


def reject(staged: Staged, rows: Table, reasons: Sequence[tuple[BooleanValue, str]]) -> Staged:
    """Give the still usable rows the first reason that holds for them.

    Args:
        staged: the table.
        rows: its rows, perhaps with more columns, over which the conditions are written.
        reasons: conditions, each with the reason's name; the first that holds counts.
    """
    import ibis

    reason = ibis.ifelse(rows.reason != "", rows.reason, _first(reasons))
    return replace(staged, rows=rows.mutate(reason=reason))


def reject_repeats(staged: Staged, keys: Sequence[str], reason: str) -> Staged:
    """Of usable rows with equal keys keep one: the least by content, so that order is no matter.

    Args:
        staged: the table.
        keys: the fields by which rows are the same.
        reason: what the others are dropped for.
    """
    import ibis

    rows = staged.rows
    aside = {*keys, *ROW_COLUMNS, "reason"}
    others = [name for name in sorted(rows.columns) if name not in aside]
    place = ibis.row_number().over(
        group_by=[rows.reason == "", *(rows[key] for key in keys)],
        order_by=[
            *(rows[name].asc(nulls_first=True) for name in others),
            *(rows[name] for name in ROW_COLUMNS),
        ],
    )
    again = (rows.reason == "") & (place > 0)
    return replace(staged, rows=rows.mutate(reason=ibis.ifelse(again, reason, rows.reason)))


def hold(source: Source, staged: Staged) -> Staged:
    """Compute the rows now."""
    return replace(staged, rows=source.keep(staged.rows, f"rows_{staged.unit}"))


def settle(source: Source, staged: Staged, ledger: Ledger) -> pa.Table:
    """Write a table's account into the ledger and give its unusable rows (QUARANTINE).

    The engine lets go of the text that the rows were made from.

    Raises:
        InputError: no row is usable: then the file, not the row, is at fault.
    """
    counted = staged.rows.group_by("reason").agg(n=staged.rows.count()).to_pyarrow().to_pylist()
    counts = {each["reason"]: each["n"] for each in counted}
    usable = counts.pop("", 0)
    if not usable and not (staged.laid.unit.optional and not staged.count):
        raise InputError(
            "no row of this table can be used",
            **staged.laid.raw.where(),
            found=", ".join(f"{reason}: {count}" for reason, count in sorted(counts.items())),
            todo="check that all tables are of the same release and that the columns are right",
        )
    ledger.record(STAGE, staged.unit, rows_in=staged.count, rows_out=usable, dropped=counts)
    unusable = _quarantine(staged) if counts else QUARANTINE.empty_table()
    for name in staged.laid.held:
        source.release(name)
    return unusable


def _quarantine(staged: Staged) -> pa.Table:
    import ibis

    raw, unit = staged.laid.raw, staged.laid.unit
    rows = staged.rows.filter(staged.rows.reason != "")
    who = {f"{_OURS}{key}": rows[key] if key in rows.columns else ibis.literal("") for key in WHO}
    bad = rows.select(*ROW_COLUMNS, "reason", **who)
    found = raw.text.join(bad, list(ROW_COLUMNS)).order_by(ROW_COLUMNS).to_pyarrow().to_pylist()
    read = {key: name for key, name in raw.columns.items() if key in unit.own_columns}
    return pa.Table.from_pylist(
        [
            {
                "unit": staged.unit,
                **{key: row[key] for key in (*ROW_COLUMNS, "reason")},
                **{key: row[f"{_OURS}{key}"] or "" for key in WHO},
                "raw": json.dumps(
                    {name: row[key] or "" for key, name in read.items()}, ensure_ascii=False
                ),
            }
            for row in found
        ],
        schema=QUARANTINE,
    )


def record_mended(ledger: Ledger, unit: str, rows: int, example: str = "") -> None:
    """Count rows that were mended, or are odd, and stay."""
    if rows:
        ledger.record(STAGE, unit, rows_in=int(rows), rows_out=int(rows), example=example)


def record_counts(
    ledger: Ledger, unit: str, rows: Table, conditions: Mapping[str, BooleanValue]
) -> None:
    """Count the rows for which each condition holds, in one pass, as ``unit.condition``."""
    if not conditions:
        return
    names = {f"n{place}": name for place, name in enumerate(conditions)}
    sums = {short: conditions[name].sum() for short, name in names.items()}
    found = rows.aggregate(**sums).to_pyarrow().to_pylist()[0]
    for short, name in sorted(names.items(), key=lambda each: each[1]):
        record_mended(ledger, f"{unit}.{name}", found[short] or 0)


def _first(reasons: Sequence[tuple[BooleanValue, str]]) -> StringColumn:
    import ibis

    return ibis.cases(*reasons, else_="") if reasons else ibis.literal("")


def _value(text: StringValue, field: Field) -> Column:
    if field.type == "time":
        long = text.length() >= _SHORTEST_DATE
        return long.ifelse(text, None).try_cast("timestamp").truncate("s")
    if field.type == "int":
        return text.re_search(_INTEGER).ifelse(text, None).try_cast("int32")
    return text


def _is_bad(text: StringValue, field: Field) -> BooleanValue:
    """Whether a value can't be what its column should hold."""
    if field.type == "id":
        return text == ""
    wrong = _value(text, field).isnull()
    return wrong if field.needed else wrong & (text != "")


def _check_types(laid: Laid, text: Table) -> None:
    """A column of which no value is of its type is no column of dates with a few slips."""
    checked = [key for key, field in laid.unit.columns.items() if field.type in _EXPECTED]
    if not checked:
        return
    # nearly always some value among the first rows settles it
    for rows in (text.limit(_GLANCE), text):
        found = rows.aggregate(**_measures(laid, rows, checked)).to_pyarrow().to_pylist()[0]
        none = [key for i, key in enumerate(checked) if found[f"filled{i}"] == found[f"bad{i}"]]
        if not none:
            return
    for place, key in enumerate(checked):
        if found[f"filled{place}"] and found[f"bad{place}"] == found[f"filled{place}"]:
            raise _no_value_of_type(laid, text, key)


def _measures(laid: Laid, text: Table, checked: Sequence[str]) -> dict[str, IntegerScalar]:
    """How many values of each column there are, and how many are not of its type."""
    measures = {}
    for place, key in enumerate(checked):
        field = laid.unit.columns[key]
        measures[f"bad{place}"] = _is_bad(text[key], field).sum()
        measures[f"filled{place}"] = text.count() if field.needed else (text[key] != "").sum()
    return measures


def _no_value_of_type(laid: Laid, text: Table, key: str) -> InputError:
    field = laid.unit.columns[key]
    bad = text.filter(_is_bad(text[key], field)).order_by(ROW_COLUMNS).limit(1)
    first = bad.to_pyarrow().to_pylist()[0]
    what = "date" if field.type == "time" else "number"
    return InputError(
        f"no value of this column is a {what}",
        **laid.raw.where(first["source"], first["row"]),
        column=laid.columns_of(key),
        found=first[key] or "(empty)",
        expected=_EXPECTED[field.type],
        todo="write the column in this form, or check that it is the right column",
    )
