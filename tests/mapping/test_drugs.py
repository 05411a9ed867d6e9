"""Drug strings: their kind and their ingredients, as pharmacies write them."""

from __future__ import annotations

import pytest

from ehrkg.mapping import NEAR, map_codes
from ehrkg.ontology.tables import build, knowledge

from .worlds import SOURCE, codes, drug, kb, links


@pytest.mark.parametrize(
    ("text", "ingredients"),
    [
        ("Furosemide 40 mg Tablet", {"furosemide"}),
        ("Lasix", {"furosemide"}),
        ("frusemide", {"furosemide"}),
        ("Morphine Sulfate SR 15 mg", {"morphine"}),
        ("Metoprolol Tartrate", {"metoprolol"}),
        ("Metoprolol Succinate XL 50mg", {"metoprolol"}),
        ("Losartan Potassium", {"losartan"}),
        ("CefePIME HCl", {"cefepime"}),
        ("Levothyroxine Sodium 0.125 mg/mL", {"levothyroxine"}),
        ("*NF* Ertapenem", {"ertapenem"}),
        ("NEO*IV*Gentamicin", {"gentamicin"}),
        ("HYDROmorphone (Dilaudid)", {"hydromorphone"}),
        ("Piperacillin-Tazobactam", {"piperacillin", "tazobactam"}),
        ("Piperacillin-Tazobactam Na", {"piperacillin", "tazobactam"}),
        ("Oxycodone-Acetaminophen (5mg-325mg)", {"oxycodone", "acetaminophen"}),
        ("Sulfameth/Trimethoprim DS", {"sulfamethoxazole", "trimethoprim"}),
        ("Bactrim", {"sulfamethoxazole", "trimethoprim"}),
        ("OxycoDONE SR (OxyconTIN)", {"oxycodone"}),
        ("Heparin Flush (10 units/ml)", {"heparin"}),
        ("Sodium Chloride 0.9%  Flush", {"sodium chloride"}),
        ("0.9% Sodium Chloride (Mini Bag Plus)", {"sodium chloride"}),
        ("Syringe (0.9% Sodium Chloride)", {"sodium chloride"}),
        ("D5 1/2NS", {"dextrose", "sodium chloride"}),
        ("Potassium Chl 20 mEq / 1000 mL NS", {"potassium chloride", "sodium chloride"}),
        ("Insulin (Regular) for Hyperkalemia", {"insulin human"}),
        ("Insulin Glargine", {"insulin glargine"}),
        ("Albuterol 0.083% Neb Soln", {"salbutamol"}),
        ("Xopenex Neb", {"levosalbutamol"}),
        ("Fluticasone Propionate 110mcg", {"fluticasone propionate"}),
        ("Hydrochloroth", {"hydrochlorothiazide"}),
        ("Morphine Sod Chloride", {"morphine"}),
        ("Furosemid", {"furosemide"}),
        ("Bag", set()),
        ("Percocet 5-325", {"oxycodone", "acetaminophen"}),
        ("Hydrocerin", {"mineral oil", "petrolatum"}),
        ("Artificial Tear Ointment", {"mineral oil", "petrolatum"}),
        ("Sarna Lotion", {"camphor", "menthol"}),
        ("Neomycin-Polymyxin-Bacitracin", {"neomycin", "polymyxin b", "bacitracin"}),
        ("Acetaminophen-Caff-Butalbital", {"acetaminophen", "caffeine", "butalbital"}),
        ("Dexamethasone Sodium Phosphate", {"dexamethasone"}),
        ("Sodium Phosphate", {"sodium phosphate"}),
        ("Cepacol", {"benzocaine"}),
        ("Cepacol (Menthol)", {"menthol"}),
        ("Emtricitabine-Tenofovir", {"emtricitabine", "tenofovir"}),
        ("Emtricitabine-Tenofovir (Truvada)", {"emtricitabine", "tenofovir disoproxil"}),
        ("Digox", {"digoxin"}),
        ("hydrochlorothiazide 25 MG Oral Tablet", {"hydrochlorothiazide"}),
        (
            "acetaminophen 325 MG / oxycodone hydrochloride 10 MG Oral Tablet [Percocet]",
            {"acetaminophen", "oxycodone"},
        ),
        ("NDA020503 200 ACTUAT albuterol 0.09 MG/ACTUAT Metered Dose Inhaler", {"salbutamol"}),
    ],
)
def test_ingredients(text: str, ingredients: set[str]) -> None:
    assert drug(text)[1] == ingredients


