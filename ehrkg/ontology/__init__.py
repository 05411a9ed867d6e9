"""What is known: concepts, definitions, typed edges with polarity and source, mappings, code trees.

>>> from ehrkg import ontology
>>> ontology.PREDICATES["TREATS"].words
'treats'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from ehrkg.ontology.code_trees import for_codes
    from ehrkg.ontology.loading import load, shipped
    from ehrkg.ontology.merging import merge
    from ehrkg.ontology.places import acquaint, files_read, place_of
    from ehrkg.ontology.predicates import PREDICATES, Predicate
    from ehrkg.ontology.schema import Knowledge
    from ehrkg.ontology.sources import SOURCES, Source

_HOMES = {
    "PREDICATES": "predicates",
    "Predicate": "predicates",
    "SOURCES": "sources",
    "Source": "sources",
    "Knowledge": "schema",
    "load": "loading",
    "shipped": "loading",
    "merge": "merging",
    "acquaint": "places",
    "files_read": "places",
    "place_of": "places",
    "for_codes": "code_trees",
}

__all__ = [
    "PREDICATES",
    "SOURCES",
    "Knowledge",
    "Predicate",
    "Source",
    "acquaint",
    "files_read",
    "for_codes",
    "load",
    "merge",
    "place_of",
    "shipped",
]

__getattr__ = lazy_names(__name__, _HOMES)
