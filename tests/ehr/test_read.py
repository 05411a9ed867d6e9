"""What reading gives, on tiny extracts and on the MIMIC-IV demo."""

from __future__ import annotations

import gzip
import json
import random
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

import ehrkg.ehr as ehr
from ehrkg.ehr import schema
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import content_hash

TABLES = ("patients", "visits", "events", "codes", "visit_codes")


def rows(table: pa.Table) -> list[dict]:
    return table.to_pylist()


def by(table: pa.Table, key: str) -> dict[str, dict]:
    return {row[key]: row for row in table.to_pylist()}


def test_tables_have_the_schemas_and_their_order(extract) -> None:
    hospital = ehr.read(extract.write())
    assert hospital.format == "mimic4"
    for name in TABLES:
        assert getattr(hospital, name).schema == getattr(schema, name.upper())
    keys = [tuple(r[k] for k in ("visit", "kind", "code", "route", "source", "row"))
            for r in rows(hospital.events)]  # fmt: skip
    assert keys == sorted(keys)
    assert [r["id"] for r in rows(hospital.codes)] == sorted(
        set(hospital.events["code"].to_pylist())
    )


def test_visits_are_in_time_order_with_age_gap_and_death(extract) -> None:
    visits = by(ehr.read(extract.write()).visits, "id")
    first, second, other = visits["11"], visits["12"], visits["21"]
    assert (first["ordinal"], second["ordinal"], other["ordinal"]) == (1, 2, 1)
    assert first["gap_days"] is None
    assert second["gap_days"] == 428  # 2150-01-05 09:30 to 2151-03-10 08:00, whole days
    assert (first["age"], second["age"], other["age"]) == (60, 61, 91)
    assert (first["died"], other["died"]) == (False, True)
    assert second["admitted"] == datetime(2151, 3, 10, 8)


def test_over_89_is_91(extract) -> None:
    ages = {("88", "2159"): 89, ("88", "2158"): 91, ("91", "2165"): 91, ("0", "2160"): 0}
    patient, visit = extract.tables["patients"][1], extract.tables["admissions"][2]
    for place, (age, year) in enumerate(ages):
        who = {"subject_id": f"3{place}"}
        extract.tables["patients"].append(patient | who | {"anchor_age": age, "anchor_year": year})
        extract.tables["admissions"].append(visit | who | {"hadm_id": f"3{place}"})
    visits = by(ehr.read(extract.write()).visits, "id")
    assert [visits[f"3{place}"]["age"] for place in range(4)] == list(ages.values())


def test_names_of_folders_and_files_are_taken_as_they_stand(new_extract) -> None:
    extract = new_extract("it's [my] *data*?")
    extract.write(suffix=".CSV")
    for path in extract.folder.glob("d_icd*"):
        path.with_suffix(".CSV.GZ").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    hospital = ehr.read(extract.folder)
    assert len(hospital.events) == 9
    assert by(hospital.codes, "id")["ICD9CM:428.0"]["name"] == "Heart failure, unspecified"


def test_gap_counts_from_the_latest_earlier_discharge(extract) -> None:
    base = extract.tables["admissions"][1]
    times = {
        "13": ("2150-01-02 00:00:00", "2150-01-03 00:00:00"),
        "14": ("2150-01-05 20:00:00", "2150-01-06 00:00:00"),
    }
    extract.tables["admissions"] += [
        base | {"hadm_id": visit, "admittime": start, "dischtime": stop}
        for visit, (start, stop) in times.items()
    ]
    visits = by(ehr.read(extract.write()).visits, "id")
    assert visits["13"]["gap_days"] < 0  # it overlaps the visit before
    assert visits["14"]["gap_days"] == 0  # from visit 11, which ended after visit 13


def test_each_event_names_its_row_and_raw_code(extract) -> None:
    events = rows(ehr.read(extract.write(inside="hosp", suffix=".csv.gz")).events)
    found = {(e["source"], e["row"]): e for e in events}
    assert len(found) == 9
    salmonella = found["hosp/diagnoses_icd.csv.gz", 4]
    assert (salmonella["code"], salmonella["raw_code"]) == ("ICD9CM:008.8", "0088 ")
    assert found["hosp/diagnoses_icd.csv.gz", 3]["code"] == "ICD9CM:E849.7"
    graft = found["hosp/procedures_icd.csv.gz", 2]
    assert (graft["code"], graft["start"]) == ("ICD10PCS:02100Z9", datetime(2151, 3, 11))
    oral = found["hosp/prescriptions.csv.gz", 2]
    assert (oral["code"], oral["route"], oral["stop"]) == ("DRUGNAME:furosemide", "oral", None)
    dextrose = found["hosp/prescriptions.csv.gz", 3]
    assert (dextrose["route"], dextrose["drug_type"]) == ("unknown", "BASE")
    assert dextrose["code"] == "DRUGNAME:5% dextrose"


