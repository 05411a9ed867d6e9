"""From typed rows to the tables of ``ehrkg.ehr.schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ehr import schema
from ehrkg.ehr.codes import WHITE_SPACE, normalise_column
from ehrkg.ehr.formats import Format, Unit
from ehrkg.ehr.routes import WORDS, fold_column, route_column
from ehrkg.ehr.sources import Source
from ehrkg.ehr.staging import STAGE, Staged, hold, reject, reject_repeats, settle, stage
from ehrkg.foundation.hashing import unit as hashed_unit
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress

if TYPE_CHECKING:
    from ibis.expr.types import StringValue, Table

SPLITS = (("train", 0.7), ("dev", 0.8), ("test", 1.0))
"""Each split and the number in [0, 1) below which a patient's hash falls into it."""

OVER_89 = 91
"""The age that stands for everyone over 89 (MIMIC-IV's own convention)."""

ROUTE_WORDS_NAMED = 20
"""So many unknown words for routes get a line of the ledger each; the rest share one."""

_DAY = 86_400


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
    progress.start("reading tables", len(form.needed) + 1)
    quarantine: list[pa.Table] = []

    def finish(staged: Staged) -> Table:
        quarantine.append(settle(source, staged, ledger))
        progress.advance()
        return staged.usable

    patients = finish(_patients(source, form))
    all_visits = _visits(source, form, patients)
    visits = finish(all_visits)
    parts = []
    for unit in form.events:
        usable = finish(_events(source, unit, patients, all_visits))
        parts.append(_event_rows(unit, usable, ledger))
    events = source.keep(_union(parts), "events")
    ledger.quarantine[STAGE] = pa.concat_tables(quarantine).sort_by(
        [("source", "ascending"), ("row", "ascending")]
    )
    hospital = schema.Hospital(
        format=form.name,
        patients=_patient_table(patients),
        visits=_visit_table(visits, patients),
        events=_event_table(events),
        codes=_code_table(source, events, form),
        visit_codes=_visit_code_table(events),
    )
    progress.advance()
    return hospital


def _patients(source: Source, form: Format) -> Staged:
    unit = form.patients
    staged = stage(source, unit, "patient")
    staged = reject_repeats(staged, list(unit.columns), "duplicate_row")
    return hold(source, reject_repeats(staged, ["patient"], "duplicate_id"))


def _visits(source: Source, form: Format, patients: Table) -> Staged:
    unit = form.visits
    staged = stage(source, unit, "visit")
    rows = staged.rows
    reasons = [
        (~rows.patient.isin(patients.patient), "unknown_patient"),
        (rows.discharged < rows.admitted, "reversed_times"),
    ]
    staged = reject(staged, rows, reasons)
    staged = reject_repeats(staged, list(unit.columns), "duplicate_row")
    return hold(source, reject_repeats(staged, ["visit"], "duplicate_id"))


def _events(source: Source, unit: Unit, patients: Table, visits: Staged) -> Staged:
    import ibis

    staged = stage(source, unit, unit.kind)
    usable = visits.usable.select(visit_id="visit", visit_patient="patient")
    rows = staged.rows.left_join(usable, staged.rows.visit == usable.visit_id)
    known = visits.rows.visit
    version = rows.version if "version" in unit.columns else ibis.literal("")
    empty = rows.code.re_replace(f"[{WHITE_SPACE}.]+", "") == ""
    reasons = [
        (~rows.patient.isin(patients.patient), "unknown_patient"),
        (~rows.visit.isin(known), "no_visit"),
        (rows.visit_id.isnull(), "visit_unusable"),
        (rows.visit_patient != rows.patient, "visit_of_another_patient"),
        (empty, "empty_code"),
        (~version.isin(list(unit.systems)), "unknown_code_version"),
    ]
    staged = reject(staged, rows, reasons)
    if unit.drop_duplicates:
        staged = reject_repeats(staged, list(unit.columns), "duplicate_row")
    return hold(source, staged)


