"""What the terms of RDF vocabularies mean here, read from rdf_vocabulary.yaml."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa

from ehrkg.ontology.categories import read_yaml


@cache
def vocabulary() -> pa.Table:
    """rdf_vocabulary.yaml as a table: role, place in its list, term, scope (if it has one)."""
    rows: list[tuple[str, int, str, str]] = []
    for role, terms in words().items():
        if isinstance(terms, list):
            rows += [(role, place, term, "") for place, term in enumerate(terms)]
        elif role == "synonyms":
            rows += [(role, 0, term, scope) for term, scope in terms.items()]
        elif role == "statement":
            rows += [(role, 0, term, field) for field, names in terms.items() for term in names]
    columns = list(zip(*rows, strict=True))
    return pa.table([pa.array(list(c)) for c in columns], names=["role", "place", "term", "scope"])


@cache
def words() -> dict[str, Any]:
    """rdf_vocabulary.yaml."""
    found: dict[str, Any] = read_yaml("rdf_vocabulary.yaml")
    return found
