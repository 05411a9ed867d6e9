"""Laws of reading, for any tables: nothing is lost, nothing mixed, order of rows no matter.

The tables hold dirt of every kind that a row can hold: other words for nothing, numbers that went
through floats, dates of other layouts, ids of any size and sign, values that run over a line's end.
Reading has a price by the table, not by the row: so the draws are few, and each holds many rows.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import hypothesis.strategies as st
import pyarrow as pa
from hypothesis import HealthCheck, given, settings

import ehrkg.ehr as ehr
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import content_hash
from tests.ehr.conftest import Extract

PATIENT = st.sampled_from(
    ["1", "2", "3", "99", "", "1.0", "2.00", "NULL", "-1", "0", "9007199254740993", "1e+16"]
)
VISIT = st.sampled_from(
    ["11", "12", "21", "31", "32", "55", "", "11.0", "NaN", "-5", "0", "9007199254740993"]
)
TIME = st.sampled_from(
    ["2150-01-01 10:00:00", "2150-01-02", "2150-02-01 00:00:00", "2151-01-01 00:00:00", "", "soon",
     "21500103", "01/31/2150", "2150-01-02T08:00:00Z", "\\N", "2150-02-30"]
)  # fmt: skip
CODE = st.sampled_from(
    ["4280", "I5023", "E8497", " i50.23", "", "..", "V5861", "0088", "N/A", "4280.0", "a\nb", 'a"b']
)

ADMISSION = st.fixed_dictionaries(
    {
        "subject_id": PATIENT, "hadm_id": VISIT, "admittime": TIME, "dischtime": TIME,
        "deathtime": st.just(""), "admission_type": st.sampled_from(["URGENT", "ELECTIVE"]),
        "hospital_expire_flag": st.sampled_from(["0", "1"]),
    }
)  # fmt: skip
DIAGNOSIS = st.fixed_dictionaries(
    {
        "subject_id": PATIENT, "hadm_id": VISIT,
        "seq_num": st.sampled_from(["1", "2", "", "x", "1.0", "None", "99999999999"]),
        "icd_code": CODE, "icd_version": st.sampled_from(["9", "10", "8", "9.0"]),
    }
)  # fmt: skip
DRUG = st.fixed_dictionaries(
    {
        "subject_id": PATIENT, "hadm_id": VISIT, "pharmacy_id": st.just("5"),
        "starttime": TIME, "stoptime": TIME, "drug_type": st.sampled_from(["MAIN", "BASE"]),
        "drug": st.sampled_from(["Aspirin", "ASPIRIN ", "Senna", "", "Caf\u00e9, strong\n(cup)"]),
        "ndc": st.just("0"),
        "route": st.sampled_from(["PO", "IV", "", "BY OWL"]),
    }
)  # fmt: skip


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    admissions=st.lists(ADMISSION, min_size=4, max_size=16),
    diagnoses=st.lists(DIAGNOSIS, min_size=12, max_size=48),
    drugs=st.lists(DRUG, min_size=12, max_size=48),
    seed=st.integers(0, 9),
)
def test_laws(admissions: list, diagnoses: list, drugs: list, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain, shuffled = Extract(Path(folder, "plain")), Extract(Path(folder, "shuffled"))
        for extract in (plain, shuffled):
            extract.tables["admissions"] += admissions
            extract.tables["diagnoses_icd"] += diagnoses
            extract.tables["prescriptions"] += drugs
        for rows in shuffled.tables.values():
            random.Random(seed).shuffle(rows)
        ledger, other = Ledger(), Ledger()
        hospital = ehr.read(plain.write(), ledger=ledger)
        again = ehr.read(shuffled.write(), ledger=other, threads=1)

    assert accounts(ledger) == accounts(other)
    for name in ("patients", "visits", "codes"):
        assert getattr(hospital, name).equals(getattr(again, name))
    for name in ("events", "visit_codes"):
        table = getattr(hospital, name)
        columns = [c for c in table.column_names if c not in ("row", "raw_code")]
        assert content_hash(table, columns=columns) == content_hash(
            getattr(again, name), columns=columns
        )
    nothing_is_lost(hospital, ledger, plain)
    nothing_is_mixed(hospital)
    visits_are_ordered(hospital.visits)


def accounts(ledger: Ledger) -> list[dict]:
    """The ledger without its places: where the first such row stands depends on the order."""
    return [{**row, "example": ""} for row in ledger.as_json()]


def nothing_is_lost(hospital: ehr.Hospital, ledger: Ledger, extract: Extract) -> None:
    entries = {entry.unit: entry for entry in ledger if "." not in entry.unit}
    tables = ("patients", "admissions", "diagnoses_icd", "procedures_icd", "prescriptions")
    counted = [entry.rows_in for entry in entries.values()]
    assert counted == [len(extract.tables[table]) for table in tables]
    kept = hospital.patients.num_rows + hospital.visits.num_rows + hospital.events.num_rows
    assert kept + len(ledger.quarantine["read"]) == sum(counted)
    assert sum(hospital.visit_codes["n"].to_pylist()) == hospital.events.num_rows


def nothing_is_mixed(hospital: ehr.Hospital) -> None:
    owner = {row["id"]: row["patient"] for row in hospital.visits.to_pylist()}
    known = set(hospital.patients["id"].to_pylist())
    assert set(owner.values()) <= known
    for event in hospital.events.to_pylist():
        assert owner[event["visit"]] == event["patient"]


def visits_are_ordered(visits: pa.Table) -> None:
    by_patient: dict[str, list[dict]] = {}
    for row in visits.to_pylist():
        by_patient.setdefault(row["patient"], []).append(row)
    for rows in by_patient.values():
        assert [row["ordinal"] for row in rows] == list(range(1, len(rows) + 1))
        keys = [(row["admitted"], row["id"]) for row in rows]
        assert keys == sorted(keys)
        assert all(row["admitted"] <= row["discharged"] for row in rows)
        assert [row["gap_days"] is None for row in rows] == [True] + [False] * (len(rows) - 1)
