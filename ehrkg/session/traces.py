"""What of a build comes from one patient, and every table without it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

PATIENT, VISIT, TEMPLATE, ITEM, RELATION, CODE = (
    "Patient",
    "Visit",
    "Template",
    "Item",
    "Relation",
    "Code",
)

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "patients": {"id": PATIENT},
    "visits": {"patient": PATIENT},
    "visit_codes": {"visit": VISIT},
    "events": {"patient": PATIENT, "visit": VISIT},
    "quarantine": {"patient": PATIENT, "visit": VISIT},
    "codes": {"id": CODE},
    "links": {"code": CODE},
    "drug_strings": {"code": CODE},
    "candidates": {"id": RELATION},
    "relations": {"id": RELATION},
    "evidence": {"relation": RELATION},
    "templates": {"id": TEMPLATE},
    "items": {"template_id": TEMPLATE},
    "pool": {"code": CODE},
    "scores": {"template_id": TEMPLATE},
    "checks": {"items": ITEM},
}
"""By table, the columns that name something; a row that names something gone goes with it, and a
list of names loses those."""

STAGE_TABLES = {"propose": "candidates", "evaluate": "scores", "check": "checks"}
"""The tables of stages that give one table, where it is not called as the stage is."""

_EXTRACT = re.compile(r"-\d+$")


@dataclass(frozen=True)
class Traces:
    """What a patient leaves in a build.

    Attributes:
        names: by kind, the ids of what there is through this patient alone.
    """

    names: Mapping[str, frozenset[str]]

    def __getitem__(self, kind: str) -> frozenset[str]:
        return self.names.get(kind, frozenset())


def traces_of(
    patient: str,
    *,
    visits: pa.Table,
    events: pa.Table,
    relations: pa.Table,
    templates: pa.Table,
    items: pa.Table,
    quarantine: pa.Table | None = None,
) -> Traces:
    """Everything in a build that would not be there without a patient.

    Codes that nobody else has, and relations seen in nobody else, are among it, save for those
    that another patient's question still shows.

    Args:
        patient: the id, as the build has it.
        visits: VISITS.
        events: EVENTS.
        relations: RELATIONS.
        templates: TEMPLATES.
        items: ITEMS.
        quarantine: the rows of reading that could not be used, visits among them.
    """
    own_visits = visits.filter(pc.equal(visits["patient"], patient))
    own_templates = templates.filter(pc.equal(templates["patient"], patient))
    others = templates.filter(pc.not_equal(templates["patient"], patient))
    gone_templates = frozenset(own_templates["id"].to_pylist())
    lost = pc.is_in(items["template_id"], value_set=own_templates["id"].combine_chunks())
    mine = events.filter(pc.equal(events["patient"], patient))
    codes = set(mine["code"].to_pylist())
    codes -= set(events.filter(pc.not_equal(events["patient"], patient))["code"].to_pylist())
    for column in (others["context"], others["history"], others["answer"]):
        codes -= set(pc.list_flatten(column).to_pylist())
    codes -= set(pc.list_flatten(items.filter(pc.invert(lost))["option_codes"]).to_pylist())
    seen = _relations_seen(own_visits, mine, relations)
    seen |= {
        row["id"]
        for row in relations.select(["id", "head", "tail"]).to_pylist()
        if row["head"] in codes or row["tail"] in codes
    }
    return Traces(
        {
            PATIENT: frozenset([patient]),
            VISIT: frozenset(own_visits["id"].to_pylist()) | _unusable(patient, visits, quarantine),
            TEMPLATE: gone_templates,
            ITEM: frozenset(items.filter(lost)["item_id"].to_pylist()),
            RELATION: frozenset(seen - set(others["relation"].to_pylist())),
            CODE: frozenset(codes),
        }
    )


def _unusable(patient: str, visits: pa.Table, quarantine: pa.Table | None) -> frozenset[str]:
    """Visits that only rows name which could not be used; a wrong row may name another's."""
    if quarantine is None:
        return frozenset()
    named = quarantine.filter(pc.equal(quarantine["patient"], patient))["visit"].to_pylist()
    return frozenset(named) - set(visits["id"].to_pylist()) - {"", None}


def _relations_seen(visits: pa.Table, events: pa.Table, relations: pa.Table) -> set[str]:
    """Relations that one patient shows, and whose visits show them in these."""
    held: dict[str, set[tuple[str, str]]] = {}
    for row in events.select(["visit", "code", "route"]).to_pylist():
        held.setdefault(row["visit"], set()).add((row["code"], row["route"]))
    order = [held.get(one, set()) for one in visits.sort_by("ordinal")["id"].to_pylist()]
    seen = {
        (*head, tail)
        for here, place in zip(order, range(len(order)), strict=True)
        for later in order[place : place + 2]
        for head in here
        for tail, _ in later
    }
    rows = relations.select(["id", "head", "route", "tail", "n_patients"]).to_pylist()
    return {
        row["id"]
        for row in rows
        if row["n_patients"] == 1 and (row["head"], row["route"], row["tail"]) in seen
    }


def table_name(path: Path) -> str:
    """Which table a file of a build holds, by its name and its stage's.

    >>> table_name(Path(".work/read-1/field-visits.arrow")), table_name(Path("items.parquet"))
    ('visits', 'items')
    >>> table_name(Path(".work/evaluate/table.arrow"))
    'scores'
    """
    if path.parent.name == "quarantine" or path.stem.startswith("quarantine-"):
        return "quarantine"
    if path.stem != "table":
        return path.stem.removeprefix("field-")
    stage = _EXTRACT.sub("", path.parent.name)
    return STAGE_TABLES.get(stage, stage)


def without(table: pa.Table, columns: Mapping[str, str], traces: Traces) -> pa.Table:
    """A table's rows that name nothing gone; lists lose what they name of it.

    Args:
        table: any table.
        columns: a row of ``COLUMNS``.
        traces: what is gone.
    """
    for name, kind in columns.items():
        if name not in table.column_names:
            continue
        column = table[name]
        if pa.types.is_list(column.type):
            table = table.set_column(
                table.column_names.index(name), name, _thinned(column, traces[kind])
            )
        else:
            gone = pa.array(sorted(traces[kind]), pa.string())
            table = table.filter(pc.invert(pc.is_in(column, value_set=gone)))
    return table


def _thinned(column: pa.ChunkedArray, gone: Collection[str]) -> pa.Array:
    lists = [
        None if row is None else [one for one in row if one not in gone]
        for row in column.to_pylist()
    ]
    return pa.array(lists, column.type)
