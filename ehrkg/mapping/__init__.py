"""From a hospital's codes and drug strings to concepts, each link with method and confidence.

>>> from ehrkg import mapping
>>> mapping.NEAR
1
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ehrkg.mapping.schema import Mapping

NEAR = 1
"""A link found at most this many levels up the code's tree is *near*; only such carry verdicts."""

_PUBLIC = {"map_codes": "chain", "read_drug": "drugs.reading"}

__all__ = ["NEAR", "Mapping", "map_codes", "read_drug"]


def __getattr__(name: str) -> Any:
    """Load a public name when first used."""
    if name in _PUBLIC:
        return getattr(import_module(f"ehrkg.mapping.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
