"""Several extracts of one hospital as one: more patients, or more visits of known ones.

Each extract stands on its own: it holds the patients that its visits name, and the visits that its
events name. Of what two of them hold the earlier extract's counts, so that adding one later gives
what reading all at once gives.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr import schema
from ehrkg.ehr.assembly import most_written, spelled
from ehrkg.ehr.staging import QUARANTINE
from ehrkg.ehr.visits import gap_days, in_time_order
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger

if TYPE_CHECKING:
    from ibis.expr.types import Table

STAGE = "join"

_DERIVED = ("ordinal", "gap_days")
"""Columns of a visit that its neighbours decide."""

_PLACE = ("source", "row")


def join(extracts: Sequence[schema.Hospital], *, ledger: Ledger | None = None) -> schema.Hospital:
    """Extracts of one hospital as one.

    A row's source is then its file behind ``extract-1/``, ``extract-2/`` and so on. A visit that
    two extracts hold counts once (``known_visit``); where its rows differ, the earlier extract's
    stay, and the later one's are counted as ``visit_differs`` and go into the quarantine.

    Args:
        extracts: what reading each of them gave, in the order in which they came.
        ledger: takes the account and the rows left out; a fresh one by default.

    Raises:
        UsageError: they are of different formats, whose ids do not name the same things.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ehrkg.ehr import synth
    >>> folder = Path(tempfile.mkdtemp()) / "tables"
    >>> synth.write(folder, patients=3, shape="demo")
    >>> from ehrkg import ehr
    >>> extract = ehr.read(folder)
    >>> join([extract, extract]).visits.equals(extract.visits)  # each visit counts once
    True
    """
    ledger = Ledger() if ledger is None else ledger
    formats = sorted({each.format for each in extracts})
    if len(formats) > 1:
        raise UsageError(
            f"these extracts are of different formats: {', '.join(formats)}",
            todo="make a build of each: nothing says that their ids mean the same",
        )
    named = [named_source(each, place) for place, each in enumerate(extracts, 1)]
    together = reduce(lambda first, second: _two(first, second, ledger), named)
    visits = _in_order(together.visits)
    return schema.in_order(replace(together, visits=visits, codes=_codes(named, together.events)))


def source_name(place: int, source: str) -> str:
    """What a file of the extract at a place is called.

    >>> source_name(2, "hosp/diagnoses_icd.csv.gz")
    'extract-2/hosp/diagnoses_icd.csv.gz'
    """
    return f"extract-{place}/{source}"


def with_source(table: pa.Table, place: int) -> pa.Table:
    """A table whose rows say of which extract their source is."""
    at = table.column_names.index("source")
    named = pc.binary_join_element_wise(source_name(place, ""), table["source"], "")
    return table.set_column(at, table.schema.field(at), named.cast(table.schema.field(at).type))


def named_source(hospital: schema.Hospital, place: int) -> schema.Hospital:
    """An extract whose rows say that they are of the one at this place."""
    return replace(
        hospital,
        events=with_source(hospital.events, place),
        visit_codes=with_source(hospital.visit_codes, place),
    )


@dataclass(frozen=True)
class _Visits:
    """Ids of a later extract's visits, by what becomes of them."""

    known: pa.Array
    differing: pa.Array

    def reason(self, table: pa.Table, column: str) -> list[tuple[str, pa.Table]]:
        """The rows of visits that are there already, by reason."""
        differs = pc.is_in(table[column], value_set=self.differing)
        known = pc.and_not(pc.is_in(table[column], value_set=self.known), differs)
        return [("visit_differs", table.filter(differs)), ("known_visit", table.filter(known))]

    def new(self, table: pa.Table, column: str) -> pa.Table:
        """The rows of visits that are not there yet."""
        return table.filter(pc.invert(pc.is_in(table[column], value_set=self.known)))


def _two(first: schema.Hospital, second: schema.Hospital, ledger: Ledger) -> schema.Hospital:
    visits = _compare(first, second)
    patients = _new_patients(first.patients, second.patients, ledger)
    _account(ledger, "visit", second.visits, "id", visits)
    for kind in sorted(pc.unique(second.events["kind"]).to_pylist()):
        rows = second.events.filter(pc.equal(second.events["kind"], kind))
        _account(ledger, kind, rows, "visit", visits)
    _keep_differing(second.events, visits, ledger)
    return replace(
        first,
        patients=pa.concat_tables([first.patients, patients]),
        visits=pa.concat_tables([first.visits, visits.new(second.visits, "id")]),
        events=pa.concat_tables([first.events, visits.new(second.events, "visit")]),
        visit_codes=pa.concat_tables([first.visit_codes, visits.new(second.visit_codes, "visit")]),
    )


