"""What happened to patients as rows of MIMIC-IV's ``hosp`` tables, dirty as the real ones are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.synth import cells
from ehrkg.ehr.synth.process import SYSTEMS, Order, Process
from ehrkg.ehr.synth.simulate import DAY, HOUR, Chunk, Draws, Flags, Floats, Ints, keys
from ehrkg.foundation.hashing import hash64

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

REORDERED = (0.25, 0.06)
"""The chance that a drug of a visit is ordered a second and a third time."""

USUAL = 0.75
"""The share of the usual code among a condition's codes."""

_KINDS = ["EW EMER.", "OBSERVATION ADMIT", "URGENT", "EU OBSERVATION", "ELECTIVE"]
_HOMES = ["HOME", "HOME HEALTH CARE", "SKILLED NURSING FACILITY", "REHAB"]


@dataclass(frozen=True)
class Writer:
    """Turns chunks into rows of text.

    Attributes:
        process: the process that was simulated.
        draw: draws of the same seed.
    """

    process: Process
    draw: Draws

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
                for (system, code), title in self.process.titles.items()
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
        visit, condition = np.nonzero(chunk.coded)
        number = chunk.visits["number"][visit]
        conditions = list(self.process.conditions.values())
        key = keys(list(self.process.conditions))[condition]
        standing = self.process.chronic()[condition]
        order = np.lexsort((self.draw("rank", number, key), standing, visit))
        visit, condition, number, key = (
            column[order] for column in (visit, condition, number, key)
        )
        codes = _Variants(
            [[code.replace(".", "") for code in row[f"icd{era}"]] for row in conditions]
            for era in SYSTEMS
        )
        ten = chunk.visits["ten"][visit]
        # a patient's standing condition is written with one code throughout
        code = codes.pick(ten, condition, self.draw("variant", number // 16, key))
        there = self._there("diagnosis_without_visit", hadm[visit], number, key)
        columns = [
            cells.text(subject[visit]),
            cells.text(there),
            cells.text(_ranks(visit)),
            code,
            cells.pick(["9", "10"], ten),
        ]
        return cells.twice(
            columns, self.draw("diagnosis_twice", number, key) < DIRT["diagnosis_twice"]
        )

    def _procedures(self, chunk: Chunk, subject: Ints, hadm: Ints) -> pa.Array:
        visit, procedure = np.nonzero(chunk.done)
        number = chunk.visits["number"][visit]
        key = keys(list(self.process.procedures))[procedure]
        codes = _Variants(
            [[str(row[f"icd{era}"]).replace(".", "")] for row in self.process.procedures.values()]
            for era in SYSTEMS
        )
        ten = chunk.visits["ten"][visit]
        admitted, discharged = (chunk.visits[name][visit] for name in ("admitted", "discharged"))
        when = admitted + (self.draw("done", number, key) * (discharged - admitted)).astype(int)
        columns = [
            cells.text(subject[visit]),
            cells.text(hadm[visit]),
            cells.text(_ranks(visit)),
            cells.days(when),
            codes.pick(ten, procedure, np.zeros(len(visit))),
            cells.pick(["9", "10"], ten),
        ]
        return cells.twice(
            columns, self.draw("procedure_twice", number, key) < DIRT["procedure_twice"]
        )

    def _there(self, dirt: str, hadm: Ints, *who: Ints) -> Ints:
        """Visit ids, a few of which stand in no table of visits."""
        return np.where(self._befalls(dirt, *who), hadm + 70_000_000, hadm)

    def _befalls(self, dirt: str, *who: Ints) -> Flags:
        """Whether a fault befalls a row."""
        return self.draw(dirt, *who) < DIRT[dirt]

    def _prescriptions(self, chunk: Chunk, subject: Ints, hadm: Ints) -> pa.Array:
        orders = self._orders(chunk)
        visit, number, key, line = orders.visit, orders.number, orders.key, orders.line
        table = _order_lines(self.process)
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
        names = list(self.process.drugs)
        table = _order_lines(self.process)
        visit, drug = np.nonzero(chunk.given)
        number, key = chunk.visits["number"][visit], keys(names)[drug]
        luck = self.draw("reordered", number, key)
        times = 1 + (luck < REORDERED[0]).astype(int) + (luck < REORDERED[1])
        visit, drug, number, key = (np.repeat(each, times) for each in (visit, drug, number, key))
        # each repetition draws anew: its ordinal joins the key
        key = key ^ _ranks(visit, drug)
        line = table.pick(drug, self.draw("order", number, key))
        based = table.base[line] >= 0
        fluid = table.type[line] == 1
        additive = fluid & (self.draw("additive", number, key) < DIRT["additive"])
        rows = 1 + (based | additive).astype(int)
        again = _ranks(np.repeat(np.arange(len(rows)), rows)) == 2
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


class _Variants:
    """Codes of each era and thing; the first variant of several is the usual one."""

    def __init__(self, eras: Iterator[list[list[str]]]) -> None:
        self.codes: list[str] = []
        starts: list[list[int]] = []
        counts: list[list[int]] = []
        for things in eras:
            starts.append([])
            counts.append([])
            for variants in things:
                starts[-1].append(len(self.codes))
                counts[-1].append(len(variants))
                self.codes += variants
        self.starts, self.counts = np.array(starts), np.array(counts)

    def pick(self, era: Ints, thing: Ints, luck: Floats) -> pa.Array:
        """One code a row: mostly the usual one, else one of the others."""
        others = np.maximum(self.counts[era, thing] - 1, 0)
        other = 1 + ((luck - USUAL) / (1 - USUAL) * others).astype(int)
        offset = np.where((luck < USUAL) | (others == 0), 0, np.minimum(other, others))
        return cells.pick(self.codes, self.starts[era, thing] + offset)


@dataclass(frozen=True)
class _OrderLines:
    """All ways to order anything, as columns."""

    text: list[str]
    route: list[str]
    strength: list[str]
    formulary: list[str]
    gsn: list[str]
    ndc: list[str]
    type: Ints
    base: Ints
    additive: int
    starts: Ints
    bounds: Floats

    def pick(self, drug: Ints, luck: Floats) -> Ints:
        """A line for each drug, by the lines' weights."""
        offset = (luck[:, None] >= self.bounds[drug]).sum(axis=1)
        lines: Ints = self.starts[drug] + offset
        return lines


def _order_lines(process: Process) -> _OrderLines:
    lines: list[Order] = []
    starts, bounds = [], []
    width = max(len(orders) for orders in process.drugs.values())
    for orders in process.drugs.values():
        starts.append(len(lines))
        lines += orders
        shares = np.cumsum([order.weight for order in orders])
        bounds.append([*(shares[:-1] / shares[-1]), *[1.0] * (width - len(orders) + 1)])
    bases = sorted({order.base for order in lines if order.base})
    lines += [Order(base, "IV", 1, "50mL Bag", "BASE") for base in bases]
    lines.append(Order("Potassium Chloride", "IV", 1, "40mEq", "ADDITIVE"))
    at = {base: len(lines) - 1 - len(bases) + place for place, base in enumerate(bases)}
    ids = [f"{hash64('ndc', order.text, order.strength) % 10**11:011d}" for order in lines]
    return _OrderLines(
        text=[cells.quoted(order.text) for order in lines],
        route=[order.route for order in lines],
        strength=[cells.quoted(order.strength) for order in lines],
        formulary=[order.text[:4].strip().upper().replace(",", "") + "1" for order in lines],
        gsn=[each[:6] for each in ids],
        ndc=ids,
        type=np.array([["MAIN", "BASE", "ADDITIVE"].index(order.type) for order in lines]),
        base=np.array([at[o.base] if o.base and o.route.startswith("IV") else -1 for o in lines]),
        additive=len(lines) - 1,
        starts=np.array(starts),
        bounds=np.array(bounds),
    )


def _ranks(*groups: Ints) -> Ints:
    """The place, from 1, of each row within its run of equal groups."""
    at = np.arange(len(groups[0]))
    begins = np.ones(len(at), bool)
    begins[1:] = np.any([group[1:] != group[:-1] for group in groups], axis=0)
    return at - np.maximum.accumulate(np.where(begins, at, 0)) + 1


def _place(luck: Floats, bounds: list[float]) -> Ints:
    return np.searchsorted(np.array(bounds), luck, side="right")