def test_what_is_mended_is_counted_and_kept(extract) -> None:
    ledger = Ledger()
    ehr.read(extract.write(), ledger=ledger)
    mended = {e.unit: e for e in ledger if "." in e.unit}
    assert set(mended) == {"drug.stop_before_start", "drug.unknown_route.BY OWL"}
    assert all(e.rows_in == e.rows_out == 1 for e in mended.values())


def test_column_case_and_order_and_extra_columns_do_not_matter(extract, new_extract) -> None:
    other = new_extract("upper")
    for name, table in other.tables.items():
        other.tables[name] = [
            {"EXTRA": "x,y", **{key.upper(): row[key] for key in reversed(row)}} for row in table
        ]
    one, two = ehr.read(extract.write()), ehr.read(other.write())
    for name in TABLES:
        assert getattr(one, name).equals(getattr(two, name))


def test_names_come_from_the_tables_where_they_are_there(extract) -> None:
    codes = by(ehr.read(extract.write()).codes, "id")
    assert codes["ICD9CM:428.0"]["name"] == "Heart failure, unspecified"
    assert codes["ICD9CM:E849.7"]["name"] == ""
    assert codes["DRUGNAME:5% dextrose"]["name"] == "5% Dextrose"
    assert codes["ICD10PCS:02100Z9"]["kind"] == "procedure"
    del extract.tables["d_icd_diagnoses"]
    (extract.folder / "d_icd_diagnoses.csv").unlink()
    assert by(ehr.read(extract.folder).codes, "id")["ICD9CM:428.0"]["name"] == ""


def test_visit_codes_sum_the_rows_of_a_visit_code_and_route(extract) -> None:
    order = extract.tables["prescriptions"][0]
    extract.tables["prescriptions"] += [
        order | {"drug_type": "BASE", "starttime": "2150-01-01 06:00:00", "pharmacy_id": "70"},
        order | {"drug": "furosemide", "stoptime": "2150-01-04 00:00:00", "pharmacy_id": "71"},
    ]
    hospital = ehr.read(extract.write())
    edges = {(r["visit"], r["code"], r["route"]): r for r in rows(hospital.visit_codes)}
    edge = edges["11", "DRUGNAME:furosemide", "intravenous"]
    assert (edge["n"], edge["drug_type"], edge["row"]) == (3, "MAIN", 1)
    assert edge["start"] == datetime(2150, 1, 1, 6)
    assert edge["stop"] == datetime(2150, 1, 4)
    assert edge["raw_code"] == "Furosemide"
    assert edges["11", "DRUGNAME:furosemide", "oral"]["n"] == 1
    assert sum(e["n"] for e in edges.values()) == len(hospital.events)


def test_unusable_rows_are_counted_by_reason_and_kept_whole(extract) -> None:
    diagnosis = extract.tables["diagnoses_icd"][0]
    faults = {
        "unknown_patient": {"subject_id": "99"},
        "empty_id": {"subject_id": " "},
        "no_visit": {"hadm_id": ""},
        "visit_of_another_patient": {"hadm_id": "21"},
        "empty_code": {"icd_code": " "},
        "unknown_code_version": {"icd_version": "11"},
        "bad_number": {"seq_num": "first"},
        "duplicate_row": {},
    }
    extract.tables["diagnoses_icd"] += [diagnosis | fault for fault in faults.values()]
    extract.tables["diagnoses_icd"].append(diagnosis | {"hadm_id": "777"})
    ledger = Ledger()
    hospital = ehr.read(extract.write(), ledger=ledger)
    assert ledger.dropped("read", "diagnosis") == dict.fromkeys(faults, 1) | {"no_visit": 2}
    assert sum(1 for kind in hospital.events["kind"].to_pylist() if kind == "diagnosis") == 4
    kept = rows(ledger.quarantine["read"])
    assert len(kept) == 9
    assert [r["row"] for r in kept] == list(range(5, 14))
    assert json.loads(kept[5]["raw"]) == diagnosis | faults["unknown_code_version"]
    assert kept[5]["reason"] == "unknown_code_version"


def test_a_drug_may_be_ordered_twice_and_a_procedure_done_twice(extract) -> None:
    extract.tables["prescriptions"] *= 2
    extract.tables["procedures_icd"].append(extract.tables["procedures_icd"][0] | {"seq_num": "2"})
    ledger = Ledger()
    hospital = ehr.read(extract.write(), ledger=ledger)
    assert ledger.dropped("read") == {}
    assert len(hospital.events) == 4 + 3 + 6


def test_events_of_an_unusable_visit_say_so(extract) -> None:
    extract.tables["admissions"][2]["dischtime"] = "2160-06-01 00:00:00"
    ledger = Ledger()
    hospital = ehr.read(extract.write(), ledger=ledger)
    assert ledger.dropped("read", "visit") == {"reversed_times": 1}
    assert ledger.dropped("read", "diagnosis") == {"visit_unusable": 1}
    assert "21" not in hospital.visits["id"].to_pylist()
    assert len(hospital.patients) == 2


