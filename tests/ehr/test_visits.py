"""What a visit is, where the tables are not as they should be; and what is never looked at."""

from __future__ import annotations

import json
import socket
from datetime import datetime
from typing import NoReturn

import pytest

import ehrkg.ehr as ehr
from ehrkg.foundation.ledger import Ledger
from ehrkg.propose.counting import count_pairs
from tests.ehr.conftest import Extract

STAYS = [
    # id, admitted, discharged, died, deathtime
    ("overlap", "2150-01-04 00:00:00", "2150-01-08 00:00:00", "0", ""),
    ("point", "2150-03-01 12:00:00", "2150-03-01 12:00:00", "0", ""),
    ("transfer", "2150-03-01 13:00:00", "2150-03-02 00:00:00", "0", ""),
    ("twin-a", "2150-05-01 00:00:00", "2150-05-02 00:00:00", "0", ""),
    ("twin-b", "2150-05-01 00:00:00", "2150-05-02 00:00:00", "0", ""),
    ("early", "2152-01-01 00:00:00", "2152-01-09 00:00:00", "1", "2152-01-03 00:00:00"),
    ("donor", "2152-01-10 00:00:00", "2152-01-11 00:00:00", "1", "2152-01-03 00:00:00"),
]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[ehr.Hospital, Ledger]:
    extract = Extract(tmp_path_factory.mktemp("odd"))
    visit = extract.tables["admissions"][1]
    extract.tables["admissions"] += [
        visit | {"hadm_id": name, "admittime": admitted, "dischtime": discharged,
                 "hospital_expire_flag": died, "deathtime": death}
        for name, admitted, discharged, died, death in STAYS
    ]  # fmt: skip
    order = extract.tables["prescriptions"][0] | {"hadm_id": "point"}
    extract.tables["prescriptions"] += [
        order | {"drug": drug, "starttime": start, "stoptime": stop}
        for drug, start, stop in (
            ("crosses", "2150-03-01 12:00:00", "2150-03-09 00:00:00"),
            ("late", "2150-03-05 01:00:00", "2150-03-07 01:00:00"),
            ("brief", "2150-03-01 10:00:00", "2150-03-01 10:40:00"),
            ("a day", "2150-03-01", "2150-03-01"),
        )
    ]
    procedure = extract.tables["procedures_icd"][0] | {"hadm_id": "point"}
    extract.tables["procedures_icd"].append(procedure | {"chartdate": "2150-03-01"})
    ledger = Ledger()
    return ehr.read(extract.write(), ledger=ledger), ledger


def test_odd_stays_are_kept_in_order_and_counted(odd: tuple[ehr.Hospital, Ledger]) -> None:
    hospital, ledger = odd
    assert ledger.dropped("read") == {}
    rows = [row for row in hospital.visits.to_pylist() if row["patient"] == "1"]
    order = ("11", "overlap", "point", "transfer", "twin-a", "twin-b", "12", "early", "donor")
    assert tuple(row["id"] for row in rows) == order
    gaps = {row["id"]: row["gap_days"] for row in rows}
    assert gaps["overlap"] < 0
    assert gaps["transfer"] == 0  # under a day: the same episode
    assert [row["died"] for row in rows[-2:]] == [True, True]
    counted = {entry.unit: entry.rows_out for entry in ledger if "." in entry.unit}
    assert counted["visit.overlaps_the_one_before"] == 2  # and the twin
    assert counted["visit.same_times_as_another"] == 1
    assert counted["visit.died_before_discharge"] == 1
    assert counted["visit.died_before_admission"] == 1


def test_orders_beyond_the_visit_stay_as_they_stand(odd: tuple[ehr.Hospital, Ledger]) -> None:
    hospital, ledger = odd
    rows = {row["raw_code"]: row for row in hospital.events.to_pylist()}
    assert rows["crosses"]["stop"] == datetime(2150, 3, 9)
    assert rows["brief"]["stop"] == datetime(2150, 3, 1, 10, 40)
    counted = {entry.unit: entry.rows_out for entry in ledger if "." in entry.unit}
    assert counted["drug.stops_after_discharge"] == 2
    assert counted["drug.starts_after_discharge"] == 1
    assert counted["drug.stopped_within_the_hour"] == 1  # nobody knows how long a day's order ran


def test_a_date_without_a_time_may_lie_before_admission(odd: tuple[ehr.Hospital, Ledger]) -> None:
    rows = [row for row in odd[0].events.to_pylist() if row["visit"] == "point"]
    assert [row["start"] for row in rows if row["kind"] == "procedure"] == [datetime(2150, 3, 1)]


def test_dates_of_two_patients_are_never_compared(extract: Extract, new_extract) -> None:
    """Each patient's dates are shifted by an amount of their own: another one changes no result."""
    here, there = ehr.read(extract.write()), new_extract("shifted")
    for rows in there.tables.values():
        for row in rows:
            if row.get("subject_id") == "2":
                row |= {name: value.replace("2160", "2099") for name, value in row.items()}
    shifted = ehr.read(there.write())
    assert shifted.visits["admitted"].to_pylist() != here.visits["admitted"].to_pylist()
    dated = {"visits": ["admitted", "discharged"], "events": ["start", "stop"],
             "visit_codes": ["start", "stop"], "patients": [], "codes": []}  # fmt: skip
    for name, dates in dated.items():
        one, other = (getattr(each, name).drop_columns(dates) for each in (here, shifted))
        assert one.equals(other), name
    counts = [
        count_pairs(each, head_kind="drug", tail_kind="diagnosis").pairs for each in (here, shifted)
    ]
    assert counts[0].equals(counts[1])


def test_free_text_is_never_read_and_nothing_leaves(
    extract: Extract, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even of rows that are kept out, and with every socket closed."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    for rows in extract.tables.values():
        for row in rows:
            row["comments"] = "seen by Dr SECRET"
    extract.tables["diagnoses_icd"][0]["hadm_id"] = ""
    ledger = Ledger()
    hospital = ehr.read(extract.write(), ledger=ledger)
    kept = ledger.quarantine["read"].to_pylist()
    assert [json.loads(row["raw"])["icd_code"] for row in kept] == ["4280"]
    everything = [kept, ledger.as_json()] + [
        getattr(hospital, name).to_pylist()
        for name in ("patients", "visits", "events", "codes", "visit_codes")
    ]
    assert "SECRET" not in str(everything)
