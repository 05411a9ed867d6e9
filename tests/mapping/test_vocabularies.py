"""Codes of vocabularies that the knowledge may hold: SNOMED CT, RxNorm, ATC, NDC."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ehrkg.mapping import map_codes
from ehrkg.mapping.vocabularies import ndc_digits
from ehrkg.ontology import merge
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.tables import build, knowledge, with_edge_ids

from .worlds import SOURCE, kb, links

DIGITS = st.integers(min_value=0, max_value=99999)


def one_code(code: str, kind: str, name: str = "") -> pa.Table:
    system, _, local = code.partition(":")
    return pa.table(
        {"id": [code], "system": [system], "code": [local], "name": [name], "kind": [kind]}
    )


def treats(drug: str) -> Knowledge:
    row = {
        "subject": drug,
        "predicate": "TREATS",
        "object": "X:hypertension",
        "negated": False,
        "route": "",
        "source": SOURCE,
        "origin": SOURCE,
        "licence": "",
        "provenance": "",
    }
    return knowledge(edges=with_edge_ids(pa.Table.from_pylist([row])))


def said(*rows: tuple[str, str, str]) -> Knowledge:
    return knowledge(mappings=build("mappings", [(*row, 0.9, SOURCE) for row in rows]))


@given(st.integers(0, 99999), st.integers(0, 9999), st.integers(0, 99))
def test_the_same_package_in_any_layout_has_the_same_eleven_digits(
    labeler: int, product: int, package: int
) -> None:
    eleven = f"{labeler:05}{product:04}{package:02}"
    ways = [f"{labeler:05}-{product:04}-{package:02}", eleven]
    if labeler < 10_000:
        ways += [f"{labeler:04}-{product:04}-{package:02}", f"{labeler:04}{product:04}{package:02}"]
    if product < 1000:
        ways += [f"{labeler:05}-{product:03}-{package:02}", f"{labeler:05}{product:03}{package:02}"]
    if package < 10:
        ways += [f"{labeler:05}-{product:04}-{package}", f"{labeler:05}{product:04}{package}"]
    assert all(eleven in ndc_digits(way) for way in ways)
    assert all(eleven[:9] in ndc_digits(way) for way in ways)
    assert all(len(ndc_digits(way)) == 2 for way in ways[:2])


@pytest.mark.parametrize("text", ["0", "", "none", "1234", "000023227301", "12-34"])
def test_what_is_no_ndc_gives_nothing(text: str) -> None:
    assert ndc_digits(text) == []


@pytest.mark.parametrize("stated", ["NDC:0002-3227-30", "NDC:0002-3227", "NDC:00002322730"])
@pytest.mark.parametrize("written", ["00002322730", "0002-3227-30", "0002322730"])
def test_an_ndc_is_found_however_each_side_writes_it(stated: str, written: str) -> None:
    known = merge(kb(), said(("D:furosemide", "skos:exactMatch", stated)))
    code = f"NDC:{written}"
    found = links(map_codes(one_code(code, "drug"), known), code)
    assert found["D:furosemide"].method == "xref"


def test_a_package_says_more_than_its_product() -> None:
    known = merge(
        kb(),
        said(
            ("D:furosemide", "skos:exactMatch", "NDC:0002-3227-30"),
            ("D:morphine", "skos:exactMatch", "NDC:0002-3227"),
        ),
    )
    code = "NDC:00002322730"
    assert set(links(map_codes(one_code(code, "drug"), known), code)) == {"D:furosemide"}


def test_a_drug_code_without_reference_is_read_by_its_name() -> None:
    code = "RXNORM:310798"
    table = one_code(code, "drug", "hydrochlorothiazide 25 MG Oral Tablet")
    mapping = map_codes(table, kb())
    assert links(mapping, code)["D:hydrochlorothiazide"].levels == 0
    assert mapping.drug_strings.to_pylist()[0]["drug_kind"] == "drug"


def test_a_snomed_code_goes_by_what_refers_to_it() -> None:
    known = merge(kb(), said(("X:hypertension", "skos:exactMatch", "SNOMEDCT:59621000")))
    code = "SNOMED:59621000"
    found = links(map_codes(one_code(code, "diagnosis", "Essential hypertension"), known), code)
    assert (found["X:hypertension"].levels, found["X:hypertension"].method) == (0, "xref")


def test_a_snomed_code_without_reference_goes_by_name() -> None:
    code = "SNOMED:1"
    found = links(map_codes(one_code(code, "diagnosis", "Breast cancer"), kb()), code)
    assert found["X:breast-cancer"].method == "label"


def test_a_concept_without_statements_yields_to_the_same_one_with_them() -> None:
    table = knowledge(
        concepts=build(
            "concepts",
            [
                ("PHARMGKB.DRUG:PA1", "furosemide", "drug", "", SOURCE),
                ("DRUGBANK:DB00695", "furosemide", "drug", "", SOURCE),
            ],
        )
    )
    bridge = said(
        ("PHARMGKB.DRUG:PA1", "skos:exactMatch", "RXCUI:4603"),
        ("PHARMGKB.DRUG:PA1", "skos:exactMatch", "DRUGBANK:DB00695"),
    )
    code = "RXNORM:4603"
    known = merge(table, bridge, treats("DRUGBANK:DB00695"))
    assert set(links(map_codes(one_code(code, "drug"), known), code)) == {"DRUGBANK:DB00695"}
    unsaid = merge(table, bridge)
    assert set(links(map_codes(one_code(code, "drug"), unsaid), code)) == {"PHARMGKB.DRUG:PA1"}


def test_a_code_that_is_a_concept_is_that_concept() -> None:
    known = merge(
        kb(),
        knowledge(concepts=build("concepts", [("RXCUI:4603", "furosemide", "drug", "", SOURCE)])),
        treats("RXCUI:4603"),
    )
    code = "RXNORM:4603"
    link = links(map_codes(one_code(code, "drug"), known), code)["RXCUI:4603"]
    assert (link.levels, link.method) == (0, "vocabulary")
