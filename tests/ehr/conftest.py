"""Tiny extracts of MIMIC-IV's shape, written by the tests."""

from __future__ import annotations

import copy
import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest

Rows = list[dict[str, str]]

TINY: dict[str, Rows] = {
    "patients": [
        {"subject_id": "1", "gender": "F", "anchor_age": "60", "anchor_year": "2150",
         "anchor_year_group": "2014 - 2016", "dod": ""},
        {"subject_id": "2", "gender": "M", "anchor_age": "91", "anchor_year": "2160",
         "anchor_year_group": "2011 - 2013", "dod": ""},
    ],
    "admissions": [
        {"subject_id": "1", "hadm_id": "12", "admittime": "2151-03-10 08:00:00",
         "dischtime": "2151-03-14 12:00:00", "deathtime": "", "admission_type": "EW EMER.",
         "hospital_expire_flag": "0"},
        {"subject_id": "1", "hadm_id": "11", "admittime": "2150-01-01 10:00:00",
         "dischtime": "2150-01-05 09:30:00", "deathtime": "", "admission_type": "URGENT",
         "hospital_expire_flag": "0"},
        {"subject_id": "2", "hadm_id": "21", "admittime": "2160-07-01 10:00:00",
         "dischtime": "2160-07-03 10:00:00", "deathtime": "2160-07-03 10:00:00",
         "admission_type": "URGENT", "hospital_expire_flag": "1"},
    ],
    "diagnoses_icd": [
        {"subject_id": "1", "hadm_id": "11", "seq_num": "1", "icd_code": "4280",
         "icd_version": "9"},
        {"subject_id": "1", "hadm_id": "12", "seq_num": "1", "icd_code": "I5023",
         "icd_version": "10"},
        {"subject_id": "1", "hadm_id": "12", "seq_num": "2", "icd_code": "E8497",
         "icd_version": "9"},
        {"subject_id": "2", "hadm_id": "21", "seq_num": "1", "icd_code": "0088 ",
         "icd_version": "9"},
    ],
    "procedures_icd": [
        {"subject_id": "1", "hadm_id": "11", "seq_num": "1", "chartdate": "2150-01-02",
         "icd_code": "3961", "icd_version": "9"},
        {"subject_id": "1", "hadm_id": "12", "seq_num": "1", "chartdate": "2151-03-11",
         "icd_code": "02100Z9", "icd_version": "10"},
    ],
    "prescriptions": [
        {"subject_id": "1", "hadm_id": "11", "pharmacy_id": "7",
         "starttime": "2150-01-01 12:00:00", "stoptime": "2150-01-03 12:00:00",
         "drug_type": "MAIN", "drug": "Furosemide", "ndc": "0", "route": "IV"},
        {"subject_id": "1", "hadm_id": "11", "pharmacy_id": "8",
         "starttime": "2150-01-03 12:00:00", "stoptime": "2150-01-02 12:00:00",
         "drug_type": "MAIN", "drug": "FUROSEMIDE ", "ndc": "0", "route": "PO/NG"},
        {"subject_id": "2", "hadm_id": "21", "pharmacy_id": "9",
         "starttime": "2160-07-01 12:00:00", "stoptime": "",
         "drug_type": "BASE", "drug": "5%  Dextrose", "ndc": "", "route": "BY OWL"},
    ],
    "d_icd_diagnoses": [
        {"icd_code": "4280", "icd_version": "9", "long_title": "Heart failure, unspecified"},
        {"icd_code": "I5023", "icd_version": "10", "long_title": "Acute systolic heart failure"},
    ],
}  # fmt: skip


class Extract:
    """Tables to be changed, then written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables: dict[str, Rows] = copy.deepcopy(TINY)

    def text(self, table: str) -> str:
        rows = self.tables[table]
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def write(self, *, inside: str = "", suffix: str = ".csv") -> Path:
        for table in self.tables:
            path = self.folder / inside / f"{table}{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            data = self.text(table).encode()
            path.write_bytes(gzip.compress(data, mtime=0) if suffix.endswith(".gz") else data)
        return self.folder


@pytest.fixture
def extract(tmp_path: Path) -> Extract:
    return Extract(tmp_path / "extract")


@pytest.fixture
def new_extract(tmp_path: Path) -> Callable[[str], Extract]:
    return lambda name: Extract(tmp_path / name)
