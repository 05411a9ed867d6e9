"""What a declaration of a format can say.

A declaration tells where each thing that a reader needs stands: which table, which column, which
part of a value, which rows. It holds no program: what it says is done by ``ehrkg.ehr.fields`` for
every format alike. ``formats/README.md`` shows the language with an example of each word.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TYPES = ("text", "id", "key", "int", "time")
"""``id``: an identifier that must not be empty; ``key``: one that may be; the rest as they say."""


@dataclass(frozen=True)
class Field:
    """Where one of our fields stands.

    Attributes:
        columns: the table's columns, in lower case; the first that is not empty counts, and one
            must be there. A column of a lookup is written ``lookup.column``.
        type: one of TYPES.
        needed: an empty value makes the row unusable.
        optional: the table may lack the columns.
        part: a regular expression with one group; the group is the value ("" for all of it).
        words: our word for theirs; other words stay as they are.
        value: a constant, for what the format says without a column.

    >>> Field(("gender", "sex"), words={"female": "F", "male": "M"}, needed=True).type
    'text'
    """

    columns: tuple[str, ...]
    type: str = "text"
    needed: bool = False
    optional: bool = False
    part: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    value: str = ""


@dataclass(frozen=True)
class Pick:
    """Which rows of a table count: those whose column matches a regular expression.

    >>> from ehrkg.ehr.formats import formats
    >>> formats()["mimic4"].events[0].pick, Pick("drug_type", "MAIN").matches
    (None, 'MAIN')
    """

    column: str
    matches: str


@dataclass(frozen=True)
class Lookup:
    """Columns of another table's row, found by a key; the least row where there are several.

    Attributes:
        name: what stands before the dot when its columns are named.
        table: the other table, in lower case.
        key: the column of this table, or of a lookup before it.
        equals: the column of the other table that holds the same.
        columns: the columns taken.
        pick: which rows of the other table count.
        optional: the other table may be lacking; its columns are then empty.

    >>> Lookup("stay", "admissions", "hadm_id", "hadm_id", ("subject_id",)).optional
    False
    """

    name: str
    table: str
    key: str
    equals: str
    columns: tuple[str, ...]
    pick: Pick | None = None
    optional: bool = False


@dataclass(frozen=True)
class Unit:
    """One table of a format, and how its rows are to be read.

    Attributes:
        table: its name, in lower case.
        columns: its fields by our name.
        kind: the kind of code in it, "" where it holds none.
        drop_duplicates: whether a row that repeats another in all fields is dropped.
        systems: the code system by the value of the field ``version`` ("" where there is none).
        pick: which of its rows count; all by default.
        lookups: what is looked up in other tables.
        distinct: a column; its distinct values are the rows, the first row of each standing for it.
        wide: columns that each hold a code: a row here is one filled cell; the cell is the column
            ``wide.code``, its place (from 1) ``wide.place``.
        by_date: whether a row that names no visit is put into the patient's visit of its date.
        optional: the table may be lacking or empty.

    >>> unit = Unit("diagnoses", {"code": Field(("icd",)), "visit": Field(("stay",))}, "diagnosis")
    >>> unit.lacking(["icd"])
    ['stay']
    """

    table: str
    columns: Mapping[str, Field]
    kind: str = ""
    drop_duplicates: bool = True
    systems: Mapping[str, str] = field(default_factory=dict)
    pick: Pick | None = None
    lookups: tuple[Lookup, ...] = ()
    distinct: str = ""
    wide: tuple[str, ...] = ()
    by_date: bool = False
    optional: bool = False

    @property
    def own_columns(self) -> frozenset[str]:
        """The columns of the table itself that are read, in lower case."""
        fields = (own(each.columns) for each in self.columns.values())
        return frozenset({column for columns in fields for column in columns} | self._for_rows)

    @property
    def _for_rows(self) -> set[str]:
        """The columns without which there are no rows."""
        picked = {self.pick.column} if self.pick else set()
        keys = own(lookup.key for lookup in self.lookups)
        return {*self.wide, *keys} | picked | ({self.distinct} if self.distinct else set())

    def lacking(self, there: Collection[str]) -> list[str]:
        """The columns that must be there and are not; of several for one field, one will do.

        Args:
            there: the table's columns, in lower case.
        """
        optional = set(own(lookup.key for lookup in self.lookups if lookup.optional))
        lacking = self._for_rows - optional - set(there)
        for each in self.columns.values():
            columns = own(each.columns)
            whole = len(columns) == len(each.columns)
            if whole and columns and not each.optional and not set(columns) & set(there):
                lacking.add(columns[0])
        return sorted(lacking)


def own(columns: Iterable[str]) -> tuple[str, ...]:
    """Those of some columns that are the table's own, not a lookup's."""
    return tuple(column for column in columns if "." not in column)


@dataclass(frozen=True)
class Format:
    """A format: which tables it has and what stands where.

    Attributes:
        name: what ``read(format=...)`` calls it.
        title: what people call it.
        folders: where its tables may lie below the folder that is read.
        patients, visits, events: the tables of each.
        names: tables of code names, read where they are there.
        shares_with: formats whose data hold the same admissions under other ids.

    >>> from ehrkg.ehr.formats import formats
    >>> formats()["mimic4"].needed[:2]
    ('patients', 'admissions')
    """

    name: str
    title: str
    folders: tuple[str, ...]
    patients: Unit
    visits: Unit
    events: tuple[Unit, ...]
    names: tuple[Unit, ...]
    shares_with: tuple[str, ...] = ()

    @property
    def units(self) -> tuple[Unit, ...]:
        """Every unit that makes rows, in the order in which they are read."""
        return (self.patients, self.visits, *self.events)

    @property
    def needed(self) -> tuple[str, ...]:
        """The tables without which nothing can be read."""
        tables = [unit.table for unit in self.units if not unit.optional]
        for unit in self.units:
            tables += [] if unit.optional else [o.table for o in unit.lookups if not o.optional]
        return tuple(dict.fromkeys(tables))

    @property
    def read(self) -> frozenset[str]:
        """Every table that is read where it is there."""
        units = (*self.units, *self.names)
        looked_up = {lookup.table for unit in units for lookup in unit.lookups}
        return frozenset({unit.table for unit in units} | looked_up)

    def misfit(self, columns_of: Callable[[str], Sequence[str]]) -> int:
        """How many columns that it needs some tables lack: formats may share names of tables.

        Args:
            columns_of: a table's columns as written, by its name.
        """
        there = {
            table: {column.strip().lower() for column in columns_of(table)} for table in self.needed
        }
        return sum(len(u.lacking(there[u.table])) for u in self.units if u.table in there)


def as_format(row: Mapping[str, Any]) -> Format:
    """A declaration as it stands in a YAML file."""
    return Format(
        name=row["name"],
        title=row["title"],
        folders=tuple(row["folders"]),
        patients=_unit(row["patients"]),
        visits=_unit(row["visits"]),
        events=tuple(_unit(unit) for unit in row["events"]),
        names=tuple(_unit(unit) for unit in row.get("names", ())),
        shares_with=tuple(row.get("shares_with", ())),
    )


def _unit(row: Mapping[str, Any]) -> Unit:
    return Unit(
        table=row["table"],
        columns={name: _field(column) for name, column in row["columns"].items()},
        kind=row.get("kind", ""),
        drop_duplicates=row.get("duplicates", "drop") == "drop",
        systems=row.get("systems", {}),
        pick=_pick(row),
        lookups=tuple(_lookup(each) for each in row.get("lookups", ())),
        distinct=row.get("distinct", ""),
        wide=tuple(row.get("wide", ())),
        by_date=row.get("without_visit", "drop") == "by_date",
        optional=row.get("optional", False),
    )


def _field(row: Mapping[str, Any]) -> Field:
    return Field(
        columns=_several(row.get("column", ())),
        type=row.get("type", "text"),
        needed=row.get("needed", False),
        optional=row.get("optional", False),
        part=row.get("part", ""),
        words={str(theirs): str(ours) for theirs, ours in row.get("words", {}).items()},
        value=row.get("value", ""),
    )


def _pick(row: Mapping[str, Any]) -> Pick | None:
    return Pick(**row["pick"]) if "pick" in row else None


def _lookup(row: Mapping[str, Any]) -> Lookup:
    return Lookup(
        name=row["name"],
        table=row["table"],
        key=row["key"],
        equals=row["equals"],
        columns=_several(row["columns"]),
        pick=_pick(row),
        optional=row.get("optional", False),
    )


def _several(value: str | Collection[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
