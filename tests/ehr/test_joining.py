"""Two extracts of one hospital are the hospital: what was cut in two is whole again."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ehrkg import ehr
from ehrkg.ehr import synth
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import content_hash

from . import splitting

TABLES = ("patients", "visits", "events", "codes", "visit_codes")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """All tables, and the same rows in two extracts."""
    out = tmp_path_factory.mktemp("extracts")
    synth.write(out / "all", patients=60, seed=5)
    splitting.split(out / "all", out / "first", out / "second")
    return out / "all", out / "first", out / "second"


@pytest.fixture(scope="module")
def extracts(folders: tuple[Path, Path, Path]) -> tuple[ehr.Hospital, ehr.Hospital]:
    return ehr.read(folders[1]), ehr.read(folders[2])


def without_places(hospital: ehr.Hospital) -> dict[str, str]:
    """The content of each table, save for where its rows stand."""
    found = {}
    for name in TABLES:
        table = getattr(hospital, name)
        columns = [one for one in table.column_names if one not in ("source", "row")]
        found[name] = content_hash(table, columns=columns)
    return found


def test_two_extracts_give_the_whole(folders, extracts) -> None:
    first, second = extracts
    both = set(first.patients["id"].to_pylist()) & set(second.patients["id"].to_pylist())
    assert len(both) > 5
    assert set(second.patients["id"].to_pylist()) - both
    ledger = Ledger()
    joined = ehr.join(extracts, ledger=ledger)
    assert without_places(joined) == without_places(ehr.read(folders[0]))
    assert ledger.dropped("join", "patient") == {"known_patient": len(both)}
    assert ledger.dropped("join", "visit") == {}
    for table in TABLES:
        assert getattr(joined, table).schema == getattr(first, table).schema


def test_a_row_is_found_in_the_extract_that_it_names(folders, extracts) -> None:
    lines: dict[str, list[list[str]]] = {}
    for event in ehr.join(extracts).events.to_pylist()[::50]:
        place, _, name = event["source"].partition("/")
        folder = {"extract-1": folders[1], "extract-2": folders[2]}[place]
        if event["source"] not in lines:
            lines[event["source"]] = splitting.read(folder / name)
        row = lines[event["source"]][event["row"]]
        assert event["visit"] in row
        assert event["raw_code"] in row


def test_what_two_extracts_hold_counts_once(folders, extracts) -> None:
    """The new extract is often all there is up to now: the old rows come again."""
    ledger = Ledger()
    everything = ehr.read(folders[0])
    joined = ehr.join([extracts[0], everything], ledger=ledger)
    assert without_places(joined) == without_places(everything)
    assert ledger.dropped("join", "visit") == {"known_visit": extracts[0].visits.num_rows}
    assert "visit_differs" not in ledger.dropped("join")


def test_a_known_visit_with_other_rows_is_counted_and_kept_aside(folders, tmp_path) -> None:
    shutil.copytree(folders[1], tmp_path / "changed")
    path = tmp_path / "changed" / "hosp" / "diagnoses_icd.csv.gz"
    header, *rows = splitting.read(path)
    first = ehr.read(folders[1])
    event = next(row for row in first.events.to_pylist() if row["kind"] == "diagnosis")
    del rows[event["row"] - 1]
    splitting.write(path, [header, *rows])
    ledger = Ledger()
    joined = ehr.join([first, ehr.read(tmp_path / "changed")], ledger=ledger)
    assert without_places(joined) == without_places(first)
    assert ledger.dropped("join", "visit")["visit_differs"] == 1
    kept = ledger.quarantine["join"].to_pylist()
    assert {row["visit"] for row in kept} == {event["visit"]}
    assert {row["reason"] for row in kept} == {"visit_differs"}
    assert all(row["source"].startswith("extract-2/") for row in kept)
    assert sum(
        ledger.dropped("join", kind).get("visit_differs", 0)
        for kind in ("diagnosis", "drug", "procedure")
    ) == len(kept)


def test_a_patient_who_differs_stays_as_first_seen(extracts) -> None:
    first, _ = extracts
    patients = first.patients.to_pylist()
    patients[0]["sex"] = "M" if patients[0]["sex"] == "F" else "F"
    other = replace(first, patients=first.patients.from_pylist(patients, first.patients.schema))
    ledger = Ledger()
    assert ehr.join([first, other], ledger=ledger).patients.equals(first.patients)
    assert ledger.dropped("join", "patient")["patient_differs"] == 1


def test_extracts_of_different_formats_are_refused(extracts) -> None:
    with pytest.raises(UsageError, match="different formats: mimic4, omop"):
        ehr.join([extracts[0], replace(extracts[1], format="omop")])
