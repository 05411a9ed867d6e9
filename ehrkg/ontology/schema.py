"""The tables that knowing gives: concepts, synonyms, typed edges, mappings, code attributes."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

CONCEPTS = pa.schema(
    [
        ("id", pa.string()),  # a CURIE
        ("name", pa.string()),
        ("kind", pa.string()),  # disease, finding, drug, drug_class, procedure, grouping
        ("definition", pa.string()),  # "" where there is none
        ("source", pa.string()),  # infores id of the source that gave name and definition
    ]
)
"""Sorted by id."""

SYNONYMS = pa.schema(
    [
        ("concept", pa.string()),
        ("text", pa.string()),
        ("scope", pa.string()),  # exact, related, brand, abbreviation, inclusion_term
        ("source", pa.string()),
    ]
)
"""Sorted by concept, text, source."""

EDGES = pa.schema(
    [
        ("id", pa.string()),  # unique; "e" and 16 hex digits of its content
        ("subject", pa.string()),
        ("predicate", pa.string()),  # a predicate of predicates.yaml, UPPER_SNAKE
        ("object", pa.string()),
        ("negated", pa.bool_()),
        (
            "route",
            pa.string(),
        ),  # route classes the statement holds for, joined by "|"; "" = systemic
        ("source", pa.string()),  # infores id of the file's owner
        ("origin", pa.string()),  # where the fact was first stated; support counts origins
        ("licence", pa.string()),  # SPDX id
        ("provenance", pa.string()),  # a reference, a row, a note
        # the file's own word where predicates.yaml knows none; "" where it does
        ("original_predicate", pa.string()),
    ]
)
"""Sorted by predicate, subject, object, source, id. Parallel edges of several sources are kept.

An edge with an ``original_predicate`` stands under RELATED_TO: it can be asked for by that word,
but says too little to be evidence. The name and the meaning are KGX's.
"""

MAPPINGS = pa.schema(
    [
        ("subject", pa.string()),  # a concept
        ("predicate", pa.string()),  # skos:exactMatch, closeMatch, broadMatch, narrowMatch
        ("object", pa.string()),  # a CURIE of another vocabulary: ICD10CM:I50.2, DOID:6000
        ("confidence", pa.float64()),
        ("source", pa.string()),
    ]
)
"""SSSOM's reading: `subject skos:narrowMatch object` says that the object is the narrower one."""

PASSAGES = pa.schema(
    [
        ("id", pa.string()),  # unique; "p" and 16 hex digits of its content
        ("concept", pa.string()),  # the CURIE of what it is about
        ("kind", pa.string()),  # what it says of it: definition, symptoms, treatment, causes, ...
        ("title", pa.string()),  # the heading or question it stands under, "" where none
        ("text", pa.string()),
        ("source", pa.string()),  # infores id of the file's owner
        ("origin", pa.string()),  # who wrote it; support counts origins
        ("licence", pa.string()),  # SPDX id
        ("url", pa.string()),  # where a reader finds it, "" where unknown
        ("provenance", pa.string()),  # the document and the place in it
    ]
)
"""Texts that can be cited, one row a concept and text. Sorted by concept, kind, id.

A passage about several concepts is several rows. The concept need not stand among the concepts: a
CUI is reached through the mappings of another vocabulary's concept.
"""

CODE_ATTRIBUTES = pa.schema(
    [
        ("code", pa.string()),  # a Code id
        ("name", pa.string()),  # the code system's own name, "" where unknown
        ("parent", pa.string()),  # CURIE one level up in the tree; "" at the category
        ("category", pa.string()),  # CURIE of the three-character category
        ("chapter", pa.string()),  # a short id: "ICD10CM:9", "ICD9CM:7"
        ("chapter_name", pa.string()),
        ("ccsr", pa.list_(pa.string())),  # CCSR groups, for ICD-9 through GEMs; sorted
        ("chronic", pa.bool_()),  # CCIR / CCI; null where undetermined
        ("equivalents", pa.list_(pa.string())),  # the other ICD version's codes by GEM, sorted
    ]
)
"""One row a code asked for and one for each of its ancestors up to the category. Sorted by code."""


@dataclass(frozen=True)
class Knowledge:
    """What the ontologies say.

    Attributes:
        concepts, synonyms, edges, mappings: tables with the schemas of this module.
        attributes: CODE_ATTRIBUTES of the hospital's codes.
        passages: texts that can be cited; none unless a source of them was loaded.

    >>> from ehrkg import ontology
    >>> ontology.merge().concepts.num_rows
    0
    """

    concepts: pa.Table
    synonyms: pa.Table
    edges: pa.Table
    mappings: pa.Table
    attributes: pa.Table
    passages: pa.Table = field(default_factory=PASSAGES.empty_table)
