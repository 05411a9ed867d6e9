"""The data of a report, read once of the demo's build, to be bent by a test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from ehrkg.evaluation import ReportData
from ehrkg.foundation.ledger import Ledger

HOSTILE = "<script>alert('x')</script> \"quoted\" & 'single'\nsecond line </style><img src=x>"
"""A name that would run, break out of an attribute, or end an element, were it not escaped."""


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """The table with a column in another's place."""
    at = table.column_names.index(name)
    return table.set_column(at, table.schema.field(name), pa.array(values, table.schema.types[at]))


def hostile(data: ReportData) -> ReportData:
    """The same report with a hostile text wherever a name of the data can stand."""
    codes, items = data.hospital.codes, data.items
    scores, evidence = data.scores, data.verified.evidence
    options = [[f"{HOSTILE} {option}" for option in row] for row in items["options"].to_pylist()]
    return replace(
        data,
        hospital=replace(
            data.hospital,
            codes=with_column(codes, "name", [HOSTILE] * codes.num_rows),
        ),
        items=with_column(
            with_column(items, "options", options), "stem", [HOSTILE] * items.num_rows
        ),
        scores=with_column(
            scores, "model", [f"{HOSTILE} {name}" for name in scores["model"].to_pylist()]
        ),
        verified=replace(
            data.verified,
            evidence=with_column(evidence, "text", [HOSTILE] * evidence.num_rows),
        ),
    )


def with_ledger(data: ReportData, **dropped: int) -> ReportData:
    """The same report with one more line in its ledger."""
    ledger = Ledger()
    ledger.extend(data.ledger)
    lost = sum(dropped.values())
    ledger.record("read", "planted", rows_in=500 + lost, rows_out=500, dropped=dropped)
    return replace(data, ledger=ledger)
