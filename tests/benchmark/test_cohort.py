"""What the cohort says about codes, visits and drugs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ehrkg.benchmark import Cohort
from ehrkg.ehr.schema import EVENTS
from ehrkg.foundation.storage import read_parquet, write_parquet
from tests.benchmark.builders import World


def heart_world() -> World:
    world = World()
    world.diagnosis(
        "ICD10CM:I50.9",
        "Heart failure, unspecified",
        concept="MONDO:1",
        ccsr=["CIR019"],
        equivalents=["ICD9CM:428.0"],
    )
    world.diagnosis(
        "ICD9CM:428.0",
        "Congestive heart failure, unspecified",
        ccsr=["CIR019"],
        equivalents=["ICD10CM:I50.9"],
    )
    world.diagnosis(
        "ICD10CM:I50.23",
        "Acute on chronic systolic heart failure",
        concept="MONDO:2",
        parent="ICD10CM:I50.2",
    )
    world.diagnosis("ICD10CM:N17.9", "Acute kidney failure, unspecified", concept="MONDO:3")
    world.edge("MONDO:2", "SUBCLASS_OF", "MONDO:1")
    world.drug("furosemide", concept="DRUGBANK:F", atc="ATC:C03CA")
    world.drug("furosemide 20 mg", concept="DRUGBANK:F")
    world.treats("ATC:C03CA", "MONDO:1")
    first = world.patient("p1")
    first.visit(["ICD10CM:I50.23", "ICD10CM:N17.9"], [("furosemide", "oral")])
    first.visit(["ICD9CM:428.0"], [{"drug": "furosemide 20 mg", "route": "oral", "hours": 0.5}])
    world.patient("p2").visit(["ICD10CM:I50.9"], [{"drug": "furosemide", "drug_type": "BASE"}])
    return world


def test_ancestors_descendants_and_the_other_icd_version_are_related() -> None:
    cohort = heart_world().cohort
    assert cohort.related("ICD10CM:I50.9") == {"ICD10CM:I50.9", "ICD9CM:428.0", "ICD10CM:I50.23"}
    assert "ICD10CM:I50.9" in cohort.related("ICD10CM:I50.23")
    assert cohort.related("ICD10CM:N17.9") == {"ICD10CM:N17.9"}


def test_drugs_are_the_same_by_ingredient_and_route() -> None:
    cohort = heart_world().cohort
    assert cohort.entity("DRUGNAME:furosemide", "oral") == "DRUGBANK:F|oral"
    assert "DRUGNAME:furosemide 20 mg" in cohort.related("DRUGNAME:furosemide")
    assert cohort.codes["DRUGNAME:furosemide 20 mg"].atc4 == {"ATC:C03CA"}
    assert cohort.standing_share("DRUGBANK:F|oral") == 1.0
    assert len(cohort.visits_with_lasting_drug["DRUGBANK:F|oral"]) == 1


def test_events_read_back_from_their_file_say_the_same(tmp_path: Path) -> None:
    world = heart_world()
    write_parquet(world.hospital.events, tmp_path / "events.parquet")
    events = read_parquet(tmp_path / "events.parquet")
    assert events.schema.field("start").type != EVENTS.field("start").type, "of no use else"
    finished = replace(world.hospital, events=events)
    assert Cohort(finished, world.knowledge, world.mapping).visits == world.cohort.visits


def test_an_edge_of_a_class_lets_its_drugs_treat_the_kinds_of_the_disease() -> None:
    cohort = heart_world().cohort
    assert "ICD10CM:I50.23" in cohort.indicated("DRUGNAME:furosemide")
    assert "ICD10CM:N17.9" not in cohort.indicated("DRUGNAME:furosemide")


def test_visits_follow_each_other_within_a_patient_only() -> None:
    cohort = heart_world().cohort
    assert cohort.visit_ids == ("p1v1", "p1v2", "p2v1")
    assert cohort.next_visit == {0: 1}
    assert [cohort.visits[visit].era for visit in cohort.visit_ids] == ["10", "9", "10"]
