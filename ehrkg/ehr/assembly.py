"""From a source's tables to the tables of ``ehrkg.ehr.schema``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ehr import schema
from ehrkg.ehr.codes import WHITE_SPACE
from ehrkg.ehr.events import code_column, event_rows, read_events
from ehrkg.ehr.fields import matches
from ehrkg.ehr.filed import IN_MEMORY, Filed, rows_of
from ehrkg.ehr.formats import Format, Unit
from ehrkg.ehr.sources import Source
from ehrkg.ehr.staging import STAGE, Staged, hold, reject_repeats, settle, stage
from ehrkg.ehr.visit_codes import visit_codes, whole_visits
from ehrkg.ehr.visits import read_visits, visit_table
from ehrkg.foundation.hashing import unit as hashed_unit
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, StringValue, Table

SPLITS = (("train", 0.7), ("dev", 0.8), ("test", 1.0))
"""Each split and the number in [0, 1) below which a patient's hash falls into it."""


def assemble(
    source: Source,
    form: Format,
    ledger: Ledger,
    progress: Progress,
) -> schema.Hospital:
    """Read all tables of a format.

    Args:
        source: where the tables are; closed by the caller.
        form: the format's declaration.
        ledger: takes the account and the unusable rows.
        progress: told of each table.
    """
    events_there = [unit for unit in form.events if unit.table in source.tables()]
    progress.start("reading tables", len(events_there) + 3)
    quarantine: list[pa.Table] = []

    def finish(staged: Staged) -> Table:
        quarantine.append(settle(source, staged, ledger))
        progress.advance()
        return staged.usable

    patients = finish(_patients(source, form, ledger))
    all_visits = read_visits(source, form, patients, ledger)
    visits = finish(all_visits)
    parts = []
    for unit, name in _named(events_there):
        usable = finish(read_events(source, unit, name, patients, all_visits, ledger))
        parts.append(event_rows(unit, usable, name, ledger))
    events = source.keep(_union(parts), "events")
    for _, name in _named(events_there):
        source.release(f"rows_{name}")
    ledger.quarantine[STAGE] = pa.concat_tables(quarantine).sort_by(
        [("source", "ascending"), ("row", "ascending"), ("unit", "ascending")]
    )
    _account_for_shared_tables(source, form, ledger)
    codes = _code_table(source, events, form, ledger)
    in_order, edges = _in_order(source, events)
    hospital = schema.Hospital(
        format=form.name,
        patients=_patient_table(patients),
        visits=visit_table(visits, patients, ledger),
        events=in_order,
        codes=codes,
        visit_codes=edges,
    )
    progress.advance()
    return hospital


def _named(units: list[Unit]) -> list[tuple[Unit, str]]:
    """Each table of events and what the ledger calls it: its kind, or kind and table."""
    kinds = Counter(unit.kind for unit in units)
    return [(u, u.kind if kinds[u.kind] == 1 else f"{u.kind} ({u.table})") for u in units]


def _patients(source: Source, form: Format, ledger: Ledger) -> Staged:
    unit = form.patients
    staged = stage(source, unit, "patient", ledger)
    staged = reject_repeats(staged, list(unit.columns), "duplicate_row")
    return hold(source, reject_repeats(staged, ["patient"], "duplicate_id"))


def _account_for_shared_tables(source: Source, form: Format, ledger: Ledger) -> None:
    """A table from which several units pick rows: what none of them picks is counted too."""
    picked = [unit for unit in (form.visits, *form.events) if unit.pick is not None]
    for table in sorted({unit.table for unit in picked} & set(source.tables())):
        units = [unit for unit in picked if unit.table == table]
        columns = {unit.pick.column for unit in units if unit.pick}
        raw = source.open(table, columns, name=f"all_{table}")
        wanted: BooleanValue | None = None
        for unit in units:
            if unit.pick is not None:
                own = matches(raw.text, unit.pick)
                wanted = own if wanted is None else wanted | own
        used = raw.text.filter(wanted).count().to_pyarrow().as_py()
        ledger.record(
            STAGE,
            f"table {table}",
            rows_in=raw.rows,
            rows_out=used,
            dropped={"other_events": raw.rows - used},
        )
        source.release(f"all_{table}")


