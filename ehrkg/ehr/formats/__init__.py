"""The formats of hospital tables, one declaration a file: a new format is a new YAML file here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from ehrkg.foundation.errors import UsageError


@dataclass(frozen=True)
class Field:
    """Where one of our fields stands.

    Attributes:
        column: the table's column, in lower case.
        type: text, id (text that must not be empty), int or time.
        needed: an empty value makes the row unusable.
    """

    column: str
    type: str
    needed: bool = False


@dataclass(frozen=True)
class Unit:
    """One table of a format, and how its rows are to be read.

    Attributes:
        table: its name, in lower case.
        columns: its fields by our name.
        kind: the kind of code in it, "" where it holds none.
        drop_duplicates: whether a row that repeats another in all fields is dropped.
        systems: the code system by the value of the field ``version`` ("" where there is none).
    """

    table: str
    columns: Mapping[str, Field]
    kind: str = ""
    drop_duplicates: bool = True
    systems: Mapping[str, str] = field(default_factory=dict)

    def fields(self, kind: str) -> list[str]:
        """Our names of the fields of a type."""
        return [name for name, column in self.columns.items() if column.type == kind]


@dataclass(frozen=True)
class Format:
    """A format: which tables it has and what stands where.

    Attributes:
        name: what ``read(format=...)`` calls it.
        title: what people call it.
        folders: where its tables may lie below the folder that is read.
        patients, visits, events: the tables that must be there.
        names: tables of code names, read where they are there.
    """

    name: str
    title: str
    folders: tuple[str, ...]
    patients: Unit
    visits: Unit
    events: tuple[Unit, ...]
    names: tuple[Unit, ...]

    @property
    def needed(self) -> tuple[str, ...]:
        """The tables without which nothing can be read."""
        return (self.patients.table, self.visits.table, *(unit.table for unit in self.events))


def _unit(row: Mapping[str, Any]) -> Unit:
    return Unit(
        table=row["table"],
        columns={name: Field(**column) for name, column in row["columns"].items()},
        kind=row.get("kind", ""),
        drop_duplicates=row.get("duplicates", "drop") == "drop",
        systems=row.get("codes", {}).get("systems", {}),
    )


def _format(path: Path) -> Format:
    row = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Format(
        name=row["name"],
        title=row["title"],
        folders=tuple(row["folders"]),
        patients=_unit(row["patients"]),
        visits=_unit(row["visits"]),
        events=tuple(_unit(unit) for unit in row["events"]),
        names=tuple(_unit(unit) for unit in row["names"]),
    )


@cache
def formats() -> Mapping[str, Format]:
    """Every format by name.

    >>> formats()["mimic4"].needed[:2]
    ('patients', 'admissions')
    """
    found = map(_format, sorted(Path(__file__).parent.glob("*.yaml")))
    return MappingProxyType({each.name: each for each in found})


def format_named(name: str) -> Format:
    """The format of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if name not in formats():
        raise UsageError(f"unknown format: {name!r}", todo="use one of " + ", ".join(formats()))
    return formats()[name]
