"""From a source's columns to our fields, still as text: what a declaration says is done here.

Nothing is typed or mended yet. Picks, lookups, wide columns, parts of values and other words for
the same are Ibis expressions, the same for every format and every engine.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from ehrkg.ehr.formats import Field, Lookup, Pick, Unit
from ehrkg.ehr.sources import ROW_COLUMNS, RawTable, Source
from ehrkg.foundation.errors import InputError

if TYPE_CHECKING:
    from ibis.expr.types import StringValue, Table

_FLOAT = r"^(-?\d+)\.0+$"
"""An identifier that went through a column of floats; keys are compared without this."""


@dataclass(frozen=True)
class Laid:
    """A unit's rows under our names, each field as the text that stands in the source.

    Attributes:
        unit: the declaration.
        raw: the table as its source holds it.
        text: ``source``, ``row``, a text column a field, null where nothing stands, and
            ``raw_code``: the code as written, where there is one.
        held: names that the engine holds; the caller lets go of them.
    """

    unit: Unit
    raw: RawTable
    text: Table
    held: tuple[str, ...]

    def columns_of(self, field: str) -> str:
        """The source's name of the columns of a field, for a message."""
        columns = self.unit.columns[field].columns
        return ", ".join(self.raw.columns.get(column, column) for column in columns)


def lay(source: Source, unit: Unit, name: str) -> Laid:
    """Lay a table's rows out under our names.

    Args:
        source: where the tables are.
        unit: the table's declaration.
        name: what the engine calls what it holds of it.

    Raises:
        InputError: a column is missing.
    """
    raw = source.open(unit.table, unit.own_columns, name=f"text_{name}")
    if lacking := unit.lacking(raw.columns):
        raise _no_column(raw, lacking, unit.own_columns)
    if not raw.rows and not unit.optional:
        raise InputError(
            "the table has a header but no rows",
            **raw.where(row=0),
            expected="at least one row",
            todo="export the table again",
        )
    held = [f"text_{name}"]
    text = _with_all(raw.text, unit.own_columns)
    if unit.pick:
        text = text.filter(matches(text, unit.pick))
    if unit.distinct:
        text = text.group_by(unit.distinct).agg(source=text.source.min(), row=text.row.min())
    if unit.wide:
        text = _unpivot(text, unit.wide)
    for lookup in unit.lookups:
        held.append(f"text_{name}_{lookup.name}")
        text = _look_up(source, text, lookup, held[-1])
    fields = {key: _field(text, field) for key, field in unit.columns.items()}
    if "code" in fields and "raw_code" not in fields:
        fields["raw_code"] = fields["code"].fill_null("")
    return Laid(unit, raw, text.select(*ROW_COLUMNS, **fields), tuple(held))


def matches(text: Table, pick: Pick) -> StringValue:
    """Whether a row is one of those that count."""
    return text[pick.column].fill_null("").re_search(pick.matches)


def _no_column(raw: RawTable, lacking: Sequence[str], wanted: Collection[str]) -> InputError:
    return InputError(
        f"the table has no column {lacking[0]!r}",
        **(raw.where() | ({"line": 1} if raw.files else {})),
        found=", ".join(raw.columns.values()),
        expected=", ".join(sorted(wanted)),
        todo="export the table with this column, or rename it if it has another name",
    )


def _with_all(text: Table, columns: Collection[str]) -> Table:
    import ibis

    lacking = sorted(set(columns) - set(text.columns))
    return text.mutate(**{column: ibis.null("string") for column in lacking}) if lacking else text


def _unpivot(text: Table, columns: Collection[str]) -> Table:
    import ibis

    rest = [name for name in text.columns if name not in columns]
    parts = [
        text.select(
            *rest, **{"wide.code": text[column], "wide.place": ibis.literal(str(place))}
        ).filter(text[column].fill_null("").strip() != "")
        for place, column in enumerate(columns, start=1)
    ]
    return ibis.union(*parts) if len(parts) > 1 else parts[0]


def _look_up(source: Source, text: Table, lookup: Lookup, name: str) -> Table:
    """The text with a lookup's columns, ``lookup.column``; null where the key finds nothing."""
    import ibis

    names = {f"{lookup.name}.{column}": column for column in lookup.columns}
    if lookup.table not in source.tables():
        return text.mutate(**{ours: ibis.null("string") for ours in names})
    picked = {lookup.pick.column} if lookup.pick else set()
    raw = source.open(lookup.table, {lookup.equals, *lookup.columns, *picked}, name=name)
    if lacking := sorted({lookup.equals, *picked} - set(raw.columns)):
        raise _no_column(raw, lacking, {lookup.equals, *lookup.columns, *picked})
    other = _with_all(raw.text, lookup.columns)
    if lookup.pick:
        other = other.filter(matches(other, lookup.pick))
    other = other.mutate(lookup_key=_key(other[lookup.equals]))
    order = [*(other[column].asc(nulls_first=True) for column in lookup.columns)]
    order += [other[column] for column in ROW_COLUMNS]
    place = ibis.row_number().over(group_by=other.lookup_key, order_by=order)
    first = other.mutate(lookup_place=place).filter(lambda t: t.lookup_place == 0)
    first = first.filter(first.lookup_key != "").select("lookup_key", **names)
    joined = text.left_join(first, _key(text[lookup.key]) == first.lookup_key)
    return joined.drop("lookup_key")


def _key(text: StringValue) -> StringValue:
    return text.fill_null("").strip().re_replace(_FLOAT, r"\1")


def _field(text: Table, field: Field) -> StringValue:
    """The text of a field: the first of its columns that is not empty, or its constant."""
    import ibis

    if not field.columns:
        return ibis.literal(field.value)
    columns = [text[column] for column in field.columns]
    value = reduce(
        lambda found, other: ibis.ifelse(found.fill_null("").strip() != "", found, other), columns
    )
    if field.part:
        value = value.fill_null("")
        value = ibis.ifelse(value.re_search(field.part), value.re_extract(field.part, 1), "")
    if field.words:
        key = _key(value)
        cases = ((key == theirs, ours) for theirs, ours in field.words.items())
        value = ibis.cases(*cases, else_=value)
    return value
