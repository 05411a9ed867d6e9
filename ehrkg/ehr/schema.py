"""The tables that reading gives: patients, ordered visits, events, codes.

Column order, types and sort keys are part of the interface; every reader produces exactly these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from ehrkg.ehr.filed import Filed, scan

TIME = pa.timestamp("s")

PATIENTS = pa.schema(
    [
        ("id", pa.string()),
        ("sex", pa.string()),  # "F", "M" or "" where the tables do not say
        ("year_group", pa.string()),  # the only thing by which dates of two patients compare
        ("split", pa.string()),  # "train", "dev" or "test", by a hash of the id
    ]
)
"""Sorted by id."""

VISITS = pa.schema(
    [
        ("id", pa.string()),
        ("patient", pa.string()),
        ("ordinal", pa.int32()),  # 1 for the patient's first visit; by admission time, then by id
        ("admitted", TIME),
        ("discharged", TIME),
        ("kind", pa.string()),
        ("age", pa.int32()),  # years at admission; 91 stands for over 89 in MIMIC-IV
        ("died", pa.bool_()),
        ("gap_days", pa.int32()),  # whole days since the discharge before; null at the first visit
    ]
)
"""Sorted by patient, ordinal."""

EVENTS = pa.schema(
    [
        ("patient", pa.string()),
        ("visit", pa.string()),
        ("code", pa.string()),  # a Code id: "ICD10CM:I50.23", "DRUGNAME:furosemide"
        ("kind", pa.string()),  # "diagnosis", "drug", "procedure"
        ("seq", pa.int32()),  # the coder's order; null for drugs
        ("start", TIME),  # drugs: start of the order; procedures: their date
        ("stop", TIME),
        ("route", pa.string()),  # the route class of routes.yaml, "" where none applies
        ("drug_type", pa.string()),  # MAIN, BASE, ADDITIVE; "" for others
        ("ndc", pa.string()),  # drugs: the National Drug Code as written, "" where none is
        ("raw_code", pa.string()),  # as written in the table
        ("source", pa.string()),  # file name, relative to the folder read
        ("row", pa.int64()),  # the line of the file's data, from 1, header not counted
    ]
)
"""events.parquet: one row an event. Sorted by visit, kind, code, route, source, row, so that
the order of the rows in a file decides nothing but the row numbers themselves."""

CODES = pa.schema(
    [
        ("id", pa.string()),  # "<system>:<code>"
        ("system", pa.string()),  # a key of code_systems.yaml
        ("code", pa.string()),  # normalised
        ("name", pa.string()),  # the code system's own name, or the drug string as first written
        ("kind", pa.string()),
    ]
)
"""Sorted by id; one row a distinct code in EVENTS."""

VISIT_CODES = pa.schema(
    [
        ("visit", pa.string()),
        ("code", pa.string()),
        ("kind", pa.string()),
        ("route", pa.string()),
        ("seq", pa.int32()),  # the least
        ("start", TIME),  # the earliest
        ("stop", TIME),  # the latest
        ("drug_type", pa.string()),  # MAIN if any row is MAIN, else the least in the alphabet
        ("n", pa.int32()),  # how many rows
        ("raw_code", pa.string()),  # of the first row (by source, row)
        ("source", pa.string()),
        ("row", pa.int64()),
    ]
)
"""One row for each (visit, code, route): the edges of the graph. Sorted by visit, code, route."""


class _Rows:
    """A table of a hospital, or what stands for one that is filed until it is asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> pa.Table:
        value: pa.Table | Filed = vars(instance)[self.name]
        return value.table if isinstance(value, Filed) else value

    def __set__(self, instance: object, value: pa.Table | Filed) -> None:
        vars(instance)[self.name] = value


@dataclass(frozen=True)
class Hospital:
    """What a hospital's tables say, read and normalised.

    Events and visit codes may be filed, where there are many: they are loaded when they are first
    asked for as tables. ``scan`` and ``count`` never load them.

    Attributes:
        format: the reader's name ("mimic4").
        patients, visits, events, codes, visit_codes: tables with the schemas of this module.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ehrkg.ehr import synth
    >>> folder = Path(tempfile.mkdtemp()) / "tables"
    >>> synth.write(folder, patients=3, shape="demo")
    >>> from ehrkg import ehr
    >>> hospital = ehr.read(folder)
    >>> hospital.count("events") == sum(len(piece) for piece in hospital.scan("events", ["code"]))
    True
    """

    format: str
    patients: pa.Table
    visits: pa.Table
    events: pa.Table
    codes: pa.Table
    visit_codes: pa.Table

    def scan(
        self, table: str, columns: Sequence[str], *, coded: Sequence[str] = ()
    ) -> Iterator[pa.Table]:
        """Columns of ``events`` or ``visit_codes`` in pieces, in the table's order.

        Args:
            table: which of the two.
            columns: which columns.
            coded: those of text that are given as dictionaries.
        """
        return scan(vars(self)[table], columns, coded)

    def count(self, table: str) -> int:
        """How many rows ``events`` or ``visit_codes`` has."""
        rows = vars(self)[table]
        return int(rows.rows if isinstance(rows, Filed) else rows.num_rows)


# after the class is made: its fields have no defaults
for _name in ("events", "visit_codes"):
    setattr(Hospital, _name, _Rows(_name))


SORTED_BY: Mapping[str, tuple[str, ...]] = {
    "patients": ("id",),
    "visits": ("patient", "ordinal"),
    "events": ("visit", "kind", "code", "route", "source", "row"),
    "codes": ("id",),
    "visit_codes": ("visit", "code", "route"),
}
"""The key by which each table of a hospital is sorted."""


def in_order(hospital: Hospital) -> Hospital:
    """The hospital with each table sorted by its key, whatever was changed in it."""
    tables = {
        name: getattr(hospital, name).sort_by([(key, "ascending") for key in keys]).combine_chunks()
        for name, keys in SORTED_BY.items()
    }
    return replace(hospital, **tables)
