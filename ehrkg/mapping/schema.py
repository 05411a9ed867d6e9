"""The tables that mapping gives: links from codes to concepts, and the kind of each drug string."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

LINKS = pa.schema(
    [
        ("code", pa.string()),  # a Code id
        ("concept", pa.string()),  # a CURIE
        ("predicate", pa.string()),  # skos:exactMatch, closeMatch, broadMatch: the concept's side
        ("method", pa.string()),  # xref, sssom, tree, gem, label, synonym, ingredient
        ("levels", pa.int32()),  # how many levels up the code's tree the link was found; 0 = exact
        ("confidence", pa.float64()),  # in [0, 1], rounded to 4 digits
        ("source", pa.string()),  # what the link rests on
        ("explanation", pa.string()),  # one line a person can follow
    ]
)
"""Sorted by code, levels, concept, method. A link is *near* when levels <= 1 (mapping.NEAR)."""

DRUG_STRINGS = pa.schema(
    [
        ("code", pa.string()),  # a Code id of kind drug
        (
            "drug_kind",
            pa.string(),
        ),  # drug, nutrient, fluid, vaccine, device_or_supply, study, unclear
        ("ingredients", pa.list_(pa.string())),  # ingredient names, sorted
    ]
)
"""Sorted by code; one row a drug code."""


@dataclass(frozen=True)
class Mapping:
    """Links and drug kinds of a hospital's codes."""

    links: pa.Table
    drug_strings: pa.Table