def _union(parts: list[Table]) -> Table:
    import ibis

    return ibis.union(*parts) if len(parts) > 1 else parts[0]


def _patient_table(patients: Table) -> pa.Table:
    table = patients.order_by("patient").to_pyarrow()
    ids = table.column("patient").to_pylist()
    empty = [""] * len(ids)
    written = table.column("sex").to_pylist() if "sex" in table.column_names else empty
    sex = [each[:1].upper() if each[:1].upper() in ("F", "M") else "" for each in written]
    years = table.column("year_group").to_pylist() if "year_group" in table.column_names else empty
    return pa.table([ids, sex, years, [split_of(each) for each in ids]], schema=schema.PATIENTS)


def split_of(patient: str) -> str:
    """The split of a patient, by a hash of the id: 70 % train, 10 % dev, 20 % test.

    >>> split_of("10000032") == split_of("10000032")
    True
    """
    place = hashed_unit("split", patient)
    return next(name for name, below in SPLITS if place < below)


def _in_order(source: Source, events: Table) -> tuple[pa.Table | Filed, pa.Table | Filed]:
    """The sorted events, and one row for each (visit, code, route) of them: in one pass."""
    filed = int(events.count().to_pyarrow().as_py()) > IN_MEMORY
    ordered = events.select(*schema.EVENTS.names).order_by(schema.SORTED_BY["events"])
    edges: list[pa.Table] = []
    edge_file = Filed(schema.VISIT_CODES) if filed else None

    def pieces() -> Iterator[pa.Table]:
        for piece in whole_visits(source.fetch(ordered)):
            found = visit_codes(piece)
            edges.append(found) if edge_file is None else edge_file.add(found)
            yield piece

    in_order = rows_of(pieces(), schema.EVENTS, filed=filed)
    if edge_file is None:
        return in_order, pa.concat_tables([schema.VISIT_CODES.empty_table(), *edges])
    edge_file.done()
    return in_order, edge_file


def _code_table(source: Source, events: Table, form: Format, ledger: Ledger) -> pa.Table:
    """The distinct codes with their names: from the tables of names, else the rows' own.

    Of several the one most often written counts; ties go to the least in the alphabet, so the order
    of rows is no matter.
    """
    import ibis

    rows = events.group_by(["code", "kind", "raw_code", "name"]).agg(n=events.count())
    system = rows.code.split(":")[0]
    written = ibis.ifelse(system == "DRUGNAME", spelled(rows.raw_code), rows.name)
    codes = most_written(rows.mutate(written=written))
    name = codes.written
    names = _names(source, form, ledger)
    if names is not None:
        codes = codes.left_join(names, codes.code == names.name_code)
        name = ibis.coalesce(codes.long_name, codes.written)
    system = codes.code.split(":")[0]
    code = codes.code.substr(system.length() + 1)
    chosen = codes.select(id="code", system=system, code=code, name=name, kind="kind")
    return chosen.order_by("id").to_pyarrow().cast(schema.CODES)


def spelled(raw_code: StringValue) -> StringValue:
    """What is written of a drug, with one space where several stood."""
    return raw_code.re_replace(f"[{WHITE_SPACE}]+", " ").strip()


def most_written(rows: Table) -> Table:
    """For each code, the ``kind`` and ``written`` that stand most often; ties: the least.

    Args:
        rows: ``code``, ``kind``, ``written``, and ``n``: how often it stands there.
    """
    import ibis

    counted = rows.group_by(["code", "kind", "written"]).agg(n=rows.n.sum())
    place = ibis.row_number().over(
        group_by=counted.code, order_by=[counted.n.desc(), counted.written, counted.kind]
    )
    return counted.mutate(place=place).filter(lambda t: t.place == 0)


def _names(source: Source, form: Format, ledger: Ledger) -> Table | None:
    parts = []
    for place, unit in enumerate(form.names):
        if unit.table in source.tables():
            rows = stage(source, unit, f"name {place} ({unit.table})", ledger).usable
            parts.append(rows.select(name_code=code_column(unit, rows), long_name=rows.name))
    if not parts:
        return None
    names = _union(parts)
    names = names.filter(names.name_code.notnull() & (names.long_name != ""))
    return names.group_by("name_code").agg(long_name=names.long_name.min())
