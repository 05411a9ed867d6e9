"""Every rule on answers and context: a fault is planted and the template falls under its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehrkg.benchmark.facts.code_classes import rule_data
from ehrkg.benchmark.facts.giveaways import context_rules, families
from ehrkg.benchmark.facts.intervals import ratio_lower_bound
from ehrkg.benchmark.schema import TEMPLATES
from ehrkg.benchmark.templates.caps import most_of_share
from ehrkg.benchmark.templates.instantiation import make_templates
from ehrkg.ehr.codes import CODE_SYSTEMS
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.propose.tasks import tasks as all_tasks
from tests.benchmark.builders import World

GOUT, ANEMIA, ASTHMA = "ICD10CM:M10.9", "ICD10CM:D64.9", "ICD10CM:J45.909"
HEART, STROKE, KIDNEY = "ICD10CM:I48.91", "ICD10CM:I63.9", "ICD10CM:N17.9"


def base() -> World:
    """Atrial fibrillation leads to stroke; apixaban treats it; three by-standers fill the stems."""
    world = World()
    world.diagnosis(
        HEART, "Unspecified atrial fibrillation", concept="M:AF", ccsr=["CIR017"], chronic=True
    )
    world.diagnosis(
        STROKE,
        "Cerebral infarction, unspecified",
        concept="M:STROKE",
        ccsr=["CIR020"],
        chronic=False,
    )
    world.diagnosis(GOUT, "Gout, unspecified", concept="M:GOUT", ccsr=["MUS005"], chronic=True)
    world.diagnosis(ANEMIA, "Anemia, unspecified", concept="M:ANEMIA", ccsr=["BLD003"])
    world.diagnosis(
        ASTHMA,
        "Unspecified asthma, uncomplicated",
        concept="M:ASTHMA",
        ccsr=["RSP009"],
        chronic=True,
    )
    world.drug("apixaban", concept="D:APIXABAN", atc="ATC:B01AF")
    world.drug(
        "sodium chloride 0.9% flush",
        concept="D:NACL",
        drug_kind="fluid",
        ingredients=["sodium chloride"],
    )
    world.treats("D:APIXABAN", "M:AF")
    for number in range(80):
        world.patient(f"q{number:02}").visit([GOUT, ANEMIA])
    return world


def templates(world: World, task: str, **more: object) -> tuple[pa.Table, dict[str, int]]:
    """The templates of one task, and what the ledger counted; checks that it balances."""
    ledger = Ledger()
    made = make_templates(
        world.hospital,
        world.knowledge,
        world.mapping,
        world.verified,
        tasks=[task],
        ledger=ledger,
        **more,  # type: ignore[arg-type]
    )
    assert made.schema == TEMPLATES
    assert [entry.unit for entry in ledger] == [f"template:{task}"]
    assert next(iter(ledger)).rows_out == made.num_rows
    return made, ledger.dropped("instantiate")


# The sound case of each task


def diagnosis_world() -> World:
    world = base()
    world.patient("p1").visit([HEART, STROKE, GOUT, ASTHMA])
    world.relation(HEART, "CAUSES", STROKE)
    return world


def treatment_world() -> World:
    world = base()
    for number in range(8):
        world.patient(f"p{number}").visit([HEART, GOUT, ASTHMA], [("apixaban", "oral")])
    world.relation("DRUGNAME:apixaban", "TREATS", HEART, route="oral")
    return world


def prognosis_world() -> World:
    world = base()
    world.patient("p1").visit([HEART, GOUT]).visit([STROKE], gap=63)
    world.relation(HEART, "PREDISPOSES_TO", STROKE)
    return world


def test_a_sound_diagnosis_template() -> None:
    made, dropped = templates(diagnosis_world(), "diagnosis")
    # The relation reads both ways: given the cause, and given the effect.
    assert sorted(made["answer"].to_pylist()) == [[HEART], [STROKE]]
    assert dropped == {}
    row = next(row for row in made.to_pylist() if row["answer"] == [STROKE])
    assert row["context"][row["anchor_position"]] == HEART
    assert set(row["context"]) <= {HEART, GOUT, ASTHMA}
    assert len(row["context"]) == row["n_context"] >= 2
    assert STROKE not in row["context"]
    assert (row["timing"], row["icd_version"], row["age_band"]) == (
        "discharge_coded",
        "10",
        "40-64",
    )
    assert row["n_related"] == 1
    assert row["gap_days"] is None
    assert "p1" not in row["cluster"]


def test_a_patients_id_alone_does_not_give_the_cluster() -> None:
    def clusters(world: World) -> dict[str, str]:
        made, _ = templates(world, "diagnosis")
        return dict(zip(made["patient"].to_pylist(), made["cluster"].to_pylist(), strict=True))

    same, other = diagnosis_world(), diagnosis_world()
    other.visits[0]["admitted"] += timedelta(minutes=1)
    assert clusters(diagnosis_world()) == clusters(same)
    assert clusters(same).keys() == clusters(other).keys()
    assert set(clusters(same).values()).isdisjoint(clusters(other).values())


def test_a_sound_treatment_template() -> None:
    made, dropped = templates(treatment_world(), "treatment")
    assert made.num_rows == 8
    assert set(made["timing"].to_pylist()) == {"timestamped"}
    assert set(made["sole_indication"].to_pylist()) == {True}
    assert set(made["answer_route"].to_pylist()) == {"oral"}
    assert dropped == {}


def test_a_sound_prognosis_template() -> None:
    made, dropped = templates(prognosis_world(), "prognosis")
    (row,) = made.to_pylist()
    assert (row["visit"], row["target_visit"], row["gap_days"]) == ("p1v1", "p1v2", 63)
    assert row["answer"] == [STROKE]
    assert row["flags"] == []
    assert dropped == {}


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(UsageError, match="no such task"):
        templates(base(), "surgery")


# Rules on answers of every task


@pytest.mark.parametrize("verdict", ["ambiguous", "contradicted", "unsupported"])
def test_only_supported_relations_make_templates(verdict: str) -> None:
    world = prognosis_world()
    world.relations[0]["verdict"] = verdict
    made, dropped = templates(world, "prognosis")
    assert made.num_rows == 0
    assert dropped == {"not_supported": 1}


def test_an_answer_that_is_linked_from_afar_is_none() -> None:
    world = prognosis_world()
    next(link for link in world.links if link["code"] == STROKE)["levels"] = 2
    assert templates(world, "prognosis")[1] == {"answer_not_near": 1}


def test_a_coding_instruction_flags_a_template_and_keeps_it_out() -> None:
    world = prognosis_world()
    world.edge(HEART, "USE_ADDITIONAL_CODE", STROKE)
    made, dropped = templates(world, "prognosis")
    assert (made.num_rows, dropped) == (0, {"coding_rule": 1})


def test_flagged_templates_come_when_asked_for_unless_the_anchor_gives_them_away() -> None:
    world = prognosis_world()
    world.relations[0]["n_coding_rule"] = 1
    assert templates(world, "prognosis")[1] == {"coding_rule": 1}
    made, dropped = templates(world, "prognosis", allow=["coding_rule"])
    assert made["flags"].to_pylist() == [["coding_rule"]]
    assert dropped == {}


def test_excludes1_binds_nothing() -> None:
    world = prognosis_world()
    world.relations[0]["n_coding_rule"] = 1
    world.edge(HEART, "EXCLUDES1", STROKE)
    made, dropped = templates(world, "prognosis")
    assert (made["flags"].to_pylist(), dropped) == ([[]], {})


# Rules on drugs


def change_order(world: World, **more: object) -> None:
    for event in world.events:
        if event["code"] == "DRUGNAME:apixaban":
            event.update(more)


def only_additive(world: World) -> None:
    change_order(world, drug_type="ADDITIVE")
    # Seen as MAIN elsewhere, so that it is specific to the problem and only this order falls.
    for number in range(8):
        world.patient(f"m{number}").visit([HEART, GOUT], [("apixaban", "oral")])
    for event in world.events:
        if event["patient"].startswith("p") and event["kind"] == "drug":
            event["drug_type"] = "BASE"


def stopped_within_the_hour(world: World) -> None:
    for event in world.events:
        if event["patient"] == "p0" and event["kind"] == "drug":
            event["stop"] = event["start"]


def test_only_main_orders_count() -> None:
    world = treatment_world()
    only_additive(world)
    made, dropped = templates(world, "treatment")
    assert dropped == {"not_main": 8}
    assert {name[0] for name in made["patient"].to_pylist()} == {"m"}


def test_an_order_stopped_within_the_hour_is_none() -> None:
    world = treatment_world()
    stopped_within_the_hour(world)
    made, dropped = templates(world, "treatment")
    assert dropped == {"within_the_hour": 1}
    assert "p0" not in made["patient"].to_pylist()


def test_what_is_no_drug_is_no_answer() -> None:
    world = treatment_world()
    world.strings["DRUGNAME:apixaban"]["drug_kind"] = "nutrient"
    assert templates(world, "treatment")[1] == {"not_a_drug": 8}


@pytest.mark.parametrize("route", ["flush", "topical", "ophthalmic", "rectal"])
def test_a_route_that_stands_apart_is_no_treatment(route: str) -> None:
    world = treatment_world()
    change_order(world, route=route)
    world.relations[0]["route"] = route
    assert templates(world, "treatment")[1] == {"route_apart": 8}


def test_unless_an_edge_names_that_route() -> None:
    world = treatment_world()
    change_order(world, route="rectal")
    world.relations[0]["route"] = "rectal"
    world.edge("D:APIXABAN", "TREATS", "M:AF", route="oral|rectal")
    assert templates(world, "treatment")[0].num_rows == 8


def test_what_a_fifth_of_all_visits_get_is_a_standing_order() -> None:
    world = treatment_world()
    for number in range(25):
        world.patient(f"s{number}").visit([GOUT], [("apixaban", "oral")])
    assert templates(world, "treatment")[1] == {"standing_order": 8}


def test_kinds_of_standing_orders_are_never_answers() -> None:
    world = base()
    world.drug("heparin", concept="D:HEPARIN", atc="ATC:B01AB")
    world.treats("D:HEPARIN", "M:AF")
    for number in range(8):
        world.patient(f"p{number}").visit([HEART, GOUT], [("heparin", "subcutaneous")])
    world.relation("DRUGNAME:heparin", "TREATS", HEART, route="subcutaneous")
    assert templates(world, "treatment")[1] == {"standing_order": 8}


def test_a_drug_that_others_get_as_often_is_not_specific() -> None:
    world = base()
    world.treats("D:APIXABAN", "M:GOUT")
    world.patient("p1").visit([GOUT, ASTHMA], [("apixaban", "oral")])
    world.patient("p2").visit([HEART, ASTHMA], [("apixaban", "oral")])
    world.relation("DRUGNAME:apixaban", "TREATS", GOUT, route="oral")
    assert templates(world, "treatment")[1] == {"not_specific": 1}


def test_many_visits_of_one_patient_show_no_more_than_one() -> None:
    def dropped(n_patients: int, n_visits: int) -> dict[str, int]:
        world = base()
        for number in range(n_patients):
            patient = world.patient(f"p{number}")
            for _ in range(n_visits):
                patient.visit([HEART, ASTHMA], [("apixaban", "oral")])
        for number in range(100):
            given = [("apixaban", "oral")] if number < 27 else []
            world.patient(f"r{number}").visit([GOUT, ASTHMA], given)
        world.relation("DRUGNAME:apixaban", "TREATS", HEART, route="oral")
        return templates(world, "treatment")[1]

    assert dropped(1, 10) == {"not_specific": 10}
    assert dropped(10, 1) == {}


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_the_bound_lies_below_the_ratio_and_rises_with_the_sample(
    n: int, m: int, data: st.DataObject
) -> None:
    hits, others = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    few = ratio_lower_bound(hits, n, others, m)
    many = ratio_lower_bound(10 * hits, 10 * n, 10 * others, 10 * m)
    assert 0 <= few <= many + 1e-9
    if others:
        assert many <= (hits / n) / (others / m) + 1e-9


def test_a_second_indication_takes_the_reason_away() -> None:
    world = treatment_world()
    world.edge("ATC:B01AF", "TREATS", "M:ASTHMA")
    made, _ = templates(world, "treatment")
    assert set(made["sole_indication"].to_pylist()) == {False}


# Rules on what is asked in diagnosis and prognosis


@pytest.mark.parametrize(
    ("code", "name", "rule"),
    [
        ("ICD10CM:R55", "Syncope and collapse", "not_a_disease"),
        ("ICD9CM:780.2", "Syncope and collapse", "not_a_disease"),
        ("ICD10CM:Z95.0", "Presence of cardiac pacemaker", "not_a_disease"),
        ("ICD9CM:V45.01", "Cardiac pacemaker in situ", "not_a_disease"),
        ("ICD10CM:Z86.73", "Personal history of transient ischemic attack", "not_a_disease"),
        ("ICD10CM:W19.XXXA", "Unspecified fall, initial encounter", "not_a_disease"),
        ("ICD9CM:E849.7", "Accidents occurring in residential institution", "not_a_disease"),
        ("ICD10CM:I63.89", "Other cerebral infarction", "residual"),
        ("ICD9CM:434.8", "Cerebral embolism, not elsewhere classified", "residual"),
        ("ICD10CM:K59.03", "Drug induced constipation", "care_itself"),
        ("ICD10CM:T45.515A", "Adverse effect of anticoagulants", "care_itself"),
        ("ICD10CM:I97.820", "Postprocedural cerebrovascular infarction", "care_itself"),
        ("ICD9CM:997.02", "Iatrogenic cerebrovascular infarction or hemorrhage", "care_itself"),
    ],
)
@pytest.mark.parametrize("task", ["diagnosis", "prognosis"])
def test_what_is_no_disease_of_its_own_is_never_an_answer(
    task: str, code: str, name: str, rule: str
) -> None:
    world = base()
    world.diagnosis(code, name, concept="M:X", chronic=False)
    world.patient("p1").visit([HEART, GOUT, code]).visit([HEART], gap=9)
    world.patient("p2").visit([HEART, GOUT]).visit([code], gap=9)
    world.relation(HEART, "CAUSES", code)
    made, dropped = templates(world, task)
    assert [code] not in made["answer"].to_pylist()
    assert dropped[rule] == 1


def test_a_kind_that_names_another_cause_is_no_effect_of_the_anchor() -> None:
    world = base()
    code = world.diagnosis(
        "ICD10CM:D63.1", "Anemia in chronic kidney disease", concept="M:ANEMIA2", levels=1
    )
    bleed = world.diagnosis("ICD10CM:K92.2", "Gastrointestinal hemorrhage", concept="M:BLEED")
    world.patient("p1").visit([bleed, GOUT, ASTHMA, code])
    world.relation(bleed, "CAUSES", code)
    made, dropped = templates(world, "diagnosis")
    assert dropped == {"other_cause": 1}
    # Given the anemia, the bleeding may still be asked for: that reading claims no more.
    assert made["answer"].to_pylist() == [[bleed]]


# Rules on prognosis


@pytest.mark.parametrize(("gap", "rule"), [(0, "same_episode"), (366, "too_late")])
def test_the_gap_lies_between_a_day_and_a_year(gap: int, rule: str) -> None:
    world = base()
    world.patient("p1").visit([HEART, GOUT]).visit([STROKE], gap=gap)
    world.relation(HEART, "CAUSES", STROKE)
    assert templates(world, "prognosis")[1] == {rule: 1}


def the_same_code(_: World) -> str:
    return STROKE


def an_ancestor(world: World) -> str:
    world.edge("M:STROKE", "SUBCLASS_OF", "M:CVD")
    return world.diagnosis("ICD10CM:I67.9", "Cerebrovascular disease", concept="M:CVD")


def a_descendant(world: World) -> str:
    world.edge("M:LACUNAR", "SUBCLASS_OF", "M:STROKE")
    return world.diagnosis("ICD10CM:I63.81", "Lacunar stroke", concept="M:LACUNAR")


def a_ccsr_sibling(world: World) -> str:
    return world.diagnosis("ICD10CM:I63.50", "Occlusion", concept="M:OCCL", ccsr=["CIR020"])


def the_other_version(world: World) -> str:
    world.attributes[STROKE]["equivalents"] = ["ICD9CM:434.91"]
    return world.diagnosis("ICD9CM:434.91", "Cerebral artery occlusion")


@pytest.mark.parametrize(
    "older", [the_same_code, an_ancestor, a_descendant, a_ccsr_sibling, the_other_version]
)
@pytest.mark.parametrize("place", ["before", "in the context visit"])
def test_new_means_no_relative_in_any_earlier_visit(
    older: Callable[[World], str], place: str
) -> None:
    world = base()
    known = older(world)
    first, second = ([known], []) if place == "before" else ([], [known])
    world.patient("p1").visit([GOUT, *first]).visit([HEART, GOUT, *second]).visit([STROKE])
    world.relation(HEART, "CAUSES", STROKE)
    assert templates(world, "prognosis")[1] == {"not_new": 1}


def test_a_chronic_answer_needs_two_earlier_coded_visits() -> None:
    world = base()
    world.attributes[STROKE]["chronic"] = True
    world.patient("p1").visit([HEART, GOUT]).visit([STROKE])
    world.patient("p2").visit([ASTHMA]).visit([HEART, GOUT]).visit([STROKE])
    world.relation(HEART, "CAUSES", STROKE)
    made, dropped = templates(world, "prognosis")
    assert dropped == {"chronic_too_soon": 1}
    assert made["patient"].to_pylist() == ["p2"]
    assert made["flags"].to_pylist() == [["newly_recorded"]]


# Rules on context


def with_companion(code: str, name: str, **more: object) -> World:
    """A diagnosis world where one other code stands in every visit beside anchor and answer."""
    world = base()
    world.diagnosis(code, name, **more)  # type: ignore[arg-type]
    for number in range(6):
        world.patient(f"p{number}").visit([HEART, STROKE, GOUT, ASTHMA, code])
    world.relation(HEART, "CAUSES", STROKE)
    return world


def contexts(world: World, answer: str, task: str = "diagnosis") -> set[str]:
    made, _ = templates(world, task)
    rows = [row for row in made.to_pylist() if row["answer"] == [answer]]
    assert rows, "the fault must not take the templates away"
    return {code for row in rows for code in row["context"]}


@pytest.mark.parametrize(
    ("code", "name", "more"),
    [
        ("ICD10CM:I63.4", "Embolic event", {"concept": "M:STROKE"}),
        ("ICD10CM:I63.5", "Occlusion", {"concept": "M:OTHER", "ccsr": ["CIR020"]}),
        ("ICD10CM:T45.515A", "Adverse effect of anticoagulants", {"concept": "M:ADV"}),
        ("ICD10CM:Z79.01", "Long term (current) use of anticoagulants", {}),
        ("ICD10CM:Z95.0", "Presence of cardiac pacemaker", {}),
        ("ICD10CM:I69.354", "Hemiplegia following cerebral event", {"concept": "M:HEMI"}),
        ("ICD10CM:G46.4", "Cerebral infarction syndrome", {"concept": "M:SYN"}),
        ("ICD10CM:W19.XXXA", "Unspecified fall, initial encounter", {}),
    ],
)
def test_revealing_codes_never_stand_beside_the_answer(
    code: str, name: str, more: dict[str, object]
) -> None:
    assert code not in contexts(with_companion(code, name, **more), STROKE)


def test_a_harmless_code_does() -> None:
    world = with_companion("ICD10CM:K21.9", "Reflux disease", concept="M:GERD")
    assert "ICD10CM:K21.9" in contexts(world, STROKE)


def test_a_code_that_is_bound_to_the_answer_by_a_coding_rule_does_not() -> None:
    world = with_companion("ICD10CM:K21.9", "Reflux disease", concept="M:GERD")
    world.edge("ICD10CM:K21.9", "CODE_FIRST", STROKE)
    assert "ICD10CM:K21.9" not in contexts(world, STROKE)


def test_one_name_is_said_once_in_a_stem() -> None:
    world = base()
    taps = [
        world.diagnosis("ICD9PROC:54.91", "Percutaneous abdominal drainage"),
        world.diagnosis(
            "ICD10PCS:0W9G3ZX", "Drainage of Peritoneal Cavity, Percutaneous Approach, Diagnostic"
        ),
    ]
    for number in range(12):
        world.patient(f"p{number}").visit([HEART, STROKE], (), taps)
    world.relation(HEART, "CAUSES", STROKE)
    made, _ = templates(world, "diagnosis")
    assert made.num_rows
    assert all(row.count(taps[0]) + row.count(taps[1]) == 1 for row in made["context"].to_pylist())


@pytest.mark.parametrize(("conditions", "may_stand"), [(1, False), (5, False), (6, True)])
def test_a_drug_for_few_conditions_does_not_stand_beside_one_of_them(
    conditions: int, may_stand: bool
) -> None:
    world = base()
    world.relation(HEART, "CAUSES", STROKE)
    world.drug("onlyol", concept="DRUGBANK:ONLY", atc="ATC:X01AA")
    world.treats("DRUGBANK:ONLY", "M:STROKE")
    for number in range(1, conditions):
        world.treats("DRUGBANK:ONLY", f"M:FAR{number}")
    for number in range(6):
        world.patient(f"p{number}").visit([HEART, STROKE, GOUT, ASTHMA], [("onlyol", "oral")])
    assert ("DRUGNAME:onlyol" in contexts(world, STROKE)) is may_stand


def test_a_code_after_which_the_answer_is_nearly_sure_does_not() -> None:
    code = "ICD10CM:R47.01"
    few = with_companion(code, "Aphasia", concept="HP:APHASIA")
    assert code in contexts(few, STROKE)
    many = with_companion(code, "Aphasia", concept="HP:APHASIA")
    for number in range(20):
        many.patient(f"r{number}").visit([STROKE, code])
    assert code not in contexts(many, STROKE)


def test_an_anchor_that_gives_the_answer_away_drops_the_template() -> None:
    world = diagnosis_world()
    world.attributes[HEART]["ccsr"] = ["CIR020"]
    assert templates(world, "diagnosis")[1] == {"anchor_related_to_answer": 2}
    named = base()
    code = named.diagnosis("ICD10CM:G46.4", "Syndrome of cerebral infarction", concept="M:SYN")
    named.patient("p1").visit([code, STROKE, GOUT, ASTHMA])
    named.relation(code, "CAUSES", STROKE)
    assert templates(named, "diagnosis")[1]["anchor_names_answer"] >= 1
    family = base()
    dialysis = family.diagnosis("ICD9PROC:39.95", "Hemodialysis", concept="M:HD")
    kidney = family.diagnosis(KIDNEY, "Acute kidney failure, unspecified", concept="M:AKI")
    family.patient("p1").visit([kidney, GOUT, ASTHMA], (), [dialysis])
    family.relation(dialysis, "DIAGNOSES", kidney)
    assert templates(family, "diagnosis")[1] == {"anchor_revealing_family": 1}


def test_an_ancestor_gives_way_to_its_descendant() -> None:
    world = with_companion("ICD10CM:J45.50", "Severe persistent asthma", concept="M:SEVERE")
    world.edge("M:SEVERE", "SUBCLASS_OF", "M:ASTHMA")
    assert ASTHMA not in contexts(world, STROKE)
    assert "ICD10CM:J45.50" in contexts(world, STROKE)


def test_a_drug_of_the_answers_class_is_no_context() -> None:
    world = treatment_world()
    world.drug("rivaroxaban", concept="D:RIVA", atc="ATC:B01AF")
    world.drug("albuterol", concept="D:ALBUTEROL", atc="ATC:R03AC")
    for number in range(8):
        world.patient(f"x{number}").visit(
            [HEART, GOUT, ASTHMA],
            [("apixaban", "oral"), ("rivaroxaban", "oral"), ("albuterol", "inhaled")],
        )
    found = contexts(world, "DRUGNAME:apixaban", "treatment")
    assert "DRUGNAME:rivaroxaban" not in found
    assert "DRUGNAME:albuterol" in found


def test_an_anchor_alone_is_too_little_context() -> None:
    world = base()
    world.patient("p1").visit([HEART, STROKE])
    world.relation(HEART, "CAUSES", STROKE)
    assert templates(world, "diagnosis")[1] == {"too_little_context": 2}


def test_contexts_hold_two_to_six_events_and_do_not_look_at_the_answers_name() -> None:
    world = with_companion("ICD10CM:K21.9", "Reflux disease", concept="M:GERD")
    made, _ = templates(world, "diagnosis")
    sizes = made["n_context"].to_pylist()
    assert min(sizes) >= 2
    assert max(sizes) <= 6
    assert len(set(sizes)) > 1
    positions = set(made["anchor_position"].to_pylist())
    assert len(positions) > 1, "the anchor stands at no fixed place"


def test_history_tells_earlier_diagnoses_but_never_the_answers_kin() -> None:
    world = base()
    world.patient("p1").visit([STROKE, ASTHMA]).visit([GOUT, ANEMIA]).visit(
        [HEART, STROKE, GOUT, ASTHMA]
    )
    world.relation(HEART, "CAUSES", STROKE)
    made, _ = templates(world, "diagnosis")
    row = next(row for row in made.to_pylist() if row["answer"] == [STROKE])
    assert row["history"] == [ASTHMA, ANEMIA, GOUT]


# One template an answer, and caps


def test_one_answer_at_one_visit_is_asked_once_from_the_best_relation() -> None:
    world = diagnosis_world()
    world.relation(GOUT, "CAUSES", STROKE, score=0.95)
    made, dropped = templates(world, "diagnosis")
    chosen = [row for row in made.to_pylist() if row["answer"] == [STROKE]]
    assert [row["context"][row["anchor_position"]] for row in chosen] == [GOUT]
    assert dropped["same_answer"] == 1


def test_hubs_and_patients_are_capped() -> None:
    world = base()
    for number in range(60):
        world.patient(f"p{number:02}").visit([HEART, STROKE, GOUT, ASTHMA])
        world.patient(f"a{number:02}").visit([HEART])
        world.patient(f"b{number:02}").visit([STROKE])
    again = world.patient("z")
    for _ in range(4):
        again.visit([HEART, STROKE, GOUT, ASTHMA])
    world.relation(HEART, "CAUSES", STROKE)
    made, dropped = templates(world, "diagnosis")
    assert dropped["relation_cap"] > 0
    assert dropped["answer_cap"] > 0
    answers = [row["answer"][0] for row in made.to_pylist()]
    assert max(answers.count(code) for code in set(answers)) <= 10
    pairs = [(row["patient"], row["relation"]) for row in made.to_pylist()]
    assert max(pairs.count(pair) for pair in pairs) <= 2


def test_no_answer_holds_more_than_its_share_of_what_is_left() -> None:
    world = World()
    world.diagnosis(ASTHMA, "Unspecified asthma, uncomplicated", concept="M:ASTHMA")
    world.diagnosis(GOUT, "Gout, unspecified", concept="M:GOUT")
    # Twelve pairs at 11 patients each, and one answer of three causes at 20 each.
    pairs = [(f"ICD10CM:A{at:02}.1", f"ICD10CM:B{at:02}.1") for at in range(12)]
    hub = "ICD10CM:C99.1"
    pairs += [(f"ICD10CM:D{at:02}.1", hub) for at in range(3)]
    for number, (cause, effect) in enumerate(pairs):
        word = chr(97 + number)
        world.diagnosis(cause, f"Causing {word * 4}", concept=f"M:{cause}")
        world.diagnosis(
            effect, f"Resulting {'hub' if effect == hub else word}xyz", concept="M:" + effect
        )
        world.relation(cause, "CAUSES", effect)
        for patient in range(11 if effect != hub else 20):
            name = f"p{number:02}x{patient:02}"
            world.patient(name).visit([cause, effect, ASTHMA, GOUT])
            world.patient(name + "alone").visit([cause])
            world.patient(name + "other").visit([effect])
    made, dropped = templates(world, "diagnosis")
    answers = Counter(row["answer"][0] for row in made.to_pylist())
    assert dropped.get("answer_cap"), (made.num_rows, dropped)
    assert rule_data()["caps"]["answer_least"] < max(answers.values())
    assert max(answers.values()) / made.num_rows <= rule_data()["caps"]["answer_share"]


@given(st.lists(st.integers(1, 200), max_size=60), st.sampled_from([0.05, 0.1, 0.3, 1.0]))
def test_the_cap_is_the_greatest_that_keeps_the_share(counts: list[int], share: float) -> None:
    def fits(most: int) -> bool:
        return most <= share * sum(min(count, most) for count in counts) + 1e-6

    most = most_of_share(counts, share)
    assert fits(most)
    assert not any(fits(more) for more in range(most + 1, max(counts, default=0) + 1))


# What holds for the whole table


def test_the_order_of_rows_does_not_matter() -> None:
    one, other = treatment_world(), treatment_world()
    other.events.reverse()
    other.visits.reverse()
    other.links.reverse()
    other.edges.reverse()
    other.relations.reverse()
    assert templates(one, "treatment")[0].equals(templates(other, "treatment")[0])


def test_another_seed_draws_other_contexts() -> None:
    first, _ = templates(treatment_world(), "treatment", seed=1)
    second, _ = templates(treatment_world(), "treatment", seed=2)
    assert first["id"].equals(second["id"])
    assert not first["context"].equals(second["context"])


# The rules as data


def test_every_code_in_the_rules_is_text_of_a_known_system() -> None:
    tables = [*rule_data()["classes"]]
    for row in families():
        tables += [row["context"], row.get("answer", {})]
        assert set(row["tasks"]) <= set(all_tasks())
    for table in tables:
        for system in set(table) - {"class", "name", "kind", "atc"}:
            assert system in CODE_SYSTEMS
            assert all(isinstance(code, str) for code in table[system]), table


def test_classes_named_by_the_context_table_exist() -> None:
    known = {row["class"] for row in rule_data()["classes"]} | {"disease"}
    for table in (*context_rules()["tasks"].values(), context_rules()["history"]):
        assert set(table["classes"]) <= known
    assert set(rule_data()["care"]) <= known
    assert set(context_rules()["clutter"]) <= {row["kind"] for row in rule_data()["standing"]}
