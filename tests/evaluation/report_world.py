"""The data of a report, read once of the demo's build, to be bent by a test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

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


def with_model(data: ReportData, name: str = "test/model", **values: Any) -> ReportData:
    """The same report with a model that answered some questions by likelihood, with its controls,
    and with its options in another order.

    Args:
        data: the report.
        name: the model's.
        values: of columns of its scores, the same in each row.
    """
    asked = data.scores.filter(pc.equal(data.scores["format"], "mcq"))
    asked = asked.filter(pc.equal(asked["model"], "embedding similarity"))
    said = {
        "plain": "likelihood",
        "no_stem": "likelihood+no_stem",
        "other_stem": "likelihood+other_stem",
    }
    rows = [
        row
        | {
            "model": name,
            "setting": said[row["setting"]],
            "answered": "the answer of a model",
            "parsed": row["item_id"] != asked["item_id"][0].as_py(),
            "probabilities": [0.4, *[0.6 / (row["n_options"] - 1)] * (row["n_options"] - 1)],
            "tokens_in": 200,
            "tokens_out": 3,
            "cost": 0.001,
            "seconds": 0.5,
        }
        | values
        for row in asked.to_pylist()
    ]
    rows += [
        row | {"setting": "perturbed:option_order+likelihood", "correct": 0.5}
        for row in rows
        if row["setting"] == "likelihood"
    ]
    told = {"model": name, "setting": "likelihood", "remote": True, "versions": {"inspect": "1"}}
    told |= {"consent": {"no_training": True}}
    manifest = dict(data.manifest) | {"evaluations": [told]}
    scores = pa.concat_tables([data.scores, pa.Table.from_pylist(rows, data.scores.schema)])
    return replace(data, manifest=manifest, scores=scores)


def with_few(data: ReportData, few: int) -> ReportData:
    """The same report with ``few`` of something wherever a small count can stand.

    Args:
        data: the report.
        few: 1 to 9; counts that it adds to stay in their ten.
    """
    ledger = Ledger()
    ledger.extend(data.ledger)
    ledger.record(
        "read", "planted.rows", rows_in=509, rows_out=509 - few, dropped={"planted_reason": few}
    )
    patients = list(dict.fromkeys(data.scores["cluster"].to_pylist()))[:few]
    theirs = data.scores.filter(pc.is_in(data.scores["cluster"], value_set=pa.array(patients)))
    theirs = theirs.filter(pc.equal(theirs["model"], "most frequent option"))
    tiny = with_column(theirs, "model", ["tiny/model"] * theirs.num_rows)
    check = {"rule": "planted_rule", "task": "", "n": few, "value": few / 10, "bound": 0.0}
    check |= {"status": "failed", "text": f"{few} of {few} questions of {patients[0]}", "items": []}
    manifest = dict(data.manifest)
    manifest["outputs"] = {"planted.parquet": {"rows": few, "content": "c", "sha256": "s"}}
    manifest["graph"] = {"content": "c", "counts": {"Planted": few}}
    manifest["planted"] = [
        {"kind": "noise", "planted": 509, "proposed": 500 + few, "supported": few}
        | {"low": few / 10, "high": few / 10}
    ]
    return replace(
        data,
        manifest=manifest,
        ledger=ledger,
        checks=[*data.checks, check],
        scores=pa.concat_tables([data.scores, tiny]),
    )
