"""Formats as declarations: containers, Synthea's tables, OMOP's visits, one's own tables."""

from __future__ import annotations

import zipfile
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import ehrkg.ehr as ehr
from ehrkg.ehr.codes import CODE_SYSTEMS
from ehrkg.ehr.formats import formats
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger
from tests.ehr.conftest import Extract

TABLES = ("patients", "visits", "events", "codes", "visit_codes")


def put(folder: Path, tables: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in tables.items():
        lines = [line.strip() for line in text.strip().splitlines()]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def read(folder: Path, **options: str) -> tuple[ehr.Hospital, Ledger]:
    ledger = Ledger()
    return ehr.read(folder, ledger=ledger, **options), ledger


@pytest.mark.parametrize("name", sorted(formats()))
def test_a_declaration_names_only_what_there_is(name: str) -> None:
    form = formats()[name]
    assert form.name == name
    assert set(form.shares_with) <= set(formats())
    for unit in (*form.units, *form.names):
        assert set(unit.systems.values()) <= set(CODE_SYSTEMS)
        lookups = {lookup.name for lookup in unit.lookups}
        for field in unit.columns.values():
            assert field.columns or field.value
            named = {column.split(".")[0] for column in field.columns if "." in column}
            assert named <= lookups | {"wide"}


def test_however_the_tables_are_packed_they_say_the_same(extract: Extract, tmp_path: Path) -> None:
    plain = ehr.read(extract.write())
    packed = tmp_path / "packed"
    packed.mkdir()
    with zipfile.ZipFile(packed / "release.zip", "w") as archive:
        archive.write(extract.folder / "patients.csv", "mimic-iv/hosp/patients.csv")
        archive.write(extract.folder / "admissions.csv", "mimic-iv/hosp/admissions.csv")
        archive.writestr("__MACOSX/mimic-iv/hosp/._patients.csv", b"\0")
    pq.write_table(  # a number here is a number, not text
        csv.read_csv(extract.folder / "diagnoses_icd.csv", convert_options=csv.ConvertOptions(
            column_types={"icd_code": "string"})),
        packed / "DIAGNOSES_ICD.parquet")  # fmt: skip
    lines = (extract.folder / "prescriptions.csv").read_text().splitlines(keepends=True)
    for place, line in enumerate(lines[1:]):
        (packed / f"prescriptions-{place:05}.csv").write_text(lines[0] + line)
    (packed / "procedures_icd").mkdir()
    lines = (extract.folder / "procedures_icd.csv").read_text().splitlines(keepends=True)
    for place, line in enumerate(lines[1:]):
        (packed / "procedures_icd" / f"part-{place}.csv").write_text(lines[0] + line)
    (packed / "d_icd_diagnoses.csv").write_bytes(
        (extract.folder / "d_icd_diagnoses.csv").read_bytes()
    )
    hospital = ehr.read(packed)
    aside = ["source", "row"]
    for name in ("patients", "visits", "codes"):
        assert getattr(hospital, name).equals(getattr(plain, name))
    for name in ("events", "visit_codes"):
        found, wanted = (
            getattr(h, name).drop_columns(aside).to_pylist() for h in (hospital, plain)
        )
        assert sorted(map(str, found)) == sorted(map(str, wanted))
    sources = set(hospital.events["source"].to_pylist())
    assert {"prescriptions-00001.csv", "procedures_icd/part-0.csv"} <= sources
    assert {"release.zip", "DIAGNOSES_ICD.parquet"} <= set(ehr.table_files(packed))


def test_a_damaged_archive_is_named(extract: Extract) -> None:
    source = extract.write()
    (source / "patients.csv").unlink()
    (source / "rest.zip").write_bytes(b"PK\3\4 no archive")
    with pytest.raises(InputError, match="zip archive is damaged") as caught:
        ehr.read(source)
    assert caught.value.file == source / "rest.zip"


# Columns as the data dictionary of Synthea's CSV export lists them.
SYNTHEA = {
    "patients.csv": """
        Id,BIRTHDATE,DEATHDATE,SSN,FIRST,LAST,MARITAL,RACE,ETHNICITY,GENDER,BIRTHPLACE,ZIP
        p-1,1950-03-04,,999-11-1111,Ada,Lark,M,white,nonhispanic,F,Boston,02108
        p-2,2001-12-31,2020-02-02,999-22-2222,Ben,Wren,S,asian,nonhispanic,M,Boston,02109
        """,
    "encounters.csv": """
        Id,START,STOP,PATIENT,ORGANIZATION,PROVIDER,PAYER,ENCOUNTERCLASS,CODE,DESCRIPTION
        e-1,2019-05-01T08:00:00Z,2019-05-03T09:00:00Z,p-1,o,d,y,inpatient,185347001,Admission
        e-2,2019-03-03T08:00:00Z,2019-03-03T08:15:00Z,p-1,o,d,y,wellness,162673000,Check
        e-3,2020-02-01T23:00:00Z,2020-02-02T04:00:00Z,p-2,o,d,y,emergency,50849002,Emergency
        """,
    "conditions.csv": """
        START,STOP,PATIENT,ENCOUNTER,SYSTEM,CODE,DESCRIPTION
        2019-05-01,,p-1,e-1,http://snomed.info/sct,88805009,Chronic congestive heart failure
        2020-02-01,,p-2,e-3,http://snomed.info/sct,22298006,Myocardial infarction
        """,
    "procedures.csv": """
        START,STOP,PATIENT,ENCOUNTER,SYSTEM,CODE,DESCRIPTION,BASE_COST
        2019-05-02T10:00:00Z,2019-05-02T10:20:00Z,p-1,e-1,http://snomed.info/sct,40701008,Echo,9
        """,
    "medications.csv": """
        START,STOP,PATIENT,PAYER,ENCOUNTER,CODE,DESCRIPTION,BASE_COST,PAYER_COVERAGE,DISPENSES
        2019-05-01T09:00:00Z,2019-05-03T09:00:00Z,p-1,y,e-1,313988,Furosemide 40 MG,1,0,1
        """,
    "immunizations.csv": """
        DATE,PATIENT,ENCOUNTER,CODE,DESCRIPTION,BASE_COST
        2019-03-03T08:00:00Z,p-1,e-2,08,Hep B,140
        """,
}


def test_synthea_is_a_declaration(tmp_path: Path) -> None:
    hospital, ledger = read(put(tmp_path, SYNTHEA))
    assert hospital.format == "synthea"
    assert ledger.dropped("read") == {}
    visits = {row["id"]: row for row in hospital.visits.to_pylist()}
    assert [(v["ordinal"], v["age"], v["died"]) for v in visits.values()] == [
        (1, 68, False), (2, 69, False), (1, 18, True)]  # fmt: skip
    assert visits["e-1"]["admitted"] == datetime(2019, 5, 1, 8)
    names = {row["id"]: (row["kind"], row["name"]) for row in hospital.codes.to_pylist()}
    assert names == {
        "SNOMED:88805009": ("diagnosis", "Chronic congestive heart failure"),
        "SNOMED:22298006": ("diagnosis", "Myocardial infarction"),
        "SNOMED:40701008": ("procedure", "Echo"),
        "RXNORM:313988": ("drug", "Furosemide 40 MG"),
        "CVX:08": ("drug", "Hep B"),
    }
    counted = {entry.unit: entry.rows_out for entry in ledger}
    assert counted["drug (medications)"] == counted["drug (immunizations)"] == 1


OMOP = {
    "person.csv": """
        person_id,gender_concept_id,year_of_birth
        1,8532,1930
        2,8507,1980
        """,
    "visit_occurrence.csv": """
        visit_occurrence_id,person_id,visit_concept_id,visit_start_date,visit_end_date
        11,1,9201,2010-01-01,2010-01-05
        12,1,9202,2010-01-05,2010-01-05
        13,1,9203,2022-01-05,2022-01-06
        21,2,9201,2010-01-01,2010-01-09
        """,
    "condition_occurrence.csv": """
        person_id,condition_concept_id,condition_start_date,visit_occurrence_id,condition_source_concept_id,condition_source_value
        1,316139,2010-01-01,11,44831230,4280
        1,316139,2010-01-03,,0,heart
        1,316139,2010-01-05,,0,heart
        1,316139,2011-01-03,,0,heart
        2,0,2010-01-02,21,0,unmapped
        2,3000963,2010-01-02,21,0,a measurement
        """,
    "drug_exposure.csv": """
        person_id,drug_concept_id,drug_exposure_start_date,drug_exposure_end_date,visit_occurrence_id,drug_source_concept_id,drug_source_value,route_concept_id,route_source_value
        2,956874,2010-01-02,2010-01-03,21,45000000,00054829725,4132161,
        """,
    "procedure_occurrence.csv": """
        person_id,procedure_concept_id,procedure_date,visit_occurrence_id,procedure_source_concept_id,procedure_source_value
        2,4230911,2010-01-09,,0,echo
        """,
    "death.csv": """
        person_id,death_date
        1,2022-01-06
        """,
    "CONCEPT.csv": """
        concept_id\tconcept_name\tvocabulary_id\tconcept_code
        316139\tHeart failure\tSNOMED\t84114007
        44831230\tCongestive heart failure "unspecified\tICD9CM\t428.0
        956874\tfurosemide\tRxNorm\t4603
        45000000\tFurosemide 40 MG\tNDC\t00054829725
        4132161\tOral\tSNOMED\t26643006
        4230911\tEchocardiography\tSNOMED\t40701008
        3000963\tHemoglobin\tLOINC\t718-7
        """,
}


def test_omop_visits_are_found_by_date_and_codes_by_vocabulary(tmp_path: Path) -> None:
    """CONCEPT as Athena gives it: parted by tabs, its quotes mean nothing."""
    hospital, ledger = read(put(tmp_path, OMOP))
    events = {(row["visit"], row["code"], row["raw_code"]) for row in hospital.events.to_pylist()}
    assert events == {
        ("11", "ICD9CM:428.0", "4280"),
        ("11", "SNOMED:84114007", "heart"),
        ("12", "SNOMED:84114007", "heart"),  # the visit that began last holds the day
        ("21", "RXNORM:4603", "00054829725"),
        ("21", "SNOMED:40701008", "echo"),
    }
    assert ledger.dropped("read", "diagnosis") == {
        "no_visit_of_its_date": 1, "empty_code": 1, "unknown_code_version": 1}  # fmt: skip
    counted = {entry.unit: entry.rows_out for entry in ledger}
    assert (counted["diagnosis.visit_by_date"], counted["procedure.visit_by_date"]) == (2, 1)
    assert [row["died"] for row in hospital.visits.to_pylist()] == [False, False, True, False]
    assert [row["age"] for row in hospital.visits.to_pylist()] == [80, 80, 91, 30]
    assert "oral" in hospital.events["route"].to_pylist()


VISITS_OF = {  # what 5.4 renamed in the table of visits
    "5.3": "admitting_source_concept_id,discharge_to_concept_id",
    "5.4": "admitted_from_concept_id,discharged_to_concept_id",
}


def test_both_versions_of_omop_say_the_same(tmp_path: Path) -> None:
    found = {}
    for version, columns in VISITS_OF.items():
        lines = [line.strip() for line in OMOP["visit_occurrence.csv"].strip().splitlines()]
        more = [f"{lines[0]},{columns}", *(f"{line},8536,0" for line in lines[1:])]
        tables = OMOP | {"visit_occurrence.csv": "\n".join(more)}
        found[version] = ehr.read(put(tmp_path / version, tables))
    for name in TABLES:
        assert getattr(found["5.3"], name).equals(getattr(found["5.4"], name))


MEDS = [
    # time, code, visit
    (datetime(1950, 5, 5), "MEDS_BIRTH", None),
    (datetime(2010, 1, 1, 8), "GENDER//F", None),
    (datetime(2010, 1, 1, 8), "HOSPITAL_ADMISSION//URGENT//WARD", 11),
    (datetime(2010, 1, 2, 9), "MEDICATION//START//Furosemide//00054829725", None),
    (datetime(2010, 1, 5, 8), "HOSPITAL_DISCHARGE//HOME", 11),
    (datetime(2010, 1, 5, 8), "DIAGNOSIS//ICD//10//I5023", 11),
    (datetime(2010, 1, 5, 8), "LAB//51006//mg/dL", 11),
]


def test_both_versions_of_meds_say_the_same(tmp_path: Path) -> None:
    """0.4 has a column for texts, which are never read. Not every data set has procedures."""
    times, codes, visits = zip(*MEDS, strict=True)
    columns = {
        "subject_id": pa.array([1] * len(MEDS), pa.int64()),
        "time": pa.array(times, pa.timestamp("us")),
        "code": pa.array(codes),
        "numeric_value": pa.nulls(len(MEDS), pa.float32()),
        "hadm_id": pa.array(visits, pa.int64()),
    }
    texts = {"text_value": pa.array(["Dr SECRET"] * len(MEDS))}
    found = {}
    for version, more in (("0.3", {}), ("0.4", texts)):
        folder = tmp_path / version / "data" / "train"
        folder.mkdir(parents=True)
        pq.write_table(pa.table(columns | more), folder / "0.parquet")
        found[version] = ehr.read(tmp_path / version)
    assert found["0.3"].format == "meds"
    assert set(found["0.3"].codes["id"].to_pylist()) == {"ICD10CM:I50.23", "DRUGNAME:furosemide"}
    for name in TABLES:
        assert getattr(found["0.3"], name).equals(getattr(found["0.4"], name))
        assert "SECRET" not in str(getattr(found["0.4"], name).to_pylist())


MAPPING = """
patients: {table: pts, patient: pid, sex: mf, birth: dob}
visits: {table: stays, patient: pid, visit: stay, admitted: came, discharged: went}
diagnoses: {table: dx, patient: pid, visit: stay, code: [dx1, dx2, dx3], system: ICD10CM}
drugs: {table: rx, patient: pid, visit: stay, code: what, system: DRUGNAME, route: how}
procedures:
  table: px
  patient: pid
  start: done
  code: code
  system: {column: v, "9": ICD9PROC, pcs: ICD10PCS}
"""
OWN = {
    "pts.csv": "pid,mf,dob\n1,F,1970-05-05\n",
    "stays.csv": "pid,stay,came,went\n1,a,2020-01-01,2020-01-04\n1,b,2020-02-01,2020-02-04\n",
    "dx.csv": "pid,stay,dx1,dx2,dx3\n1,a,I5023,,E119\n1,b,N179,,\n",
    "rx.csv": "pid,stay,what,how\n1,a,Furosemide,IV\n",
    "px.csv": "pid,done,v,code\n"
    "1,2020-02-03,pcs,02100z9\n1,2020-01-02,9,3961\n1,2021-01-02,9,3961\n",
}


def test_own_tables_by_a_short_mapping(tmp_path: Path) -> None:
    folder = put(tmp_path / "own", OWN)
    mapping = tmp_path / "mine.yaml"
    mapping.write_text(MAPPING)
    hospital, ledger = read(folder, format=str(mapping))
    assert hospital.format == "tables"
    events = {(r["visit"], r["code"], r["seq"]) for r in hospital.events.to_pylist()}
    assert events == {
        ("a", "ICD10CM:I50.23", 1), ("a", "ICD10CM:E11.9", 3), ("b", "ICD10CM:N17.9", 1),
        ("a", "DRUGNAME:furosemide", None),
        ("b", "ICD10PCS:02100Z9", None), ("a", "ICD9PROC:39.61", None),
    }  # fmt: skip
    assert ledger.dropped("read") == {"no_visit_of_its_date": 1}
    (folder / "ehrkg-tables.yaml").write_text(MAPPING)
    again = ehr.read(folder)
    for name in TABLES:
        assert getattr(again, name).equals(getattr(hospital, name))
    assert "ehrkg-tables.yaml" in ehr.table_files(folder)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("sex: mf", "gender: mf", "patients: gender"),
        ("code: what,", "", "drug: no code"),
        ("ICD10CM}", "ICD11}", "diagnosis: ICD11"),
        ("visits:", "stays:", "stays"),
        ("patients:", "patients: [", "line"),
        ("dx1", "dx9", "no column 'dx9'"),
        ("table: pts", "table: people", "missing table: people"),
    ],
)
def test_a_mapping_that_does_not_fit_says_where(
    tmp_path: Path, old: str, new: str, found: str
) -> None:
    folder = put(tmp_path, OWN)
    (folder / "ehrkg-tables.yaml").write_text(MAPPING.replace(old, new, 1))
    with pytest.raises(InputError, match=found) as caught:
        ehr.read(folder)
    assert caught.value.todo