@pytest.mark.parametrize(
    ("text", "ingredient"),
    [
        ("Sodium Chloride", "sodium chloride"),
        ("Potassium Chloride", "potassium chloride"),
        ("Magnesium Sulfate", "magnesium sulfate"),
        ("Calcium Gluconate", "calcium gluconate"),
        ("Sodium Bicarbonate", "sodium bicarbonate"),
        ("Ferrous Sulfate (Liquid)", "ferrous sulfate"),
        ("Lithium Carbonate CR (Lithobid)", "lithium carbonate"),
    ],
)
def test_a_salt_that_is_the_drug_is_kept(text: str, ingredient: str) -> None:
    assert drug(text)[1] == {ingredient}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Furosemide", "drug"),
        ("Heparin Flush (10 units/ml)", "drug"),
        ("Albumin 25% (12.5g / 50mL)", "drug"),
        ("Dextrose 50%", "drug"),
        ("Some Unheard-of Drug", "drug"),
        ("Potassium Chloride", "nutrient"),
        ("Multivitamins", "nutrient"),
        ("Ferrous Sulfate", "nutrient"),
        ("Amino Acids 5%", "nutrient"),
        ("0.9% Sodium Chloride", "fluid"),
        ("Lactated Ringers", "fluid"),
        ("5% Dextrose", "fluid"),
        ("Potassium Chl 20 mEq / 1000 mL D5NS", "fluid"),
        ("Pneumococcal Vac Polyvalent", "vaccine"),
        ("Tetanus-Diphtheria Toxoids", "vaccine"),
        ("Vial", "device_or_supply"),
        ("Insulin Syringe", "device_or_supply"),
        ("Investigational Agent 7", "study"),
        ("xyz", "unclear"),
        ("Syringe (Chemo)", "device_or_supply"),
        ("Soln.", "device_or_supply"),
        ("Calcium Replacement (Oncology)", "nutrient"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert drug(text)[0] == kind


def test_one_ingredient_is_exact_and_each_of_a_combination_is_broader() -> None:
    ids = ("DRUGNAME:furosemide 20 mg", "DRUGNAME:piperacillin-tazobactam")
    found = map_codes(codes(*ids), kb())
    assert {link.predicate for link in links(found, ids[0]).values()} == {"skos:exactMatch"}
    assert {link.predicate for link in links(found, ids[1]).values()} == {"skos:broadMatch"}
    assert {link.levels for link in links(found, ids[1]).values()} == {0}


@pytest.mark.parametrize(
    ("text", "ingredient"),
    [
        ("0.9% sodium chloride (mini bag plus)", "D:sodium-chloride"),
        ("syringe (0.9% sodium chloride)", "D:sodium-chloride"),
        ("sodium chloride 0.9%  flush", "D:sodium-chloride"),
        ("iso-osmotic dextrose", "D:dextrose"),
        ("heparin flush (10 units/ml)", "D:heparin"),
        ("heparin dwell (1000 units/ml)", "D:heparin"),
        ("heparin (crrt machine priming)", "D:heparin"),
    ],
)
def test_a_vehicle_or_a_flush_is_read_but_not_linked_near(text: str, ingredient: str) -> None:
    code = f"DRUGNAME:{text}"
    link = links(map_codes(codes(code), kb()), code)[ingredient]
    assert link.levels > NEAR
    assert link.predicate == "skos:broadMatch"
    assert drug(text)[1]


@pytest.mark.parametrize("text", ["dextrose 50%", "3% sodium chloride", "heparin sodium"])
def test_what_acts_by_itself_is_no_vehicle(text: str) -> None:
    code = f"DRUGNAME:{text}"
    assert {link.levels for link in links(map_codes(codes(code), kb()), code).values()} == {0}


def test_a_combination_read_in_part_is_not_the_part() -> None:
    code = "DRUGNAME:furosemide-unheardofine"
    assert links(map_codes(codes(code), kb()), code)["D:furosemide"].predicate == "skos:broadMatch"


def test_a_synonym_that_joins_two_drugs_is_neither() -> None:
    more = knowledge(
        concepts=build(
            "concepts",
            [
                ("D:g", "guaifenesin", "drug", "", SOURCE),
                ("D:c", "codeine", "drug", "", SOURCE),
            ],
        ),
        synonyms=build("synonyms", [("D:g", "guaifenesin-codeine", "exact", SOURCE)]),
    )
    code = "DRUGNAME:guaifenesin-codeine phosphate"
    assert set(links(map_codes(codes(code), more), code)) == {"D:g", "D:c"}


def test_of_two_drugs_of_one_name_the_salt_tells_which() -> None:
    more = knowledge(
        concepts=build(
            "concepts",
            [(f"D:{n}", "protamine", "drug", "", SOURCE) for n in (1, 2)],
        ),
        synonyms=build("synonyms", [("D:1", "protamine sulfate", "exact", SOURCE)]),
    )
    ids = ("DRUGNAME:protamine sulfate", "DRUGNAME:protamine")
    found = map_codes(codes(*ids), more)
    assert set(links(found, ids[0])) == {"D:1"}
    assert set(links(found, ids[1])) == {"D:1", "D:2"}


def test_what_a_product_holds_is_told() -> None:
    code = "DRUGNAME:percocet"
    link = links(map_codes(codes(code), kb()), code)["D:oxycodone"]
    assert (link.levels, link.predicate) == (0, "skos:broadMatch")
    assert "percocet" in link.explanation


def test_a_near_spelling_is_one_letter_off_at_most() -> None:
    more = knowledge(concepts=build("concepts", [("D:p", "phenobarbital", "drug", "", SOURCE)]))
    ids = ("DRUGNAME:pentobarbital sodium", "DRUGNAME:phenobarbitol")
    found = map_codes(codes(*ids), more)
    assert links(found, ids[0]) == {}
    assert links(found, ids[1])["D:p"].method == "fuzzy"


def test_a_device_holds_no_drug() -> None:
    assert drug("Insulin Syringe U-500") == ("device_or_supply", set())


def test_surer_ways_of_reading_are_more_confident() -> None:
    ids = ("DRUGNAME:furosemide", "DRUGNAME:lasix", "DRUGNAME:furosem", "DRUGNAME:furosemiide")
    found = map_codes(codes(*ids), kb())
    rows = [links(found, code)["D:furosemide"] for code in ids]
    assert [row.method for row in rows] == ["ingredient", "ingredient", "prefix", "fuzzy"]
    assert [row.confidence for row in rows] == sorted((r.confidence for r in rows), reverse=True)
    assert "brand" in rows[1].explanation


def test_a_truncated_name_that_two_drugs_share_links_to_neither() -> None:
    more = knowledge(
        concepts=build(
            "concepts",
            [
                ("D:a", "cefuroxime", "drug", "", SOURCE),
                ("D:b", "cefuroxamate", "drug", "", SOURCE),
            ],
        )
    )
    code = "DRUGNAME:cefurox"
    assert links(map_codes(codes(code), more), code) == {}


def test_a_genus_alone_means_its_usual_drug_but_never_hides_an_unknown_kind() -> None:
    more = knowledge(concepts=build("concepts", [("D:h", "insulin human", "drug", "", SOURCE)]))
    ids = ("DRUGNAME:insulin", "DRUGNAME:insulin icodec")
    found = map_codes(codes(*ids), more)
    assert links(found, ids[0])["D:h"].method == "unqualified"
    assert links(found, ids[1]) == {}


def test_salts_and_forms_alone_are_no_drug() -> None:
    more = knowledge(
        concepts=build(
            "concepts",
            [
                ("D:c", "carbonate ion", "drug", "", SOURCE),
                ("D:s", "sevelamer", "drug", "", SOURCE),
                ("D:n", "nitrate", "drug", "", SOURCE),
                ("D:o", "oral", "drug", "", SOURCE),
            ],
        )
    )
    for text in ("sevelamer carbonate", "sevelamer oral", "sevelamer nitrate"):
        code = f"DRUGNAME:{text}"
        assert set(links(map_codes(codes(code), more), code)) == {"D:s"}
