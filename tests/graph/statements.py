"""Knowledge of every sort, with texts that break careless writers."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

from ehrkg.ontology.predicates import PREDICATES
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.tables import build, knowledge, ordered, with_edge_ids

ODD = (
    'Carrión\'s "disease"',
    "a\nb\r\n\tc",
    '\\n \\ \\"',
    "寒 🫀 e\u0301",
    " x ",
    "<&>{}|^`",
    "\u2028\x85",
)
TEXTS = st.one_of(
    st.sampled_from(ODD),
    st.text(
        st.characters(codec="utf-8", exclude_characters="\x00\x1f\ufeff"), min_size=1, max_size=12
    ),
)
"""Names and notes; no NUL, which no engine holds."""


def made(first: str, second: str, third: str, fourth: str) -> Knowledge:
    """One of everything, with these texts in it."""
    source = ("infores:a", "infores:b")
    concepts = build(
        "concepts",
        [
            ("DRUGBANK:DB00695", first, "drug", second, source[0]),
            ("MONDO:0005252", second, "disease", third, source[1]),
            ("HP:0000969", third, "finding", "", source[0]),
            ("ATC:C03CA", fourth, "drug_class", "", source[0]),
            ("MAXO:0000001", "procedure", "procedure", "", source[0]),
            ("X:odd (1)", "odd", "grouping", "", source[0]),
        ],
    )
    synonyms = build(
        "synonyms",
        sorted(
            {
                ("MONDO:0005252", f"{text}!", scope, source[at % 2])
                for at, (text, scope) in enumerate(
                    [(first, "exact"), (third, "abbreviation"), (fourth, "inclusion_term")]
                )
            }
        ),
    )
    drug, disease = "DRUGBANK:DB00695", "MONDO:0005252"
    rows = [
        (drug, name, disease, at % 3 == 0, "oral|rectal" if at % 2 else "", source[at % 2], note)
        for at, (name, note) in enumerate(zip(sorted(PREDICATES), [second, ""] * 99, strict=False))
    ]
    names = ("subject", "predicate", "object", "negated", "route", "source", "provenance")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    unknown = ["x:regulates" if name == "RELATED_TO" else "" for name in columns["predicate"]]
    edges = with_edge_ids(
        pa.table(
            {
                **columns,
                "origin": ["infores:label"] * len(rows),
                "licence": ["CC0-1.0"] * len(rows),
                "original_predicate": unknown,
            }
        )
    )
    mappings = build(
        "mappings",
        [
            (disease, "skos:exactMatch", "DOID:6000", 0.95, source[0]),
            (disease, "skos:narrowMatch", "ICD10CM:I50.2", 1 / 3, source[1]),
            (drug, "skos:closeMatch", "X:odd (2)", 0.6, source[1]),
        ],
    )
    return knowledge(
        concepts=concepts, synonyms=synonyms, edges=ordered("edges", edges), mappings=mappings
    )