def test_some_bad_dates_are_quarantined(extract) -> None:
    extract.tables["admissions"].append(
        extract.tables["admissions"][0] | {"hadm_id": "15", "admittime": "yesterday"}
    )
    extract.tables["prescriptions"].append(
        extract.tables["prescriptions"][0] | {"starttime": "2150-13-01 00:00:00"}
    )
    ledger = Ledger()
    ehr.read(extract.write(), ledger=ledger)
    assert ledger.dropped("read", "visit") == {"bad_date": 1}
    assert ledger.dropped("read", "drug") == {"bad_date": 1}


def test_one_visit_id_twice_keeps_one_whatever_the_order(extract, new_extract) -> None:
    other = new_extract("other")
    for each, order in ((extract, 1), (other, -1)):
        twice = each.tables["admissions"][0] | {"admittime": "2151-03-09 08:00:00"}
        each.tables["admissions"] = (each.tables["admissions"] + [twice])[::order]
    one, two = ehr.read(extract.write()), ehr.read(other.write())
    assert one.visits.equals(two.visits)
    assert by(one.visits, "id")["12"]["admitted"] == datetime(2151, 3, 9, 8)


def test_row_numbers_are_true_in_a_large_plain_file(extract) -> None:
    """The engine reads plain CSV in parallel; each row must still name its own line."""
    base = extract.tables["prescriptions"][0]
    order = random.Random(1).sample(range(50_000), 50_000)
    extract.tables["prescriptions"] = [base | {"drug": f"drug {n}"} for n in order]
    events = ehr.read(extract.write(), threads=4).events
    drugs = events.filter(pa.compute.equal(events["kind"], "drug"))
    assert len(drugs) == len(order)
    found = dict(zip(drugs["row"].to_pylist(), drugs["raw_code"].to_pylist(), strict=True))
    assert all(found[row] == f"drug {n}" for row, n in enumerate(order, start=1))


def test_splits_are_about_70_10_20_and_hold_for_a_patient(extract) -> None:
    from ehrkg.ehr.assembly import split_of

    splits = [split_of(str(n)) for n in range(10_000)]
    assert [round(splits.count(s) / 10_000, 1) for s in ("train", "dev", "test")] == [0.7, 0.1, 0.2]
    patients = by(ehr.read(extract.write()).patients, "id")
    assert patients["1"]["split"] == split_of("1")
    assert patients["1"]["year_group"] == "2014 - 2016"


class TestDemo:
    """The MIMIC-IV demo, as its README counts it."""

    @pytest.fixture(scope="class")
    @classmethod
    def read(cls, mimic4_demo: Path) -> tuple[schema.Hospital, Ledger]:
        ledger = Ledger()
        return ehr.read(mimic4_demo, ledger=ledger), ledger

    def test_counts(self, read: tuple[schema.Hospital, Ledger]) -> None:
        hospital, ledger = read
        assert (len(hospital.patients), len(hospital.visits)) == (100, 275)
        kinds = hospital.events["kind"].to_pylist()
        assert (kinds.count("diagnosis"), kinds.count("procedure")) == (4506, 722)
        assert kinds.count("drug") == 18087
        assert ledger.dropped("read") == {}
        mended = {e.unit: e.rows_in for e in ledger if "." in e.unit}
        assert mended == {
            "drug.stop_before_start": 753,
            "drug.starts_after_discharge": 135,
            "drug.stops_after_discharge": 5228,
            "drug.stopped_within_the_hour": 440,
        }

    def test_both_versions_stay_apart(self, read: tuple[schema.Hospital, Ledger]) -> None:
        hospital, _ = read
        codes = [c.split(":")[0] for c in hospital.events["code"].to_pylist()]
        assert (codes.count("ICD9CM"), codes.count("ICD10CM")) == (2193, 2313)

    def test_every_icd_code_has_a_name(self, read: tuple[schema.Hospital, Ledger]) -> None:
        nameless = [c["id"] for c in rows(read[0].codes) if not c["name"]]
        assert nameless == []

    def test_readmissions(self, read: tuple[schema.Hospital, Ledger]) -> None:
        ordinals = read[0].visits["ordinal"].to_pylist()
        assert ordinals.count(2) == 48
        assert max(ordinals) == 20

    def test_threads_and_folder_do_not_matter(
        self, read: tuple[schema.Hospital, Ledger], mimic4_demo: Path
    ) -> None:
        again = ehr.read(mimic4_demo / "hosp", threads=1)
        for name in TABLES:
            shared = [c for c in getattr(again, name).column_names if c != "source"]
            assert content_hash(getattr(again, name), columns=shared) == content_hash(
                getattr(read[0], name), columns=shared
            )