def _event_rows(unit: Unit, rows: Table, ledger: Ledger) -> Table:
    """Usable rows of one table as rows of EVENTS; what is mended is counted."""
    import ibis

    start = rows.start if "start" in unit.columns else ibis.null("timestamp(6)")
    stop = rows.stop if "stop" in unit.columns else ibis.null("timestamp(6)")
    route: StringValue = ibis.literal("")
    if {"start", "stop"} <= set(unit.columns):
        reversed_ = rows.filter(rows.stop < rows.start).count().to_pyarrow().as_py()
        _record_mended(ledger, f"{unit.kind}.stop_before_start", reversed_)
        stop = ibis.ifelse(rows.stop < rows.start, ibis.null("timestamp(6)"), rows.stop)
    if "route" in unit.columns:
        words = _count_routes(rows, unit.kind, ledger)
        route = route_column(fold_column(rows.route), words)
    return rows.select(
        patient="patient",
        visit="visit",
        code=_code_column(unit, rows),
        kind=ibis.literal(unit.kind),
        seq=rows.seq if "seq" in unit.columns else ibis.null("int32"),
        start=start,
        stop=stop,
        route=route,
        drug_type=rows.drug_type.upper() if "drug_type" in unit.columns else ibis.literal(""),
        raw_code="raw_code",
        source="source",
        row="row",
    ).cast({"seq": "int32", "start": "timestamp(6)", "stop": "timestamp(6)"})


def _code_column(unit: Unit, rows: Table) -> StringValue:
    """Code ids out of the columns ``code`` and, where there is one, ``version``."""
    import ibis

    if "version" not in unit.columns:
        system = unit.systems[""]
        return ibis.literal(f"{system}:") + normalise_column(system, rows.code)
    ids = {
        version: ibis.literal(f"{system}:") + normalise_column(system, rows.code)
        for version, system in unit.systems.items()
    }
    return ibis.cases(*((rows.version == version, ids[version]) for version in ids))


def _record_mended(ledger: Ledger, unit: str, rows: int) -> None:
    if rows:
        ledger.record(STAGE, unit, rows_in=int(rows), rows_out=int(rows))


def _count_routes(rows: Table, kind: str, ledger: Ledger) -> set[str]:
    """The known words for routes that occur; the unknown ones are counted in the ledger."""
    words = rows.select(word=fold_column(rows.route))
    found = words.group_by("word").agg(n=words.count()).to_pyarrow().to_pylist()
    counted = [each for each in found if each["word"] not in WORDS]
    counted.sort(key=lambda each: (-each["n"], each["word"]))
    for each in counted[:ROUTE_WORDS_NAMED]:
        _record_mended(ledger, f"{kind}.unknown_route.{each['word']}", each["n"])
    rest = sum(each["n"] for each in counted[ROUTE_WORDS_NAMED:])
    _record_mended(ledger, f"{kind}.unknown_route", rest)
    return {each["word"] for each in found} & set(WORDS)


def _union(parts: list[Table]) -> Table:
    import ibis

    return ibis.union(*parts) if len(parts) > 1 else parts[0]


def _patient_table(patients: Table) -> pa.Table:
    table = patients.select("patient", "sex", "year_group").order_by("patient").to_pyarrow()
    ids = table.column("patient").to_pylist()
    letters = (each.upper() for each in table.column("sex").to_pylist())
    sex = [letter if letter in ("F", "M") else "" for letter in letters]
    columns = [ids, sex, table.column("year_group").to_pylist(), [split_of(each) for each in ids]]
    return pa.table(columns, schema=schema.PATIENTS)


def split_of(patient: str) -> str:
    """The split of a patient, by a hash of the id: 70 % train, 10 % dev, 20 % test.

    >>> split_of("10000032") == split_of("10000032")
    True
    """
    place = hashed_unit("split", patient)
    return next(name for name, below in SPLITS if place < below)


