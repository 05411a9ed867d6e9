"""What happened to patients as rows of MIMIC-IV's ``hosp`` tables, dirty as the real ones are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.synth import cells
from ehrkg.ehr.synth.draws import Draws, Flags, Floats, Ints, keys, ranks
from ehrkg.ehr.synth.listed import Listed, listed
from ehrkg.ehr.synth.process import SYSTEMS, Process
from ehrkg.ehr.synth.shapes import Shape
from ehrkg.ehr.synth.simulate import DAY, HOUR, Chunk
from ehrkg.ehr.synth.ways import OrderLines, Variants

COLUMNS = {
    "patients": "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod",
    "admissions": (
        "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admit_provider_id,"
        "admission_location,discharge_location,insurance,language,marital_status,race,edregtime,"
        "edouttime,hospital_expire_flag"
    ),
    "diagnoses_icd": "subject_id,hadm_id,seq_num,icd_code,icd_version",
    "procedures_icd": "subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version",
    "prescriptions": (
        "subject_id,hadm_id,pharmacy_id,poe_id,poe_seq,order_provider_id,starttime,stoptime,"
        "drug_type,drug,formulary_drug_cd,gsn,ndc,prod_strength,form_rx,dose_val_rx,dose_unit_rx,"
        "form_val_disp,form_unit_disp,doses_per_24_hrs,route"
    ),
    "d_icd_diagnoses": "icd_code,icd_version,long_title",
    "d_icd_procedures": "icd_code,icd_version,long_title",
}
"""The columns of each table, as the release has them."""

YEAR_GROUPS = ["2008 - 2010", "2011 - 2013", "2014 - 2016", "2017 - 2019", "2020 - 2022"]

DIRT = {
    "diagnosis_without_visit": 0.001,
    "diagnosis_twice": 0.0015,
    "procedure_twice": 0.003,
    "order_without_visit": 0.0015,
    "order_twice": 0.002,
    "ndc_zero": 0.14,
    "ndc_empty": 0.002,
    "stop_before_start": 0.04,
    "stopped_within_the_hour": 0.03,
    "no_stop": 0.001,
    "additive": 0.03,
}
"""How often each fault of the real tables occurs."""

_KINDS = ["EW EMER.", "OBSERVATION ADMIT", "URGENT", "EU OBSERVATION", "ELECTIVE"]
_HOMES = ["HOME", "HOME HEALTH CARE", "SKILLED NURSING FACILITY", "REHAB"]


@dataclass(frozen=True)
class Writer:
    """Turns chunks into rows of text.

    Attributes:
        process: the process that was simulated.
        shape: the shape that it was simulated in.
        draw: draws of the same seed.
    """

    process: Process
    shape: Shape
    draw: Draws

    @cached_property
    def listed(self) -> Listed:
        """The codes beyond the process."""
        return listed(self.shape.shape)

    @cached_property
    def diagnoses(self) -> Variants:
        """The codes of each condition, and of each diagnosis beyond the process."""
        named = [[row[f"icd{era}"] for row in self.process.conditions.values()] for era in SYSTEMS]
        return self._variants("diagnosis", named)

    @cached_property
    def procedures(self) -> Variants:
        """The code of each procedure, and of each beyond the process."""
        rows = self.process.procedures.values()
        named = [[[str(row[f"icd{era}"])] for row in rows] for era in SYSTEMS]
        return self._variants("procedure", named)

    @cached_property
    def lines(self) -> OrderLines:
        """The ways to order each drug, and each beyond the process."""
        return OrderLines.of([*self.process.drugs.values(), *((o,) for o in self.listed.orders)])

    def _variants(self, kind: str, named: list[list[list[str]]]) -> Variants:
        things = self.shape.beyond[kind].codes if kind in self.shape.beyond else 0
        place = ("diagnosis", "procedure").index(kind)
        eras = []
        for codes, systems in zip(named, SYSTEMS.values(), strict=True):
            more = self.listed.codes.get(systems[place], [])
            plain = [[code.replace(".", "") for code in variants] for variants in codes]
            eras.append(plain + [[more[thing % len(more)]] for thing in range(things)])
        return Variants(eras)

    def rows(self, chunk: Chunk) -> Iterator[tuple[str, pa.Array]]:
        """Each table's name and its rows, a line of CSV each."""
        subject = chunk.patients["number"] * 20 + 10_000_000
        subject += (self.draw("subject", chunk.patients["number"]) * 20).astype(np.int64)
        visits = chunk.visits
        visits_subject = subject[visits["patient"]]
        hadm = visits["number"] + 20_000_000
        yield "patients", self._patients(chunk, subject)
        yield "admissions", self._admissions(chunk, visits_subject, hadm)
        yield "diagnoses_icd", self._diagnoses(chunk, visits_subject, hadm)
        yield "procedures_icd", self._procedures(chunk, visits_subject, hadm)
        yield "prescriptions", self._prescriptions(chunk, visits_subject, hadm)

    def dictionaries(self) -> Iterator[tuple[str, pa.Array]]:
        """The two tables of code names."""
        for table, place in (("d_icd_diagnoses", 0), ("d_icd_procedures", 1)):
            version = {SYSTEMS[era][place]: era for era in SYSTEMS}
            rows = [
                (code.replace(".", ""), version[system], cells.quoted(title))
                for (system, code), title in {**self.process.titles, **self.listed.titles}.items()
                if system in version
            ]
            yield (
                table,
                cells.lines([pa.array(column) for column in zip(*sorted(rows), strict=True)]),
            )

    def _patients(self, chunk: Chunk, subject: Ints) -> pa.Array:
        patients = chunk.patients
        return cells.lines(
            [
                cells.text(subject),
                cells.pick(["F", "M"], patients["sex"]),
                cells.text(patients["anchor_age"]),
                cells.text(patients["anchor_year"]),
                cells.pick(YEAR_GROUPS, patients["group"]),
                cells.days(patients["dod"], patients["dod"] == 0),
            ]
        )

    def _admissions(self, chunk: Chunk, subject: Ints, hadm: Ints) -> pa.Array:
        visits, count = chunk.visits, len(hadm)
        died = visits["died"]
        kind = _place(self.draw("kind", visits["number"]), [0.45, 0.65, 0.8, 0.9])
        home = _place(self.draw("home", visits["number"]), [0.5, 0.8, 0.95])
        came = visits["admitted"] - (self.draw("ed", visits["number"]) * 9 * HOUR).astype(int)
        return cells.lines(
            [
                cells.text(subject),
                cells.text(hadm),
                cells.times(visits["admitted"]),
                cells.times(visits["discharged"]),
                cells.times(visits["discharged"], died == 0),
                cells.pick(_KINDS, kind),
                cells.same("P00AAA", count),
                cells.pick(["EMERGENCY ROOM", "PHYSICIAN REFERRAL"], (kind > 1).astype(int)),
                cells.pick([*_HOMES, "DIED"], np.where(died == 1, len(_HOMES), home)),
                cells.pick(["Medicare", "Other", "Medicaid"], visits["number"] // 16 % 3),
                cells.same("ENGLISH", count),
                cells.pick(["MARRIED", "SINGLE", "WIDOWED"], visits["number"] // 16 % 3),
                cells.same("UNKNOWN", count),
                cells.times(came, kind > 1),
                cells.times(visits["admitted"], kind > 1),
                cells.text(died),
            ]
        )

    def _diagnoses(self, chunk: Chunk, subject: Ints, hadm: Ints) -> pa.Array:
        standing = self.process.chronic()
        visit, condition, number, key = self._things(
            chunk, "diagnosis", chunk.coded, list(self.process.conditions)
        )
        acute = condition >= len(standing)
        acute[~acute] = ~standing[condition[~acute]]
        order = np.lexsort((self.draw("rank", number, key), ~acute, visit))
        visit, condition, number, key = (
            column[order] for column in (visit, condition, number, key)
        )
        ten = chunk.visits["ten"][visit]
        # a patient's standing condition is written with one code throughout
        code = self.diagnoses.pick(ten, condition, self.draw("variant", number // 16, key))
        there = self._there("diagnosis_without_visit", hadm[visit], number, key)
        columns = [
            cells.text(subject[visit]),
            cells.text(there),
            cells.text(ranks(visit)),
            code,
            cells.pick(["9", "10"], ten),
        ]
        return cells.twice(
            columns, self.draw("diagnosis_twice", number, key) < DIRT["diagnosis_twice"]
        )

    def _procedures(self, chunk: Chunk, subject: Ints, hadm: Ints) -> pa.Array:
        visit, procedure, number, key = self._things(
            chunk, "procedure", chunk.done, list(self.process.procedures)
        )
        ten = chunk.visits["ten"][visit]
        admitted, discharged = (chunk.visits[name][visit] for name in ("admitted", "discharged"))
        when = admitted + (self.draw("done", number, key) * (discharged - admitted)).astype(int)
        columns = [
            cells.text(subject[visit]),
            cells.text(hadm[visit]),
            cells.text(ranks(visit)),
            cells.days(when),
            self.procedures.pick(ten, procedure, np.zeros(len(visit))),
            cells.pick(["9", "10"], ten),
        ]
        return cells.twice(
            columns, self.draw("procedure_twice", number, key) < DIRT["procedure_twice"]
        )

    def _things(
        self, chunk: Chunk, kind: str, there: Flags, names: list[str]
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """Visit, thing, the visit's number and the thing's key: the process's and those beyond."""
        visit, thing = np.nonzero(there)
        key = keys(names)[thing]
        if kind in chunk.beyond:
            more = chunk.beyond[kind]
            visit = np.concatenate([visit, more.visit])
            order = np.argsort(visit, kind="stable")
            thing = np.concatenate([thing, more.thing + len(names)])[order]
            visit, key = visit[order], np.concatenate([key, more.key])[order]
        return visit, thing, chunk.visits["number"][visit], key

    def _there(self, dirt: str, hadm: Ints, *who: Ints) -> Ints:
        """Visit ids, a few of which stand in no table of visits."""
        return np.where(self._befalls(dirt, *who), hadm + 70_000_000, hadm)

    def _befalls(self, dirt: str, *who: Ints) -> Flags:
        """Whether a fault befalls a row."""
        return self.draw(dirt, *who) < DIRT[dirt]

    def _prescriptions(self, chunk: Chunk, subject: Ints, hadm: Ints) -> pa.Array:
        orders = self._orders(chunk)
        visit, number, key, line = orders.visit, orders.number, orders.key, orders.line
        table = self.lines
        pharmacy = 10_000_000 + (self.draw("pharmacy", number, key) * 89_999_999).astype(np.int64)
        start, stop = self._times_of(chunk, orders)
        luck = self.draw("ndc", number, key, line)
        no_ndc = luck < DIRT["ndc_empty"]
        zero = luck < DIRT["ndc_empty"] + DIRT["ndc_zero"]
        dose = 1 + (self.draw("dose", number, key) * 3).astype(np.int64)
        kind = np.where(orders.additive, 2, table.type[line])
        count, poe = len(visit), cells.text(number % 977 + 1)
        text = np.where(orders.additive, table.additive, line)
        columns = [
            cells.text(subject[visit]),
            cells.text(self._there("order_without_visit", hadm[visit], number, key)),
            cells.text(pharmacy),
            pc.binary_join_element_wise(cells.text(subject[visit]), poe, "-"),
            poe,
            cells.same("P00BBB", count),
            cells.times(start),
            cells.times(stop, orders.open_end),
            cells.pick(["MAIN", "BASE", "ADDITIVE"], kind),
            cells.pick(table.text, text),
            cells.pick(table.formulary, text),
            cells.pick(table.gsn, text),
            cells.pick([*table.ndc, "0", ""], np.where(no_ndc, -1, np.where(zero, -2, text))),
            cells.pick(table.strength, text),
            cells.same("", count),
            cells.text(dose),
            cells.same("dose", count),
            cells.text(dose),
            cells.same("UNIT", count),
            cells.text(dose),
            cells.pick(table.route, line),
        ]
        return cells.twice(
            columns, self.draw("order_twice", number, key, line) < DIRT["order_twice"]
        )

    def _orders(self, chunk: Chunk) -> _Orders:
        """Which order of which drug, how often, and the fluid that goes with it."""
        table = self.lines
        visit, drug, number, key = self._things(
            chunk, "drug", chunk.given, list(self.process.drugs)
        )
        luck = self.draw("reordered", number, key)
        times = 1 + sum((luck < chance).astype(int) for chance in self.shape.reordered)
        visit, drug, number, key = (np.repeat(each, times) for each in (visit, drug, number, key))
        # each repetition draws anew: its ordinal joins the key
        key = key ^ ranks(visit, drug)
        line = table.pick(drug, self.draw("order", number, key))
        based = table.base[line] >= 0
        fluid = table.type[line] == 1
        additive = fluid & (self.draw("additive", number, key) < DIRT["additive"])
        rows = 1 + (based | additive).astype(int)
        again = ranks(np.repeat(np.arange(len(rows)), rows)) == 2
        visit, number, key, line = (np.repeat(each, rows) for each in (visit, number, key, line))
        line = np.where(again & (table.base[line] >= 0), table.base[line], line)
        open_end = self.draw("no_stop", number, key) < DIRT["no_stop"]
        return _Orders(visit, number, key, line, again & np.repeat(additive, rows), open_end)

    def _times_of(self, chunk: Chunk, orders: _Orders) -> tuple[Ints, Ints]:
        number, key, visit = orders.number, orders.key, orders.visit
        admitted, discharged = (chunk.visits[name][visit] for name in ("admitted", "discharged"))
        stay = discharged - admitted
        # most orders are written on the first day
        at = self.draw("start", number, key) ** 3 * stay * 0.9
        start = (admitted + at.astype(np.int64)) // HOUR * HOUR
        lasts = ((self.draw("lasts", number, key) ** 2) * 6 * DAY).astype(np.int64) // HOUR * HOUR
        stop = np.maximum(np.minimum(start + lasts, discharged // HOUR * HOUR), start + 2 * HOUR)
        luck = self.draw("stop", number, key)
        early, short = DIRT["stop_before_start"], DIRT["stopped_within_the_hour"]
        stop = np.where(luck < early, start - (1 + (luck / early * 20).astype(int)) * HOUR, stop)
        return start, np.where((luck >= early) & (luck < early + short), start + HOUR // 2, stop)


@dataclass(frozen=True)
class _Orders:
    visit: Ints
    number: Ints
    key: Ints
    line: Ints
    additive: Flags
    open_end: Flags


def _place(luck: Floats, bounds: list[float]) -> Ints:
    return np.searchsorted(np.array(bounds), luck, side="right")
