"""From rows of text to typed rows, each usable or with the reason why it is not.

Nothing here knows a format: the declaration (``formats``) says which column is what.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ehr.formats import Field, Unit
from ehrkg.ehr.sources import ROW_COLUMNS, RawTable, Source
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, Column, StringColumn, Table

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

_INTEGER = r"^[+-]?\d+(\.0+)?$"
_EXPECTED = {"time": "YYYY-MM-DD HH:MM:SS or YYYY-MM-DD", "int": "a whole number"}
_REASONS = {"time": "bad_date", "int": "bad_number", "id": "empty_id"}


@dataclass(frozen=True)
class Staged:
    """A table's rows, typed, each with ``reason`` ("" if usable).

    Attributes:
        unit: its name in the ledger: "patient", "visit", "diagnosis", ...
        raw: the table as its source holds it.
        rows: the rows: ``source``, ``row``, our fields, ``raw_code`` where there is a code,
            ``reason``. An expression until ``hold`` computes it.
    """

    unit: str
    raw: RawTable
    rows: Table

    @property
    def usable(self) -> Table:
        """The rows without a reason against them."""
        return self.rows.filter(self.rows.reason == "").drop("reason")


def stage(source: Source, unit: Unit, name: str) -> Staged:
    """Read a table and give its fields their types.

    Args:
        source: where the tables are.
        unit: the table's declaration.
        name: what the ledger calls it.

    Raises:
        InputError: a column is missing, or no row at all holds a value of a column's type.
    """
    columns = {field.column for field in unit.columns.values()}
    raw = source.open(unit.table, columns, name=f"text_{name}")
    _check_columns(raw, columns)
    text = raw.text
    values = {key: _value(text[field.column], field) for key, field in unit.columns.items()}
    if "code" in unit.columns:
        values["raw_code"] = text[unit.columns["code"].column].fill_null("")
    _check_types(unit, raw)
    reasons = [
        (_is_bad(text[field.column], field), _REASONS[field.type])
        for kind in _REASONS
        for field in unit.columns.values()
        if field.type == kind
    ]
    return Staged(name, raw, text.select(*ROW_COLUMNS, reason=_first(reasons), **values))


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
    if not usable:
        raise InputError(
            "no row of this table can be used",
            **staged.raw.where(),
            found=", ".join(f"{reason}: {count}" for reason, count in sorted(counts.items())),
            todo="check that all tables are of the same release and that the columns are right",
        )
    ledger.record(STAGE, staged.unit, rows_in=staged.raw.rows, rows_out=usable, dropped=counts)
    unusable = _quarantine(staged) if counts else QUARANTINE.empty_table()
    source.release(f"text_{staged.unit}")
    return unusable


def _quarantine(staged: Staged) -> pa.Table:
    import ibis

    text, rows = staged.raw.text, staged.rows.filter(staged.rows.reason != "")
    who = {f"{_OURS}{key}": rows[key] if key in rows.columns else ibis.literal("") for key in WHO}
    bad = rows.select(*ROW_COLUMNS, "reason", **who)
    found = text.join(bad, list(ROW_COLUMNS)).order_by(ROW_COLUMNS).to_pyarrow().to_pylist()
    written = staged.raw.columns
    return pa.Table.from_pylist(
        [
            {
                "unit": staged.unit,
                "source": row["source"],
                "row": row["row"],
                **{key: row[f"{_OURS}{key}"] or "" for key in WHO},
                "reason": row["reason"],
                "raw": json.dumps(
                    {name: row[key] or "" for key, name in written.items() if key in row},
                    ensure_ascii=False,
                ),
            }
            for row in found
        ],
        schema=QUARANTINE,
    )


def _check_columns(raw: RawTable, columns: Collection[str]) -> None:
    for column in sorted(columns):
        if column not in raw.columns:
            raise InputError(
                f"the table has no column {column!r}",
                **(raw.where() | ({"line": 1} if raw.files else {})),
                found=", ".join(raw.columns.values()),
                expected=", ".join(sorted(columns)),
                todo="export the table with this column, or rename it if it has another name",
            )


def _first(reasons: Sequence[tuple[BooleanValue, str]]) -> StringColumn:
    import ibis

    return ibis.cases(*reasons, else_="") if reasons else ibis.literal("")


def _trimmed(text: Column) -> StringColumn:
    return text.fill_null("").strip()


def _value(text: Column, field: Field) -> Column:
    trimmed = _trimmed(text)
    if field.type == "time":
        long = trimmed.length() >= _SHORTEST_DATE
        return long.ifelse(trimmed, None).try_cast("timestamp").truncate("s")
    if field.type == "int":
        return trimmed.re_search(_INTEGER).ifelse(trimmed, None).try_cast("int32")
    return trimmed


def _is_bad(text: Column, field: Field) -> BooleanValue:
    """Whether a value can't be what its column should hold."""
    if field.type == "id":
        return _trimmed(text) == ""
    wrong = _value(text, field).isnull()
    return wrong if field.needed else wrong & (_trimmed(text) != "")


def _check_types(unit: Unit, raw: RawTable) -> None:
    """A column of which no value is of its type is no column of dates with a few slips."""
    text = raw.text
    checked = [field for field in unit.columns.values() if field.type in _EXPECTED]
    measures = {}
    for place, field in enumerate(checked):
        column = text[field.column]
        bad = _is_bad(column, field)
        measures[f"bad{place}"] = bad.sum()
        measures[f"filled{place}"] = (
            text.count() if field.needed else (_trimmed(column) != "").sum()
        )
    if not measures:
        return
    found = text.aggregate(**measures).to_pyarrow().to_pylist()[0]
    for place, field in enumerate(checked):
        if found[f"filled{place}"] and found[f"bad{place}"] == found[f"filled{place}"]:
            raise _no_value_of_type(field, raw)


def _no_value_of_type(field: Field, raw: RawTable) -> InputError:
    text = raw.text
    bad = text.filter(_is_bad(text[field.column], field)).order_by(ROW_COLUMNS).limit(1)
    first = bad.to_pyarrow().to_pylist()[0]
    what = "date" if field.type == "time" else "number"
    return InputError(
        f"no value of this column is a {what}",
        **raw.where(first["source"], first["row"]),
        column=raw.columns[field.column],
        found=first[field.column] or "(empty)",
        expected=_EXPECTED[field.type],
        todo="write the column in this form, or check that it is the right column",
    )
