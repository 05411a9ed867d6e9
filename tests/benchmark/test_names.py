"""Names read well, fit, and never make two things look like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehrkg.benchmark.facts.codes import CodeFacts
from ehrkg.benchmark.facts.names import (
    cleaned,
    display,
    drug_name,
    drug_option,
    full_name,
    option_names,
    phrase,
    short_name,
)
from ehrkg.foundation.errors import UsageError
from tests.benchmark.builders import World


def facts(*named: tuple[str, str]) -> list[tuple[CodeFacts, str]]:
    """Facts of diagnosis codes by code and name."""
    world = World()
    for code, name in named:
        world.diagnosis(code, name)
    world.patient("p").visit([code for code, _ in named])
    return [(world.cohort.codes[code], "") for code, _ in named]


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Heart failure, unspecified", "Heart failure"),
        ("Unspecified atrial fibrillation", "Atrial fibrillation"),
        ("Depressive disorder, not elsewhere classified", "Depressive disorder"),
        ("Umbilical hernia without mention of obstruction or gangrene", "Umbilical hernia"),
        ("Unspecified fall, initial encounter", "Fall"),
        ("HYPERTENSION NOS", "Hypertension"),
        ("Unspecified viral hepatitis C without hepatic coma", "Viral hepatitis C"),
        ("Human immunodeficiency virus [HIV] disease", "HIV disease"),
        (
            "Diabetes mellitus without mention of complication, type II or unspecified type, "
            "not stated as uncontrolled",
            "Type 2 diabetes mellitus",
        ),
        (
            "Type 2 diabetes mellitus with diabetic chronic kidney disease",
            "Type 2 diabetes with chronic kidney disease",
        ),
        (
            "Acute respiratory failure, unspecified whether with hypoxia or hypercapnia",
            "Acute respiratory failure",
        ),
        (
            "Hypertensive chronic kidney disease with stage 1 through stage 4 chronic kidney "
            "disease, or unspecified chronic kidney disease",
            "Hypertensive chronic kidney disease",
        ),
        (
            "Insertion of Infusion Device into Superior Vena Cava, Percutaneous Approach",
            "Central venous catheter insertion",
        ),
        ("Excision of Left Foot Tendon, Open Approach", "Excision of foot tendon"),
        (
            "Acute embolism and thrombosis of left femoral vein",
            "Acute embolism and thrombosis of femoral vein",
        ),
        ("Left ventricular failure, unspecified", "Left ventricular failure"),
        ("Pneumonia,<br/>\n organism&nbsp;unspecified", "Pneumonia"),
        (
            "Malignant neoplasm of unspecified part of bronchus or lung",
            "Malignant neoplasm of bronchus or lung",
        ),
        ("Ulcer of other part of foot", "Ulcer of foot"),
        (
            "Other specified bacterial infections in conditions classified elsewhere and of "
            "unspecified site, other gram-negative organisms",
            "Gram-negative infection",
        ),
        (
            "Subdural hemorrhage following injury without mention of open intracranial wound, "
            "with no loss of consciousness",
            "Subdural hemorrhage following injury",
        ),
        (
            "Chronic or unspecified duodenal ulcer with hemorrhage, without mention of obstruction",
            "Duodenal ulcer with hemorrhage",
        ),
        ("Insertion of other (naso-)intestinal tube", "Insertion of intestinal tube"),
        (
            "(Aorto)coronary bypass of two coronary arteries",
            "Coronary bypass of two coronary arteries",
        ),
        ("Long term (current) use of insulin", "Long-term use of insulin"),
        ("sciatica, unspecified side", "Sciatica"),
        ("tumour with haemorrhage and anaemia", "Tumor with hemorrhage and anemia"),
        ("ischaemic hepatitis", "Ischemic hepatitis"),
        ("CHF", "Congestive heart failure"),
    ],
)
def test_names_are_said_as_people_say_them(raw: str, name: str) -> None:
    assert short_name(raw) == name


@given(st.text(max_size=200))
def test_any_text_becomes_one_clean_line_that_fits(raw: str) -> None:
    for name in (short_name(raw), full_name(raw)):
        assert 0 < len(name) <= 60
        assert "\n" not in name
        assert name == name.strip()
    assert cleaned(cleaned(raw)) == cleaned(raw)


def test_stage_and_side_stand_only_where_all_options_have_them() -> None:
    staged = facts(
        ("ICD10CM:N18.3", "Chronic kidney disease, stage 3 (moderate)"),
        ("ICD10CM:I10", "Essential (primary) hypertension"),
    )
    assert option_names(staged) == ["Chronic kidney disease", "Essential hypertension"]
    both = facts(
        ("ICD10CM:N18.3", "Chronic kidney disease, stage 3 (moderate)"),
        ("ICD10CM:L89.9", "Pressure ulcer of heel, stage 4"),
    )
    assert option_names(both) == [
        "Chronic kidney disease, stage 3",
        "Pressure ulcer of heel, stage 4",
    ]
    sides = facts(
        ("ICD10CM:L03.116", "Cellulitis of left lower limb"),
        ("ICD10CM:M25.512", "Pain in right shoulder"),
    )
    assert option_names(sides) == ["Cellulitis of left lower limb", "Pain in right shoulder"]


def test_two_codes_never_get_one_name_in_silence() -> None:
    ascites = facts(
        ("ICD10CM:K70.30", "Alcoholic cirrhosis of liver without ascites"),
        ("ICD10CM:K70.3", "Alcoholic cirrhosis of liver"),
    )
    assert len(set(option_names(ascites))) == 2
    same = facts(("ICD9CM:276.2", "Acidosis"), ("ICD10CM:E87.2", "Acidosis"))
    with pytest.raises(UsageError, match="one name"):
        option_names(same)


def test_a_concept_that_means_the_same_gives_its_name() -> None:
    world = World()
    world.diagnosis("ICD9CM:401.9", "Unspecified essential hypertension", concept="M:HTN")
    world.concepts["M:HTN"]["name"] = "essential hypertension"
    world.diagnosis("ICD9CM:403.90", "Hypertensive kidney disease", concept="M:HTN", levels=1)
    world.patient("p").visit(["ICD9CM:401.9", "ICD9CM:403.90"])
    codes = world.cohort.codes
    assert display(codes["ICD9CM:401.9"]) == "Essential hypertension"
    assert display(codes["ICD9CM:403.90"]) == "Hypertensive kidney disease"


def test_a_concept_that_says_less_does_not() -> None:
    world = World()
    world.diagnosis("ICD9CM:518.81", "Acute respiratory failure", concept="M:RF")
    world.diagnosis("ICD10CM:E83.39", "Other disorders of phosphorus metabolism", concept="M:P")
    world.concepts["M:RF"]["name"] = "respiratory failure"
    world.concepts["M:P"]["name"] = "hypophosphatemia"
    world.patient("p").visit(["ICD9CM:518.81", "ICD10CM:E83.39"])
    codes = world.cohort.codes
    assert display(codes["ICD9CM:518.81"]) == "Acute respiratory failure"
    assert display(codes["ICD10CM:E83.39"]) == "Disorders of phosphorus metabolism"


def test_drugs_are_ingredient_and_route() -> None:
    world = World()
    world.drug("vancomycin hcl", ingredients=["Vancomycin"])
    world.drug("duoneb", ingredients=["ipratropium", "albuterol"])
    world.patient("p").visit([], [("vancomycin hcl", "oral"), ("duoneb", "inhaled")])
    vancomycin, duoneb = (
        world.cohort.codes[f"DRUGNAME:{name}"] for name in ("vancomycin hcl", "duoneb")
    )
    assert drug_option(vancomycin, "oral") == "vancomycin, by mouth"
    assert phrase(vancomycin, "intravenous") == "intravenous vancomycin"
    assert phrase(duoneb, "inhaled") == "inhaled albuterol and ipratropium"
    assert drug_option(vancomycin, "unknown") == "vancomycin"


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ("Hemiplegia, unspecified affecting unspecified side", "Hemiplegia"),
        (
            "Hemiplegia, unspecified affecting left nondominant side",
            "Hemiplegia affecting nondominant side",
        ),
        (
            "Duodenal ulcer, unspecified as acute or chronic, without hemorrhage or perforation",
            "Duodenal ulcer",
        ),
        ("Chronic or unspecified duodenal ulcer with hemorrhage", "Duodenal ulcer with hemorrhage"),
        (
            "Acute alcoholic intoxication in alcoholism, continuous",
            "Acute alcoholic intoxication in alcoholism",
        ),
        (
            "Epilepsy, unspecified, not intractable, with status epilepticus",
            "Epilepsy with status epilepticus",
        ),
        ("Necrotising fasciitis", "Necrotizing fasciitis"),
        ("Tachypnoea", "Tachypnea"),
        ("Seborrhoeic keratosis", "Seborrheic keratosis"),
        (
            "Pneumonia due to Methicillin resistant Staphylococcus aureus",
            "Methicillin-resistant staphylococcal pneumonia",
        ),
        ("Beam Radiation of Chest using Photons 1 - 10 MeV", "Radiation therapy of chest"),
    ],
)
def test_no_piece_of_a_dropped_qualifier_is_left(own: str, said: str) -> None:
    assert short_name(own, frozenset({"stage"})) == said


def test_a_drug_of_many_ingredients_names_two_and_others() -> None:
    world = World()
    many = ["ascorbic acid", "polyethylene glycol", "potassium chloride", "sodium ascorbate"]
    world.drug("bowel kit", ingredients=many)
    world.patient("p").visit([], [("bowel kit", "oral")])
    facts = world.cohort.codes["DRUGNAME:bowel kit"]
    assert drug_name(facts) == "ascorbic acid, polyethylene glycol and others"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "Excision of Right Middle Lung Lobe, Open Approach",
            "Removal of part of a lobe of the lung",
        ),
        ("Pheresis of Plasma, Multiple", "Plasmapheresis"),
        (
            "Supplement Thoracic Aorta, Descending with Synthetic Substitute, Open Approach",
            "Patch repair of thoracic aorta",
        ),
        (
            "Supplement Left Inguinal Region with Synthetic Substitute, Open Approach",
            "Reinforcement of inguinal region",
        ),
        (
            "Osteoarthrosis, unspecified whether generalized or localized, lower leg",
            "Osteoarthritis of lower leg",
        ),
        (
            "Obstructive chronic bronchitis with (acute) exacerbation",
            "Chronic obstructive bronchitis with exacerbation",
        ),
        ("Cellulitis and abscess of foot, except toes", "Cellulitis and abscess of foot"),
        ("Drainage of Pericardial Cavity with Drainage Device", "Pericardial drainage"),
    ],
)
def test_codes_are_called_as_people_call_them(name: str, said: str) -> None:
    assert short_name(name) == said
