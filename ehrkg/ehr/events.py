"""Events: which visit each belongs to, its code, its times and its route."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ehrkg.ehr.codes import WHITE_SPACE, normalise_column
from ehrkg.ehr.formats import Unit
from ehrkg.ehr.routes import WORDS, fold_column, route_column
from ehrkg.ehr.sources import ROW_COLUMNS, Source
from ehrkg.ehr.staging import (
    Staged,
    hold,
    record_counts,
    record_mended,
    reject,
    reject_repeats,
    stage,
)
from ehrkg.foundation.ledger import Ledger

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, Column, StringValue, Table

ROUTE_WORDS_NAMED = 20
"""So many unknown words for routes get a line of the ledger each; the rest share one."""

_HOUR, _DAY = 3_600, 86_400


def read_events(
    source: Source, unit: Unit, name: str, patients: Table, visits: Staged, ledger: Ledger
) -> Staged:
    """The rows of one table of events, each usable or with the reason why it is not.

    Args:
        source: where the tables are.
        unit: the table's declaration.
        name: what the ledger calls it.
        patients: the usable patients.
        visits: all visits, usable or not.
        ledger: told what was mended.
    """
    import ibis

    staged = stage(source, unit, name, ledger)
    usable = visits.usable.select(
        visit_id="visit",
        visit_patient="patient",
        visit_admitted="admitted",
        visit_discharged="discharged",
    )
    rows = staged.rows
    if unit.by_date and "start" in unit.columns:
        rows = _place(rows, usable)
    rows = rows.left_join(usable, rows.visit == usable.visit_id)
    version = rows.version if "version" in unit.columns else ibis.literal("")
    noise = [*WHITE_SPACE, ".", ""]
    nameless = ibis.ifelse(
        rows.code.left(1).isin(noise), rows.code.re_replace(f"[{WHITE_SPACE}.]+", "") == "", False
    )
    lost = "no_visit_of_its_date" if unit.by_date else "no_visit"
    reasons = [
        (~rows.patient.isin(patients.patient), "unknown_patient"),
        (rows.visit == "", lost),
        (~rows.visit.isin(visits.rows.visit), "no_visit"),
        (rows.visit_id.isnull(), "visit_unusable"),
        (rows.visit_patient != rows.patient, "visit_of_another_patient"),
        (nameless, "empty_code"),
        (~version.isin(list(unit.systems)), "unknown_code_version"),
    ]
    staged = reject(staged, rows, reasons)
    if unit.drop_duplicates:
        staged = reject_repeats(staged, list(unit.columns), "duplicate_row")
    return hold(source, staged)


def _place(rows: Table, visits: Table) -> Table:
    """Rows without a visit get the patient's visit of their date, and ``placed`` says so.

    Of several the one that holds the time itself, then the one that began last, then the greatest
    id; days count as whole, for times of day are often not known.
    """
    import ibis

    loose = rows.filter((rows.visit == "") & rows.start.notnull())
    loose = loose.select(*ROW_COLUMNS, "patient", "start")
    day = loose.start.date()
    found = loose.join(
        visits,
        [
            loose.patient == visits.visit_patient,
            visits.visit_admitted.date() <= day,
            visits.visit_discharged.date() >= day,
        ],
    )
    within = (found.visit_admitted <= found.start) & (found.start <= found.visit_discharged)
    place = ibis.row_number().over(
        group_by=[found[column] for column in ROW_COLUMNS],
        order_by=[within.desc(), found.visit_admitted.desc(), found.visit_id.desc()],
    )
    best = found.mutate(place=place).filter(lambda t: t.place == 0)
    best = best.select(placed_source="source", placed_row="row", placed_visit="visit_id")
    joined = rows.left_join(best, [rows.source == best.placed_source, rows.row == best.placed_row])
    return joined.mutate(
        visit=ibis.coalesce(joined.placed_visit, joined.visit),
        placed=joined.placed_visit.notnull(),
    ).drop("placed_source", "placed_row", "placed_visit")


def event_rows(unit: Unit, rows: Table, name: str, ledger: Ledger) -> Table:
    """Usable rows of one table as rows of EVENTS, with ``name``; what is mended is counted.

    A stop before its start becomes null. An order that crosses its visit's end, or was stopped
    within the hour (not one of which only the day is known), stays as it stands and is counted.
    """
    import ibis

    no_time, no_text = ibis.null("timestamp(6)"), ibis.literal("")
    has = set(unit.columns)
    record_counts(ledger, name, rows, _oddities(unit, rows))
    rows = _with_meanings(unit, rows, _count_routes(rows, name, ledger) if "route" in has else ())
    stop = rows.stop if "stop" in has else no_time
    if {"start", "stop"} <= has:
        stop = ibis.ifelse(rows.stop < rows.start, no_time, rows.stop)
    return rows.select(
        patient="patient",
        visit="visit",
        code="meant_code",
        kind=ibis.literal(unit.kind),
        seq=rows.seq if "seq" in has else ibis.null("int32"),
        start=rows.start if "start" in has else no_time,
        stop=stop,
        route=rows.meant_route if "route" in has else no_text,
        drug_type=rows.drug_type.upper() if "drug_type" in has else no_text,
        ndc=_ndc(rows.ndc) if "ndc" in has else no_text,
        raw_code="raw_code",
        source="source",
        row="row",
        name=rows.name if "name" in has else no_text,
    ).cast({"seq": "int32", "start": "timestamp(6)", "stop": "timestamp(6)"})


def _oddities(unit: Unit, rows: Table) -> dict[str, BooleanValue]:
    """What is counted of rows that stay."""
    has = set(unit.columns)
    odd: dict[str, BooleanValue] = {}
    if "placed" in rows.columns:
        odd["visit_by_date"] = rows.placed
    if unit.kind == "drug" and "start" in has:
        odd["starts_after_discharge"] = rows.start > rows.visit_discharged
    if {"start", "stop"} <= has:
        backward = rows.stop < rows.start
        odd["stop_before_start"] = backward
        if unit.kind == "drug":
            lasted = rows.stop.epoch_seconds() - rows.start.epoch_seconds()
            days = (rows.start.epoch_seconds() % _DAY == 0) & (lasted % _DAY == 0)
            odd["stops_after_discharge"] = ~backward & (rows.stop > rows.visit_discharged)
            odd["stopped_within_the_hour"] = ~days & (lasted >= 0) & (lasted < _HOUR)
    return odd


def _with_meanings(unit: Unit, rows: Table, words: Collection[str]) -> Table:
    """Rows with ``meant_code`` and ``meant_route``, each made once for what is written often."""
    keys = [key for key in ("code", "version", "route") if key in unit.columns]
    written = rows.select(*keys).distinct()
    meant = {"meant_code": code_column(unit, written)}
    if "route" in keys:
        meant["meant_route"] = route_column(fold_column(written.route), words)
    meanings = written.select(**{f"written_{key}": written[key] for key in keys}, **meant)
    return rows.join(meanings, [rows[key] == meanings[f"written_{key}"] for key in keys])


def _ndc(text: StringValue) -> StringValue:
    """A drug's NDC as written; a row of zeros is none."""
    import ibis

    return ibis.ifelse(text.startswith("0"), ibis.ifelse(text.re_search("^0*$"), "", text), text)