def _visit_table(visits: Table, patients: Table) -> pa.Table:
    import ibis

    who = patients.select(patient_id="patient", anchor_age="anchor_age", anchor_year="anchor_year")
    rows = visits.join(who, visits.patient == who.patient_id)
    order = {"group_by": rows.patient, "order_by": [rows.admitted, rows.visit]}
    rows = rows.mutate(
        ordinal=ibis.row_number().over(**order) + 1,
        latest=rows.discharged.max().over(ibis.cumulative_window(**order)),
    )
    before = rows.latest.lag().over(group_by=rows.patient, order_by=rows.ordinal)
    gap = (rows.admitted.epoch_seconds() - before.epoch_seconds()) / _DAY
    age = rows.anchor_age + rows.admitted.year() - rows.anchor_year
    over_89 = (rows.anchor_age >= OVER_89) | (age >= 90)
    return (
        rows.select(
            id="visit",
            patient="patient",
            ordinal="ordinal",
            admitted="admitted",
            discharged="discharged",
            kind="kind",
            age=ibis.ifelse(over_89, OVER_89, age),
            died=rows.death.notnull() | (rows.died == "1"),
            gap_days=gap.floor(),
        )
        .order_by(["patient", "ordinal"])
        .to_pyarrow()
        .cast(schema.VISITS)
    )


def _event_table(events: Table) -> pa.Table:
    keys = ["visit", "kind", "code", "route", "source", "row"]
    return events.order_by(keys).to_pyarrow().cast(schema.EVENTS)


def _visit_code_table(events: Table) -> pa.Table:
    import ibis

    first = {"order_by": [events.source, events.row]}
    main = (events.drug_type == "MAIN").any()
    return (
        events.group_by(["visit", "code", "kind", "route"])
        .agg(
            seq=events.seq.min(),
            start=events.start.min(),
            stop=events.stop.max(),
            drug_type=ibis.ifelse(main, "MAIN", events.drug_type.min()),
            n=events.count(),
            raw_code=events.raw_code.first(**first),
            source=events.source.first(**first),
            row=events.row.first(**first),
        )
        .order_by(["visit", "code", "route"])
        .to_pyarrow()
        .cast(schema.VISIT_CODES)
    )


def _code_table(source: Source, events: Table, form: Format) -> pa.Table:
    """The distinct codes with their names: the tables' own, or the drug string most often written.

    Ties go to the least in the alphabet, so the order of rows is no matter.
    """
    import ibis

    spelling = events.raw_code.re_replace(f"[{WHITE_SPACE}]+", " ").strip()
    written = events.mutate(spelling=spelling).group_by(["code", "kind", "spelling"])
    written = written.agg(n=lambda t: t.count())
    place = ibis.row_number().over(
        group_by=written.code, order_by=[written.n.desc(), written.spelling]
    )
    codes = written.mutate(place=place).filter(lambda t: t.place == 0)
    names = _names(source, form)
    own = ibis.literal("")
    if names is not None:
        codes = codes.left_join(names, codes.code == names.name_code)
        own = codes.long_name.fill_null("")
    name = ibis.ifelse(codes.kind == "drug", codes.spelling, own)
    system = codes.code.split(":")[0]
    code = codes.code.substr(system.length() + 1)
    chosen = codes.select(id="code", system=system, code=code, name=name, kind="kind")
    return chosen.order_by("id").to_pyarrow().cast(schema.CODES)


def _names(source: Source, form: Format) -> Table | None:
    parts = []
    for unit in form.names:
        if unit.table in source.tables():
            staged = stage(source, unit, unit.table)
            rows = staged.rows
            parts.append(rows.select(name_code=_code_column(unit, rows), long_name=rows.name))
    if not parts:
        return None
    names = _union(parts)
    names = names.filter(names.name_code.notnull() & (names.long_name != ""))
    return names.group_by("name_code").agg(long_name=names.long_name.min())
