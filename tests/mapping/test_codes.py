"""Codes to concepts: at which level, by which method, and what never links."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.foundation.ledger import Ledger
from ehrkg.mapping import NEAR, map_codes
from ehrkg.mapping.names import key, same_names, wider_names
from ehrkg.ontology import merge
from ehrkg.ontology.tables import build, knowledge

from .worlds import MAPPINGS, SOURCE, codes, kb, links, mapped, subclass, trees


@pytest.mark.parametrize(
    ("code", "concept", "levels", "predicate"),
    [
        ("ICD10CM:I50", "X:heart-failure", 0, "skos:exactMatch"),
        ("ICD10CM:I50.2", "X:systolic-hf", 0, "skos:exactMatch"),
        ("ICD10CM:I50.23", "X:systolic-hf", 1, "skos:broadMatch"),
        ("ICD10CM:I50.1", "X:heart-failure", 1, "skos:broadMatch"),
        ("ICD9CM:428.0", "X:heart-failure", 1, "skos:broadMatch"),  # a narrowMatch, without dot
        ("ICD10CM:I10", "X:hypertension", 0, "skos:exactMatch"),  # written with the prefix ICD10
    ],
)
def test_levels_count_up_the_tree(code: str, concept: str, levels: int, predicate: str) -> None:
    link = links(mapped(code), code)[concept]
    assert (link.levels, link.predicate) == (levels, predicate)
    assert link.explanation


def test_an_unspecified_leaf_is_its_category() -> None:
    link = links(mapped("ICD10CM:I50.9"), "ICD10CM:I50.9")["X:heart-failure"]
    assert (link.levels, link.predicate) == (0, "skos:exactMatch")
    assert "unspecified form" in link.explanation


def test_a_pcs_axis_that_says_none_is_no_level() -> None:
    extra = knowledge(
        concepts=build("concepts", [("X:p", "paracentesis", "procedure", "", SOURCE)]),
        mappings=build("mappings", [("X:p", "skos:exactMatch", "ICD10PCS:0W9G", 0.9, SOURCE)]),
    )
    found = mapped("ICD10PCS:0W9G3ZZ", "ICD10PCS:0W9G3ZX", extra=extra)
    assert links(found, "ICD10PCS:0W9G3ZZ")["X:p"].levels == 1
    # how and what for (approach, device, qualifier) are one level together: a kind of the procedure
    assert links(found, "ICD10PCS:0W9G3ZX")["X:p"].levels == 1


def test_above_what_names_a_pcs_procedure_nothing_is_near() -> None:
    extra = knowledge(
        concepts=build("concepts", [("X:d", "drainage", "procedure", "", SOURCE)]),
        mappings=build("mappings", [("X:d", "skos:exactMatch", "ICD10PCS:0W9", 0.9, SOURCE)]),
    )
    found = mapped("ICD10PCS:0W9G3ZX", extra=extra)
    assert links(found, "ICD10PCS:0W9G3ZX")["X:d"].levels == 2


def test_axes_say_the_procedure_where_no_name_does() -> None:
    extra = knowledge(
        concepts=build(
            "concepts",
            [
                ("X:b", "bronchoscopy", "procedure", "", SOURCE),
                ("X:e", "transcatheter arterial embolisation", "procedure", "", SOURCE),
            ],
        )
    )
    ids = ("ICD10PCS:0BB78ZX", "ICD10PCS:04LK3DZ", "ICD10PCS:04LK0DZ")
    found = mapped(*ids, extra=extra)
    assert links(found, ids[0])["X:b"].method == "axes"
    assert links(found, ids[1])["X:e"].levels == 1
    assert links(found, ids[2]) == {}  # open: no transcatheter procedure


@pytest.mark.parametrize(
    ("code", "levels"),
    [
        ("ICD10CM:I50.XXX", 0),  # placeholders
        ("ICD10CM:I5O.9", 0),  # the letter O
        ("ICD9CM:041.9", None),
        ("ICD9CM:41.9", None),
    ],
)
def test_mistyped_codes_are_read_as_what_they_stand_for(code: str, levels: int | None) -> None:
    extra = knowledge(
        concepts=build("concepts", [("X:inf", "bacterial infection", "disease", "", SOURCE)]),
        mappings=build("mappings", [("X:inf", "skos:exactMatch", "ICD9CM:041.9", 0.9, SOURCE)]),
    )
    found = links(mapped(code, extra=extra), code)
    concept = "X:heart-failure" if levels == 0 else "X:inf"
    assert found[concept].levels == 0


def test_placeholders_and_first_treatment_are_no_level() -> None:
    extra = knowledge(
        concepts=build("concepts", [("X:fall", "fall", "finding", "", SOURCE)]),
        mappings=build("mappings", [("X:fall", "skos:exactMatch", "ICD10CM:W19", 0.9, SOURCE)]),
    )
    found = mapped("ICD10CM:W19.XXXA", "ICD10CM:W19.XXXD", extra=extra)
    assert links(found, "ICD10CM:W19.XXXA")["X:fall"].levels == 0
    assert links(found, "ICD10CM:W19.XXXD")["X:fall"].levels == 1


@pytest.mark.parametrize(
    ("code", "levels"),
    [
        ("ICD10CM:L03", 0),
        ("ICD10CM:L03.116", 1),  # which leg is no kind of its own
        ("ICD10CM:L03.90", 1),
        ("ICD9CM:707.03", 1),
        ("ICD9CM:707.15", 2),  # out of the pressure ulcers, up to the category
    ],
)
def test_side_site_and_stage_are_one_level_however_deep(code: str, levels: int) -> None:
    rows = [("X:cellulitis", "L03"), ("X:pressure-ulcer", "707.0"), ("X:ulcer", "707")]
    extra = knowledge(
        concepts=build("concepts", [(name, name, "disease", "", SOURCE) for name, _ in rows]),
        mappings=build(
            "mappings",
            [
                (name, "skos:exactMatch", f"ICD{10 if at[0] == 'L' else 9}CM:{at}", 0.9, SOURCE)
                for name, at in rows
            ],
        ),
    )
    found = links(mapped(code, extra=extra), code)
    assert {link.levels for link in found.values()} == {levels}
    assert len(found) == 1


def test_a_close_match_set_by_a_reader_holds_beside_its_kin() -> None:
    code = "ICD9CM:275.2"
    rows = [("X:wide", 0.6), ("X:low", 0.8), ("X:high", 0.8)]
    extra = knowledge(
        concepts=build("concepts", [(name, name, "disease", "", SOURCE) for name, _ in rows]),
        mappings=build("mappings", [(n, "skos:closeMatch", code, c, SOURCE) for n, c in rows]),
    )
    extra = merge(extra, subclass("X:low", "X:wide"), subclass("X:high", "X:wide"))
    found = links(mapped(code, extra=extra), code)
    assert {"X:low", "X:high"} <= set(found)
    assert {link.levels for link in found.values()} == {1}


def test_only_the_nearest_links_are_kept() -> None:
    assert set(links(mapped("ICD10CM:I50.23"), "ICD10CM:I50.23")) == {"X:systolic-hf"}


@pytest.mark.parametrize("code", ["ICD10CM:R69", "ICD10CM:N28.9", "ICD10CM:D50.9"])
def test_disease_wider_codes_and_blocks_never_link(code: str) -> None:
    found = links(mapped(code), code)
    assert "X:disease" not in found
    assert "X:rare-kidney-disease" not in found
    assert "X:anaemia" not in found


def test_a_code_without_a_mapping_takes_its_gem_equivalents() -> None:
    link = links(mapped("ICD9CM:427.31"), "ICD9CM:427.31")["X:af"]
    assert link.method in ("gem", "label")
    assert link.levels <= NEAR
    by_gem = links(mapped("ICD9CM:401.9"), "ICD9CM:401.9")["X:hypertension"]
    assert by_gem.levels <= NEAR


@pytest.mark.parametrize(
    ("code", "concept", "levels"),
    [
        ("ICD10CM:D64.9", "X:anaemia", 0),  # Anemia, unspecified; American spelling
        ("ICD10CM:J45.909", "X:asthma", 0),  # its inclusion term "Asthma NOS"
        ("ICD10CM:C50.919", "X:breast-cancer", 1),  # of unspecified site of unspecified breast
        ("ICD9PROC:39.95", "X:dialysis", 0),
    ],
)
def test_names_link_where_nothing_else_does(code: str, concept: str, levels: int) -> None:
    found = links(mapped(code), code)
    assert found[concept].levels in (levels, levels + 1)
    assert found[concept].method in ("label", "synonym")


def test_a_procedure_never_links_to_a_disease_of_its_name() -> None:
    extra = knowledge(concepts=build("concepts", [("X:w", "Hemodialysis", "disease", "", SOURCE)]))
    assert "X:w" not in links(mapped("ICD9PROC:39.95", extra=extra), "ICD9PROC:39.95")


def test_the_same_string_in_two_versions_is_two_codes() -> None:
    extra = knowledge(
        concepts=build(
            "concepts",
            [
                ("X:q", "surgical reaction", "disease", "", SOURCE),
                ("X:r", "fluid overload", "disease", "", SOURCE),
            ],
        ),
        mappings=build(
            "mappings",
            [
                ("X:q", "skos:exactMatch", "ICD9CM:E8770", 0.9, SOURCE),
                ("X:r", "skos:exactMatch", "ICD10CM:E8770", 0.9, SOURCE),
            ],
        ),
    )
    found = mapped("ICD9CM:E877.0", "ICD10CM:E87.70", extra=extra)
    assert set(links(found, "ICD9CM:E877.0")) == {"X:q"}
    assert set(links(found, "ICD10CM:E87.70")) == {"X:r"}


def test_leading_zeros_matter() -> None:
    extra = knowledge(
        concepts=build("concepts", [("X:c", "C. difficile colitis", "disease", "", SOURCE)]),
        mappings=build("mappings", [("X:c", "skos:exactMatch", "ICD9CM:00845", 0.9, SOURCE)]),
    )
    assert "X:c" in links(mapped("ICD9CM:008.45", extra=extra), "ICD9CM:008.45")
    assert "X:c" not in links(mapped("ICD9CM:845", extra=extra), "ICD9CM:845")


def test_of_cross_references_only_the_widest_concepts_link() -> None:
    kinds = [(f"X:k{n}", f"rare kind {n}", "disease", "", SOURCE) for n in range(2)]
    extra = merge(
        knowledge(
            concepts=build("concepts", [*kinds, ("X:g", "genus", "disease", "", SOURCE)]),
            mappings=build(
                "mappings",
                [
                    (concept, "skos:closeMatch", "ICD9CM:277.3", 0.6, SOURCE)
                    for concept in ("X:k0", "X:k1", "X:g")
                ],
            ),
        ),
        subclass("X:k0", "X:g"),
        subclass("X:k1", "X:g"),
    )
    found = links(mapped("ICD9CM:277.3", extra=extra), "ICD9CM:277.3")
    assert set(found) == {"X:g"}
    assert found["X:g"].levels == 1


def test_a_cross_reference_of_a_residual_code_needs_a_word_in_common() -> None:
    extra = knowledge(
        concepts=build(
            "concepts",
            [
                ("X:e", "infective endocarditis", "disease", "", SOURCE),
                ("X:p", "pericardial effusion", "disease", "", SOURCE),
            ],
        ),
        mappings=build(
            "mappings",
            [
                ("X:e", "skos:closeMatch", "ICD9CM:136.9", 0.6, SOURCE),
                ("X:p", "skos:closeMatch", "ICD9CM:423.8", 0.6, SOURCE),
            ],
        ),
    )
    found = mapped("ICD9CM:136.9", "ICD9CM:423.8", extra=extra)
    assert links(found, "ICD9CM:136.9")["X:e"].levels > NEAR
    assert links(found, "ICD9CM:423.8")["X:p"].levels > NEAR  # pericardium is another word


def test_the_ledger_balances_and_says_why() -> None:
    ledger = Ledger()
    some = codes("ICD10CM:I50.23", "ICD10CM:Z91.19", "DRUGNAME:furosemide", "DRUGNAME:bag")
    map_codes(some, merge(kb(), trees("ICD10CM:I50.23", "ICD10CM:Z91.19")), ledger=ledger)
    assert ledger.dropped("map", "diagnosis") == {"no_mapping_or_name": 1}
    assert ledger.dropped("map", "drug") == {"no_ingredient_device_or_supply": 1}


def test_the_order_of_rows_decides_nothing() -> None:
    ids = ["ICD10CM:I50.23", "ICD9CM:428.0", "DRUGNAME:furosemide", "ICD10CM:D64.9"]
    known = merge(kb(), trees(*ids))
    table = codes(*ids)
    shuffled = [3, 1, 0, 2]
    whole = map_codes(table, known)
    assert map_codes(table.take(pa.array(shuffled)), known) == whole
    rows = list(range(known.mappings.num_rows))
    random.Random(1).shuffle(rows)
    other = knowledge(
        concepts=known.concepts.take(pa.array(range(known.concepts.num_rows - 1, -1, -1))),
        synonyms=known.synonyms,
        edges=known.edges,
        mappings=known.mappings.take(pa.array(rows)),
        attributes=known.attributes,
    )
    assert map_codes(table, other) == whole


LAW = ("ICD10CM:I50.23", "ICD10CM:I50.9", "ICD9CM:428.0", "ICD10CM:I10", "ICD9CM:427.31")


@settings(max_examples=12, deadline=None)
@given(st.sets(st.sampled_from([row for row in MAPPINGS if "Match" in row[1]])), st.data())
def test_more_knowledge_never_loses_a_link(
    few: set[tuple[str, str, str, float, str]], data: st.DataObject
) -> None:
    more = few | data.draw(st.sets(st.sampled_from(MAPPINGS)))
    nearest = []
    for mappings in (few, more):
        found = map_codes(codes(*LAW), merge(kb(sorted(mappings)), trees(*LAW))).links.to_pylist()
        nearest.append(
            {
                code: min((row["levels"] for row in found if row["code"] == code), default=99)
                for code in LAW
            }
        )
    assert all(nearest[1][code] <= nearest[0][code] for code in LAW)


def test_names_are_compared_as_people_read_them() -> None:
    assert key("oedema of the lungs") == key("Lung edema")
    assert key("heart failure") in same_names("Heart failure, unspecified")
    assert key("pneumonia") in same_names("Pneumonia, unspecified organism")
    assert key("essential hypertension") in same_names("Essential (primary) hypertension")
    assert key("type 2 diabetes mellitus") in wider_names(
        "Type 2 diabetes mellitus without complications"
    )
    assert key("type 2 diabetes mellitus") not in same_names(
        "Type 2 diabetes mellitus without complications"
    )
    assert key("type 1 diabetes mellitus") != key("type 2 diabetes mellitus")