def code_column(unit: Unit, rows: Table) -> Column:
    """Code ids out of the columns ``code`` and, where there is one, ``version``."""
    import ibis

    ids = {
        version: ibis.literal(f"{system}:") + normalise_column(system, rows.code)
        for version, system in unit.systems.items()
    }
    if "version" not in unit.columns:
        return ids[""]
    return ibis.cases(*((rows.version == version, ids[version]) for version in ids))


def _count_routes(rows: Table, name: str, ledger: Ledger) -> set[str]:
    """The known words for routes that occur; the unknown ones are counted in the ledger."""
    written = rows.group_by("route").agg(n=rows.count())
    words = written.select("n", word=fold_column(written.route))
    found = words.group_by("word").agg(n=words.n.sum()).to_pyarrow().to_pylist()
    counted = [each for each in found if each["word"] not in WORDS]
    counted.sort(key=lambda each: (-each["n"], each["word"]))
    for each in counted[:ROUTE_WORDS_NAMED]:
        record_mended(ledger, f"{name}.unknown_route.{each['word']}", int(each["n"]))
    rest = sum(int(each["n"]) for each in counted[ROUTE_WORDS_NAMED:])
    record_mended(ledger, f"{name}.unknown_route", rest)
    return {each["word"] for each in found} & set(WORDS)
