"""What is known: concepts, definitions, typed edges with polarity and source, mappings, code trees.

>>> from ehrkg import ontology
>>> ontology.PREDICATES["TREATS"].words
'treats'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

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
