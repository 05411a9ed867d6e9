"""Bad input: each fault gets one clear error that names file, line, column and the way out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import ehrkg.ehr as ehr
from ehrkg.foundation.errors import EhrkgError, InputError, UsageError


def fails(source: Path, **options: str) -> EhrkgError:
    with pytest.raises(EhrkgError) as caught:
        ehr.read(source, **options)
    assert caught.value.todo
    return caught.value


def test_path_that_is_not_there(tmp_path: Path) -> None:
    error = fails(tmp_path / "nowhere")
    assert isinstance(error, InputError)
    assert error.exit_code == 3
    assert "nowhere" in str(error)


def test_a_file_instead_of_a_folder(extract) -> None:
    assert "not a folder" in str(fails(extract.write() / "patients.csv"))


def test_folder_with_no_tables(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("a\n1\n")
    error = fails(tmp_path)
    assert "no tables" in str(error)
    assert "admissions" in str(error)
    assert "no tables" in str(fails(tmp_path)) or fails(tmp_path, format="mimic4")


def test_unknown_format(extract) -> None:
    error = fails(extract.write(), format="mimic9")
    assert isinstance(error, UsageError)
    assert error.exit_code == 2
    assert "mimic4" in str(error)


def test_missing_table(extract) -> None:
    del extract.tables["procedures_icd"]
    source = extract.write()
    for error in (fails(source), fails(source, format="mimic4")):
        assert "missing table: procedures_icd" in str(error)


def test_two_files_of_one_table(extract) -> None:
    source = extract.write()
    (source / "Patients.csv.gz").write_bytes(gzip.compress(b"subject_id\n1\n"))
    assert "two files" in str(fails(source))


def test_missing_column(extract) -> None:
    for row in extract.tables["diagnoses_icd"]:
        row["version"] = row.pop("icd_version")
    error = fails(extract.write())
    assert "no column 'icd_version'" in str(error)
    assert "found: subject_id, hadm_id, seq_num, icd_code, version" in str(error)
    assert error.file.name == "diagnoses_icd.csv"


def test_one_column_twice(extract) -> None:
    source = extract.write()
    path = source / "patients.csv"
    path.write_text(path.read_text().replace("dod", "GENDER", 1))
    assert "same name" in str(fails(source))


def test_empty_file_and_header_only(extract) -> None:
    source = extract.write()
    (source / "admissions.csv").write_text("")
    assert "the file is empty" in str(fails(source))
    (source / "admissions.csv").write_text(extract.text("admissions").splitlines()[0] + "\n\n")
    assert "no rows" in str(fails(source))


def test_truncated_gzip(extract) -> None:
    extract.tables["prescriptions"] *= 300
    source = extract.write(suffix=".csv.gz")
    path = source / "prescriptions.csv.gz"
    whole = path.read_bytes()
    for end in (len(whole) // 2, len(whole) - 4):
        path.write_bytes(whole[:end])
        error = fails(source)
        assert "ends too early" in str(error)
        assert error.file == path
    path.write_bytes(whole[: len(whole) // 2] + b"\0\0\0\0\0\0" + whole[len(whole) // 2 + 6 :])
    assert fails(source).file == path
    path.write_bytes(b"subject_id,hadm_id\n1,2\n")
    assert "no gzip" in str(fails(source))


@pytest.mark.parametrize("closing", ["", ' "x"'])
def test_broken_quote_names_its_line(extract, closing: str) -> None:
    """The engine alone would take an unclosed quote to swallow the rows after it in silence."""
    rows = extract.tables["prescriptions"]
    rows[1]["drug"] = "@@"
    source = extract.write()
    path = source / "prescriptions.csv"
    text = path.read_text().replace("@@", '"Furosemide')
    path.write_text(text.replace("BY OWL", f"BY OWL{closing}"))
    error = fails(source)
    assert (error.file, error.line) == (path, 3)
    assert "quote" in str(error)


def test_text_after_a_quote(extract) -> None:
    source = extract.write()
    path = source / "prescriptions.csv"
    path.write_text(path.read_text().replace("BY OWL", '"BY" OWL'))
    error = fails(source)
    assert (error.file, error.line) == (path, 4)


@pytest.mark.parametrize("change", [",surplus", None])
def test_row_of_the_wrong_width(extract, change: str | None) -> None:
    source = extract.write()
    path = source / "diagnoses_icd.csv"
    lines = path.read_text().splitlines()
    lines[3] = lines[3] + change if change else lines[3].rpartition(",")[0]
    path.write_text("\n".join(lines) + "\n")
    error = fails(source)
    assert (error.file, error.line) == (path, 4)
    assert "wrong number of values" in str(error)


def test_a_column_of_dates_without_a_date(extract) -> None:
    for row in extract.tables["admissions"]:
        row["admittime"] = "03/10/2151"
    error = fails(extract.write())
    assert (error.line, error.column, error.found) == (2, "admittime", "03/10/2151")
    assert "YYYY-MM-DD" in str(error)


def test_a_column_of_numbers_without_a_number(extract) -> None:
    for row in extract.tables["patients"]:
        row["anchor_age"] = ""
    error = fails(extract.write())
    assert (error.line, error.column, error.found) == (2, "anchor_age", "(empty)")


def test_a_table_of_which_no_row_is_usable(extract) -> None:
    for row in extract.tables["diagnoses_icd"]:
        row["hadm_id"] = "9" + row["hadm_id"]
    assert "found: no_visit: 4" in str(fails(extract.write()))


def test_windows_line_ends_byte_order_mark_and_blank_lines_are_no_fault(extract) -> None:
    plain = ehr.read(extract.write())
    for path in extract.folder.glob("*.csv"):
        text = path.read_text().replace("\n", "\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n\r\n")
    assert ehr.read(extract.folder).events.equals(plain.events)


def test_a_last_line_without_an_end_counts(extract) -> None:
    for rows in extract.tables.values():
        del rows[1:]
    for table in ("admissions", "diagnoses_icd", "procedures_icd", "prescriptions"):
        extract.tables[table][0]["hadm_id"] = "12"
    source = extract.write()
    for path in source.glob("*.csv"):
        path.write_text(path.read_text().rstrip("\n"))
    assert len(ehr.read(source).events) == 3


def test_detect_names_the_format(extract, tmp_path: Path) -> None:
    assert ehr.detect(extract.write(inside="hosp")) == "mimic4"
    with pytest.raises(InputError):
        ehr.detect(tmp_path / "nowhere")
