"""Visits: which can be used, their order, the gap between them, age and death."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ehr import schema
from ehrkg.ehr.formats import Format
from ehrkg.ehr.sources import Source
from ehrkg.ehr.staging import Staged, hold, record_counts, reject, reject_repeats, stage
from ehrkg.foundation.ledger import Ledger

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, Column, IntegerValue, Table

OVER_89 = 91
"""The age that stands for everyone over 89 (MIMIC-IV's own convention)."""

_DAY = 86_400


def read_visits(source: Source, form: Format, patients: Table, ledger: Ledger) -> Staged:
    """The visits, each usable or with the reason why it is not.

    Zero-length stays, overlapping stays and stays of the same times stay; the last two are counted.

    Args:
        source: where the tables are.
        form: the format's declaration.
        patients: the usable patients.
        ledger: told what was mended.
    """
    unit = form.visits
    staged = stage(source, unit, "visit", ledger)
    rows = staged.rows
    reasons = [
        (~rows.patient.isin(patients.patient), "unknown_patient"),
        (rows.discharged < rows.admitted, "reversed_times"),
    ]
    staged = reject(staged, rows, reasons)
    staged = reject_repeats(staged, list(unit.columns), "duplicate_row")
    return hold(source, reject_repeats(staged, ["visit"], "duplicate_id"))


def visit_table(visits: Table, patients: Table, ledger: Ledger) -> pa.Table:
    """Usable visits as VISITS; what is odd about them is counted.

    Args:
        visits: ``patient``, ``visit``, ``admitted``, ``discharged``, and of ``kind``, ``death``,
            ``died`` those that the format has.
        patients: ``patient``, and what the age is made from.
        ledger: told of overlapping stays, stays of the same times, deaths before admission.
    """
    import ibis

    about = [name for name in patients.columns if name not in ("source", "row", "raw_code")]
    who = patients.select(**{f"p_{name}": patients[name] for name in about})
    rows = visits.join(who, visits.patient == who.p_patient)
    rows = in_time_order(rows)
    rows = rows.mutate(
        age=_age(rows),
        dead=_died(rows),
        alike=ibis.row_number().over(
            group_by=[rows.patient, rows.admitted, rows.discharged], order_by=rows.visit
        ),
    )
    oddities = {
        "overlaps_the_one_before": rows.seconds < 0,
        "same_times_as_another": rows.alike > 0,
        "before_birth": rows.age < 0,
    }
    if "death" in rows.columns:
        oddities["died_before_admission"] = rows.death < rows.admitted
        oddities["died_before_discharge"] = (rows.death < rows.discharged) & (
            rows.death >= rows.admitted
        )
    record_counts(ledger, "visit", rows, oddities)
    age = ibis.ifelse(rows.age < 0, ibis.null("int32"), rows.age)
    return (
        rows.select(
            id="visit",
            patient="patient",
            ordinal="ordinal",
            admitted="admitted",
            discharged="discharged",
            kind=rows.kind if "kind" in rows.columns else ibis.literal(""),
            age=ibis.ifelse(age >= OVER_89 - 1, OVER_89, age),
            died="dead",
            gap_days=gap_days(rows),
        )
        .order_by(["patient", "ordinal"])
        .to_pyarrow()
        .cast(schema.VISITS)
    )


def in_time_order(rows: Table) -> Table:
    """Visits with ``ordinal``, from 1, and ``seconds`` since the latest discharge before.

    Args:
        rows: ``patient``, ``visit``, ``admitted``, ``discharged``.
    """
    import ibis

    order = {"group_by": rows.patient, "order_by": [rows.admitted, rows.visit]}
    rows = rows.mutate(
        ordinal=ibis.row_number().over(**order) + 1,
        latest=rows.discharged.max().over(ibis.cumulative_window(**order)),
    )
    before = rows.latest.lag().over(group_by=rows.patient, order_by=rows.ordinal)
    return rows.mutate(seconds=rows.admitted.epoch_seconds() - before.epoch_seconds())


def gap_days(rows: Table) -> Column:
    """Whole days since the discharge before, of rows that ``in_time_order`` gave."""
    return (rows.seconds / _DAY).floor()


def _age(rows: Table) -> IntegerValue:
    """Whole years at admission, by what the format says of birth; null where it says nothing."""
    import ibis

    ages: list[Column] = []
    if "p_birth" in rows.columns:
        later = _month_and_day(rows.admitted) >= _month_and_day(rows.p_birth)
        years = rows.admitted.year() - rows.p_birth.year()
        ages.append(years - ibis.ifelse(later, 0, 1))
    if "p_birth_year" in rows.columns:
        ages.append(rows.admitted.year() - rows.p_birth_year)
    if "p_anchor_age" in rows.columns:
        since = rows.p_anchor_age + rows.admitted.year() - rows.p_anchor_year
        ages.append(ibis.ifelse(rows.p_anchor_age >= OVER_89, OVER_89, since))
    return (ibis.coalesce(*ages) if ages else ibis.null("int32")).cast("int32")


def _month_and_day(time: Column) -> IntegerValue:
    return time.month() * 100 + time.day()


def _died(rows: Table) -> BooleanValue:
    """Whether the patient died in this stay: by its own death or flag, or by the patient's date."""
    import ibis

    signs = []
    if "death" in rows.columns:
        signs.append(rows.death.notnull())
    if "died" in rows.columns:
        signs.append(rows.died == "1")
    if "p_death" in rows.columns:
        day = rows.p_death.date()
        signs.append(
            ((day >= rows.admitted.date()) & (day <= rows.discharged.date())).fill_null(False)
        )
    found = ibis.literal(False)
    for sign in signs:
        found = found | sign
    return found