def _compare(first: schema.Hospital, second: schema.Hospital) -> _Visits:
    known = second.visits["id"].filter(
        pc.is_in(second.visits["id"], value_set=_array(first.visits["id"]))
    )
    known = _array(known)
    if not len(known):
        return _Visits(known, known)

    import ibis

    con = ibis.duckdb.connect()
    try:
        own = [name for name in schema.VISITS.names if name not in _DERIVED]
        said = [name for name in schema.EVENTS.names if name not in _PLACE]
        differing: set[str] = set()
        for table, key, columns in (("visits", "id", own), ("events", "visit", said)):
            sides = [
                _counted(getattr(side, table), key, columns, known) for side in (first, second)
            ]
            for here, there in (sides, sides[::-1]):
                found = con.to_pyarrow(here.difference(there).select(key).distinct())
                differing.update(found[key].to_pylist())
    finally:
        con.disconnect()
    return _Visits(known, pa.array(sorted(differing), pa.string()))


def _counted(table: pa.Table, key: str, columns: list[str], known: pa.Array) -> Table:
    """Each distinct row of the known visits, and how often it stands there."""
    import ibis

    rows = ibis.memtable(table.select(columns).filter(pc.is_in(table[key], value_set=known)))
    return rows.group_by(columns).agg(times=rows.count())


def _new_patients(first: pa.Table, second: pa.Table, ledger: Ledger) -> pa.Table:
    """Patients of the later extract who are not in the earlier ones; the others are counted."""
    known = pc.is_in(second["id"], value_set=_array(first["id"]))
    said = {row["id"]: row for row in first.to_pylist()} if pc.any(known).as_py() else {}
    differing = sum(said[row["id"]] != row for row in second.filter(known).to_pylist())
    new = second.filter(pc.invert(known))
    ledger.record(
        STAGE,
        "patient",
        rows_in=second.num_rows,
        rows_out=new.num_rows,
        dropped={
            "known_patient": second.num_rows - new.num_rows - differing,
            "patient_differs": differing,
        },
    )
    return new


def _account(ledger: Ledger, unit: str, rows: pa.Table, column: str, visits: _Visits) -> None:
    dropped = {reason: part.num_rows for reason, part in visits.reason(rows, column)}
    left = rows.num_rows - sum(dropped.values())
    ledger.record(STAGE, unit, rows_in=rows.num_rows, rows_out=left, dropped=dropped)


def _keep_differing(events: pa.Table, visits: _Visits, ledger: Ledger) -> None:
    """Put the later rows of visits that differ into the quarantine."""
    rows = events.filter(pc.is_in(events["visit"], value_set=visits.differing))
    if not rows.num_rows:
        return
    kept = [
        {
            **{name: row[name] for name in ("source", "row", "patient", "visit")},
            "unit": row["kind"],
            "reason": "visit_differs",
            "raw": json.dumps(
                {name: str(row[name]) for name in ("code", "raw_code", "seq", "start", "stop")},
                ensure_ascii=False,
            ),
        }
        for row in rows.to_pylist()
    ]
    earlier = ledger.quarantine.get(STAGE, QUARANTINE.empty_table())
    found = pa.concat_tables([earlier, pa.Table.from_pylist(kept, schema=QUARANTINE)])
    ledger.quarantine[STAGE] = found.sort_by([(name, "ascending") for name in _PLACE])


def _in_order(visits: pa.Table) -> pa.Table:
    """Visits with their ordinals and gaps, as reading all extracts at once gives them."""
    import ibis

    con = ibis.duckdb.connect()
    try:
        rows = ibis.memtable(visits.drop_columns(list(_DERIVED)).rename_columns({"id": "visit"}))
        rows = in_time_order(rows)
        columns = {name: name for name in schema.VISITS.names} | {"id": "visit"}
        found = con.to_pyarrow(rows.select(**columns | {"gap_days": gap_days(rows)}))
    finally:
        con.disconnect()
    return found.cast(schema.VISITS)


def _codes(extracts: Sequence[schema.Hospital], events: pa.Table) -> pa.Table:
    """The codes that occur, under the first name in the alphabet that an extract has for them.

    Drugs that are named by what is written go by what is written most often in all extracts.
    """
    occurring = set(pc.unique(events["code"]).to_pylist())
    found: dict[str, dict[str, str]] = {}
    for each in extracts:
        for row in each.codes.to_pylist():
            earlier = found.setdefault(row["id"], row)
            names = sorted(name for name in (earlier["name"], row["name"]) if name)
            found[row["id"]] = earlier | {"name": names[0] if names else earlier["name"]}
    written = _written(events)
    rows = [
        row | {"name": written.get(code, row["name"])}
        for code, row in sorted(found.items())
        if code in occurring
    ]
    return pa.Table.from_pylist(rows, schema=schema.CODES)


def _written(events: pa.Table) -> dict[str, str]:
    import ibis

    con = ibis.duckdb.connect()
    try:
        drugs = events.filter(pc.starts_with(events["code"], "DRUGNAME:"))
        rows = ibis.memtable(drugs.select(["code", "kind", "raw_code"]))
        found = con.to_pyarrow(most_written(rows.mutate(written=spelled(rows.raw_code), n=1)))
    finally:
        con.disconnect()
    return dict(zip(found["code"].to_pylist(), found["written"].to_pylist(), strict=True))


def _array(column: pa.ChunkedArray) -> pa.Array:
    return pa.array(column.to_pylist(), pa.string())
