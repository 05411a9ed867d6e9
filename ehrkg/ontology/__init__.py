"""What is known: concepts, definitions, typed edges with polarity and source, mappings, code trees.

>>> from ehrkg import ontology
>>> ontology.PREDICATES["TREATS"].words
'treats'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ehrkg.ontology.code_trees import for_codes
    from ehrkg.ontology.loading import load, shipped
    from ehrkg.ontology.merging import merge
    from ehrkg.ontology.predicates import PREDICATES, Predicate
    from ehrkg.ontology.schema import Knowledge
    from ehrkg.ontology.sources import SOURCES, Source

_PUBLIC = {
    "PREDICATES": "predicates",
    "Predicate": "predicates",
    "SOURCES": "sources",
    "Source": "sources",
    "Knowledge": "schema",
    "load": "loading",
    "shipped": "loading",
    "merge": "merging",
    "for_codes": "code_trees",
}

__all__ = [
    "PREDICATES",
    "SOURCES",
    "Knowledge",
    "Predicate",
    "Source",
    "for_codes",
    "load",
    "merge",
    "shipped",
]


def __getattr__(name: str) -> Any:
    """Load a public name when first used, so that importing the package stays light."""
    if name in _PUBLIC:
        return getattr(import_module(f"ehrkg.ontology.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
