"""Each format on open data: the counts that the source states, and the same patients twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ehrkg.ehr as ehr
from ehrkg.foundation.ledger import Ledger

Read = tuple[ehr.Hospital, Ledger]


def read(folder: Path) -> Read:
    ledger = Ledger()
    return ehr.read(folder, ledger=ledger), ledger


@pytest.fixture(scope="module")
def four(mimic4_demo: Path) -> Read:
    return read(mimic4_demo)


@pytest.fixture(scope="module")
def meds(shared_data: Path) -> Read:
    return read(shared_data / "meds-mimic-iv-demo")


def counted(ledger: Ledger) -> dict[str, int]:
    return {entry.unit: entry.rows_in for entry in ledger if "." not in entry.unit}


def test_mimic3(shared_data: Path) -> None:
    hospital, ledger = read(shared_data / "mimic-iii-demo-1.4")
    assert hospital.format == "mimic3"
    events = {"diagnosis": 1761, "procedure": 506, "drug": 10398}
    assert counted(ledger) == {"patient": 100, "visit": 129} | events
    assert ledger.dropped("read") == {}
    ages = hospital.visits["age"].to_pylist()
    assert max(ages) == 91  # written as 300 years
    assert sum(age == 91 for age in ages) > 0
    assert set(hospital.codes["system"].to_pylist()) == {"ICD9CM", "ICD9PROC", "DRUGNAME"}
    ndc = hospital.events.filter(pc.equal(hospital.events["kind"], "drug"))["ndc"].to_pylist()
    assert sum(map(bool, ndc)) > 0.7 * len(ndc)


def test_omop(shared_data: Path) -> None:
    hospital, ledger = read(shared_data / "omop-synthea27nj")
    assert hospital.format == "omop"
    assert counted(ledger) == {
        "patient": 28, "visit": 1791, "diagnosis": 470, "drug": 883, "procedure": 1649}  # fmt: skip
    assert ledger.dropped("read") == {"no_visit_of_its_date": 5, "duplicate_row": 1}
    assert set(hospital.codes["system"].to_pylist()) == {"SNOMED", "RXNORM"}
    assert "" not in hospital.codes["name"].to_pylist()
    assert set(hospital.patients["sex"].to_pylist()) == {"F", "M"}
    kinds = Counter(hospital.visits["kind"].to_pylist())
    assert kinds["OUTPATIENT"] > kinds["INPATIENT"] > 0
    assert all(source.startswith("Synthea27Nj_5.4.zip/") for source in
               set(hospital.events["source"].to_pylist()))  # fmt: skip
    assert list(ehr.table_files(shared_data / "omop-synthea27nj")) == ["Synthea27Nj_5.4.zip"]


def test_meds(meds: Read) -> None:
    hospital, ledger = meds
    assert hospital.format == "meds"
    assert counted(ledger) == {
        "patient": 100, "visit": 275, "diagnosis": 4506, "procedure": 667, "drug": 14676,
        "table data": 356_063}  # fmt: skip
    assert ledger.dropped("read", "drug") == {"empty_code": 1012, "no_visit_of_its_date": 57}
    assert {entry.unit: entry.rows_in for entry in ledger}["drug.visit_by_date"] == 13_607


def by_visit(hospital: ehr.Hospital, kind: str) -> dict[str, set[str]]:
    rows = hospital.visit_codes.filter(pc.equal(hospital.visit_codes["kind"], kind))
    found: dict[str, set[str]] = defaultdict(set)
    for visit, code in zip(rows["visit"].to_pylist(), rows["code"].to_pylist(), strict=True):
        found[visit].add(code)
    return found


def test_the_same_patients_read_twice_are_the_same(four: Read, meds: Read) -> None:
    """The extraction takes orders from another table, so drugs are nearly the same; all else is."""
    tables, events = four[0], meds[0]
    kept = ["id", "patient", "ordinal", "admitted", "discharged", "kind", "gap_days"]
    assert events.visits.select(kept).equals(tables.visits.select(kept))
    died = pc.not_equal(events.visits["died"], tables.visits["died"])
    assert pc.sum(died).as_py() == 0
    ages = pc.abs(pc.subtract(events.visits["age"], tables.visits["age"]))
    assert pc.max(ages).as_py() <= 1  # a birthday made from a year
    assert events.patients.drop_columns(["year_group"]).equals(
        tables.patients.drop_columns(["year_group"])
    )
    for kind in ("diagnosis", "procedure"):
        assert by_visit(events, kind) == by_visit(tables, kind)
        both = _named(events.codes, kind), _named(tables.codes, kind)
        assert both[0].keys() == both[1].keys()
    drugs, orders = by_visit(events, "drug"), by_visit(tables, "drug")
    pairs = {(visit, code) for visit, codes in drugs.items() for code in codes}
    there = {(visit, code) for visit, codes in orders.items() for code in codes}
    assert len(pairs & there) > 0.95 * len(pairs)


def _named(codes: pa.Table, kind: str) -> dict[str, str]:
    rows = codes.filter(pc.equal(codes["kind"], kind))
    return dict(zip(rows["id"].to_pylist(), rows["name"].to_pylist(), strict=True))
