"""Dirt in tables, and what is expected of each kind: mended and counted, kept out, or refused.

Nothing is guessed in silence: what is mended stands in the ledger with a count and a place, and the
tables that come out are those of the clean extract.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pytest

import ehrkg.ehr as ehr
from ehrkg.foundation.errors import EhrkgError, InputError
from ehrkg.foundation.ledger import Ledger
from tests.ehr.conftest import TINY, Extract


@dataclass(frozen=True)
class Mend:
    """Dirt that is mended.

    Attributes:
        what: the line of the ledger that counts it, after its table's unit.
        unit: that unit.
        table: where it is put.
        change: the table's text with the dirt in it.
        count: how many are counted.
        line: where the first stands; None for the whole file.
    """

    what: str
    unit: str
    table: str
    change: Callable[[str], str]
    count: int
    line: int


def swap(old: str, new: str, times: int = -1) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, times)

    return change


# Each is put into the extract beside all the others, and none may hide another.
MENDED = [
    Mend("byte_order_mark", "patient", "patients", lambda t: "\ufeff" + t, 1, 1),
    Mend("windows_line_ends", "visit", "admissions", swap("\n", "\r\n"), 3, 2),
    Mend("float_number.patient", "patient", "patients", swap("\n1,", "\n1.0,"), 1, 2),
    Mend("float_number.anchor_age", "patient", "patients", swap(",91,", ",91.0,"), 1, 3),
    Mend("empty_word.death", "visit", "admissions", swap(":00,,", ":00,NaT,", 1), 1, 2),
    Mend("compact_date.admitted", "visit", "admissions",
         swap("2160-07-01 10:00:00", "21600701"), 1, 4),
    Mend("time_zone_left_out.discharged", "visit", "admissions",
         swap("2150-01-05 09:30:00", "2150-01-05T09:30:00+05:00"), 1, 3),
    Mend("float_number.visit", "diagnosis", "diagnoses_icd", swap("1,11,", "1,11.0,"), 1, 2),
    Mend("float_number.seq", "diagnosis", "diagnoses_icd", swap(",2,E8497", ",2.00,E8497"), 1, 4),
    Mend("float_number.version", "diagnosis", "diagnoses_icd", swap("3,10", "3,10.0"), 1, 3),
    Mend("month_first_date.start", "procedure", "procedures_icd",
         lambda t: t.replace("2150-01-02", "1/2/2150").replace("2151-03-11", "03/31/2151"), 2, 2),
    Mend("empty_word.route", "drug", "prescriptions", swap("BY OWL", "\\N"), 1, 5),
    Mend("empty_word.ndc", "drug", "prescriptions", swap(",0,", ",NULL,", 1), 1, 2),
    Mend("line_end_in_a_value", "drug", "prescriptions", swap("FUROSEMIDE ", '"FUROSEMIDE\n"'),
         1, 3),
    Mend("empty_word.stop", "drug", "prescriptions", swap("12:00:00,,BASE", "12:00:00,None,BASE"),
         1, 5),  # rows part from lines after the value above
    Mend("latin1_text", "name 0 (d_icd_diagnoses)", "d_icd_diagnoses", swap("Acute", "Acut\u00e9"),
         1, 3),
]  # fmt: skip


@pytest.fixture(scope="module")
def mended(tmp_path_factory: pytest.TempPathFactory) -> tuple[ehr.Hospital, Ledger]:
    extract = Extract(tmp_path_factory.mktemp("dirt"))
    texts = {table: extract.text(table) for table in extract.tables}
    for mend in MENDED:
        texts[mend.table] = mend.change(texts[mend.table])
    for table, text in texts.items():
        encoding = "latin-1" if table == "d_icd_diagnoses" else "utf-8"
        (extract.folder / f"{table}.csv").write_bytes(text.encode(encoding))
    ledger = Ledger()
    return ehr.read(extract.folder, ledger=ledger), ledger


@pytest.mark.parametrize("mend", MENDED, ids=lambda mend: f"{mend.unit}.{mend.what}")
def test_what_is_mended_is_counted_with_its_place(
    mended: tuple[ehr.Hospital, Ledger], mend: Mend
) -> None:
    found = [entry for entry in mended[1] if entry.unit == f"{mend.unit}.{mend.what}"]
    assert [entry.rows_out for entry in found] == [mend.count]
    assert found[0].example == f"{mend.table}.csv, line {mend.line}"
    assert found[0].as_json()["example"] == found[0].example


def test_mended_tables_say_what_the_clean_ones_say(
    mended: tuple[ehr.Hospital, Ledger], extract: Extract
) -> None:
    hospital, ledger = mended
    extract.tables["admissions"][2]["admittime"] = "2160-07-01"
    extract.tables["prescriptions"][2]["route"] = ""
    for row in extract.tables["procedures_icd"]:
        row["chartdate"] = {"11": "2150-01-02", "12": "2151-03-31"}[row["hadm_id"]]
    clean = ehr.read(extract.write())
    assert ledger.dropped("read") == {}
    assert hospital.patients.equals(clean.patients)
    assert hospital.visits.equals(clean.visits)
    aside = ["raw_code"]
    assert hospital.events.drop_columns(aside).equals(clean.events.drop_columns(aside))
    names = dict(
        zip(hospital.codes["id"].to_pylist(), hospital.codes["name"].to_pylist(), strict=True)
    )
    assert names["ICD10CM:I50.23"] == "Acut\u00e9 systolic heart failure"


# reason: the row of the diagnoses table that is kept out for it
KEPT_OUT = {
    "repeated_header": dict(zip(TINY["diagnoses_icd"][0], TINY["diagnoses_icd"][0], strict=True)),
    "damaged_id": {"subject_id": "1.2345678901234568e+16"},
    "bad_number": {"seq_num": "1.5"},
    "lost_leading_zero": {"icd_code": "88"},
    "empty_id": {"subject_id": "NULL"},
    "no_visit": {"hadm_id": "N/A"},
    "empty_code": {"icd_code": "NaN"},
    "unknown_code_version": {"icd_version": ""},
}


def test_what_can_mean_two_things_is_kept_out_and_ids_of_any_size_are_kept(
    extract: Extract,
) -> None:
    ids = ["-7", "0", str(2**31 + 1), str(2**53 + 1), str(10**30 + 1)]
    patient, visit, diagnosis = (
        extract.tables[name][0] for name in ("patients", "admissions", "diagnoses_icd")
    )
    extract.tables["patients"] += [patient | {"subject_id": each} for each in ids]
    extract.tables["admissions"] += [visit | {"subject_id": each, "hadm_id": each} for each in ids]
    extract.tables["diagnoses_icd"] += [
        diagnosis | {"subject_id": each, "hadm_id": each, "icd_code": "0088"} for each in ids
    ]
    extract.tables["diagnoses_icd"] += [diagnosis | fault for fault in KEPT_OUT.values()]
    ledger = Ledger()
    hospital = ehr.read(extract.write(), ledger=ledger)
    assert ledger.dropped("read", "diagnosis") == dict.fromkeys(KEPT_OUT, 1)
    assert set(ids) <= set(hospital.patients["id"].to_pylist())
    events = hospital.events.filter(pc.equal(hospital.events["raw_code"], "0088"))
    assert events["visit"].to_pylist() == events["patient"].to_pylist() == sorted(ids)


def fails(source: Path) -> EhrkgError:
    with pytest.raises(EhrkgError) as caught:
        ehr.read(source)
    assert caught.value.todo
    assert isinstance(caught.value, InputError)
    return caught.value


def test_codes_read_as_numbers_are_refused_for_none_can_be_trusted(extract: Extract) -> None:
    """414 is then a category of its own or 0414: nobody can tell."""
    for row, code in zip(
        extract.tables["diagnoses_icd"], ("4280", "I5023", "88", "414"), strict=True
    ):
        row["icd_code"] = code
    error = fails(extract.write())
    assert "lost their leading zeros" in str(error)
    assert (error.line, error.column, error.found) == (4, "icd_code", "88")


def test_floats_among_codes_are_told_by_what_no_code_is(extract: Extract) -> None:
    """4280.0 is no code, so 401.0 beside it is none either; alone it is hypertension."""
    rows = extract.tables["diagnoses_icd"]
    rows[2]["icd_code"] = "401.0"
    codes = set(ehr.read(extract.write()).codes["id"].to_pylist())
    assert "ICD9CM:401.0" in codes
    rows[0]["icd_code"], rows[3]["icd_code"] = "4280.0", "0088"
    ledger = Ledger()
    codes = set(ehr.read(extract.write(), ledger=ledger).codes["id"].to_pylist())
    assert {"ICD9CM:428.0", "ICD9CM:401"} <= codes
    assert "ICD9CM:401.0" not in codes
    found = {entry.unit: entry for entry in ledger}["diagnosis.float_code.code"]
    assert (found.rows_out, found.example) == (2, "diagnoses_icd.csv, line 2")


def test_dates_that_may_be_read_two_ways_are_refused(extract: Extract) -> None:
    for row in extract.tables["procedures_icd"]:
        row["chartdate"] = "01/02/2150"
    error = fails(extract.write())
    assert (error.line, error.column, error.found) == (2, "chartdate", "01/02/2150")


def test_two_encodings_in_one_file_are_refused(extract: Extract) -> None:
    source = extract.write()
    path = source / "prescriptions.csv"
    text = path.read_text().replace("Furosemide", "Furos\u00e9mide").encode()
    path.write_bytes(text.replace(b"5%  Dextrose", b"5% D\xe9xtrose"))
    error = fails(source)
    assert (error.file, error.line) == (path, 4)


def test_a_link_that_goes_round_is_named(extract: Extract) -> None:
    source = extract.write()
    path = source / "patients.csv"
    path.unlink()
    path.symlink_to(path)
    assert "round in a circle" in str(fails(source))
    path.unlink()
    path.write_text(extract.text("patients"))
    (source / "again").symlink_to(source)  # a folder that holds itself is not entered
    assert len(ehr.read(source).visits) == 3


def test_a_file_that_changes_while_it_is_read(extract: Extract) -> None:
    extract.tables["prescriptions"] *= 5_000
    source = extract.write()
    line = extract.text("prescriptions").splitlines()[1] + "\n"
    stop = threading.Event()

    def write() -> None:
        with (source / "prescriptions.csv").open("a") as handle:
            while not stop.wait(0.001):
                handle.write(line)
                handle.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert "changed while it was read" in str(fails(source))
    finally:
        stop.set()
        writer.join()


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
import ehrkg.ehr as ehr
from ehrkg.foundation.errors import InputError
try:
    ehr.read(sys.argv[1])
except InputError as error:
    print(error)
"""


def test_a_disk_that_fills_up(extract: Extract) -> None:
    """The archive's tables need room to be unpacked; a limit on files stands for the full disk."""
    extract.tables["prescriptions"] *= 1_000
    source = extract.write()
    with zipfile.ZipFile(source / "tables.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(source.glob("*.csv")):
            archive.write(path, path.name)
            path.unlink()
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "prescriptions.csv" in done.stdout
    assert "the disk has room" in done.stdout
