"""Identifiers: however a file writes them, they arrive in one spelling."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.ontology.curies import _bioregistry, contract, normalise, prefixes
from ehrkg.ontology.formats.tsv import column, header, read_tsv

SAME = {
    "MESH:D006333": ["MSH:D006333", "mesh:D006333", "MeSH:D006333", "http://identifiers.org/mesh/D006333",
                     "http://id.nlm.nih.gov/mesh/D006333", "https://bioregistry.io/mesh:D006333"],
    "UMLS:C0018801": ["UMLS_CUI:C0018801", "umls:C0018801", "UMLS CUI:C0018801"],
    "SNOMEDCT:84114007": ["SNOMEDCT_US:84114007", "SCTID:84114007", "SNOMED:84114007",
                          "http://snomed.info/id/84114007"],
    "ICD10CM:I50.23": ["ICD10CM:I5023", "icd10cm:I50.23", "ICD-10-CM:i5023",
                       "http://purl.bioontology.org/ontology/ICD10CM/I50.23"],
    "ICD9CM:428.0": ["ICD9:4280", "ICD9CM:428.0", "ICD-9-CM:4280"],
    "RXCUI:1191": ["RXNORM:1191", "rxnorm:1191", "RxCUI:1191"],
    "MONDO:0005252": ["mondo:0005252", "MONDO:5252", "http://purl.obolibrary.org/obo/MONDO_0005252",
                      "https://purl.obolibrary.org/obo/MONDO_0005252"],
    "HP:0001635": ["HPO:0001635", "hp:1635", "http://purl.obolibrary.org/obo/HP_0001635"],
    "CHEBI:15365": ["chebi:15365", "CHEBI:CHEBI:15365", "https://identifiers.org/chebi/CHEBI:15365"],
    "DRUGBANK:DB00945": ["drugbank:DB00945", "DrugBank:DB00945", "https://go.drugbank.com/drugs/DB00945"],
    "ORPHA:558": ["Orphanet:558", "orphanet:558", "ORDO:558", "http://www.orpha.net/ORDO/Orphanet_558"],
    "OMIM:154700": ["MIM:154700", "omim:154700", "https://omim.org/entry/154700"],
    "NCIT:C3224": ["NCI:C3224", "ncit:C3224", "http://purl.obolibrary.org/obo/NCIT_C3224"],
    "HGNC:5724": ["hgnc:5724", "http://identifiers.org/hgnc/5724"],
}  # fmt: skip


@pytest.mark.parametrize("curie", sorted(SAME))
def test_many_spellings_are_one_identifier(curie: str) -> None:
    assert {normalise(text) for text in [curie, *SAME[curie]]} == {curie}


@pytest.mark.parametrize(
    "text", ["", "gout", "X:1", "_:b1", "http://example.org/a", "urn:x:1", "e:1", "https://"]
)
def test_what_no_table_knows_is_kept(text: str) -> None:
    assert normalise(text) == text


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20), st.sampled_from(["", "MESH:", "mondo:", "http://", "ICD9:", "x:"]))
def test_writing_it_again_changes_nothing(text: str, prefix: str) -> None:
    once = normalise(prefix + text)
    assert normalise(once) == once


def test_no_two_prefixes_claim_one_spelling_or_address() -> None:
    table = _bioregistry()
    names = Counter(name.upper() for row in table for name in (row.prefix, *row.spellings))
    addresses = Counter(uri for row in table for uri in row.uris)
    assert max(names.values()) == max(addresses.values()) == 1
    assert len(prefixes()) >= len(table) > 2000


def test_addresses_of_the_table_come_back() -> None:
    for row in _bioregistry():
        if row.prefix in ("MONDO", "HP", "DOID", "CHEBI", "MAXO", "UBERON", "GO"):
            assert f"//purl.obolibrary.org/obo/{row.prefix}_" in row.uris
            assert contract(f"http://purl.obolibrary.org/obo/{row.prefix}_0001234").startswith(
                row.prefix
            )


def test_identifiers_that_ship_are_written_as_here(root: Path) -> None:
    """No shipped identifier changes when it is read, so that tables may be compared as they are."""
    for path in sorted((root / "ontologies").glob("*/*.tsv*")):
        names = header(path)[0]
        table = read_tsv(path, ())
        for name in {"id", "subject", "object", "subject_id", "object_id"} & set(names):
            for curie in set(column(table, name).to_pylist()) - {""}:
                if name != "id" or path.name.startswith("nodes"):
                    assert normalise(curie) == curie, path
