"""From a hospital's codes and drug strings to concepts, each link with method and confidence.

>>> from ehrkg import mapping
>>> mapping.NEAR
1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names
from ehrkg.mapping.schema import Mapping

if TYPE_CHECKING:
    from ehrkg.mapping.chain import map_codes
    from ehrkg.mapping.drugs.reading import read_drug
    from ehrkg.mapping.explanation import MappingExplanation, explain_mapping
    from ehrkg.mapping.overrides import Overrides, read_overrides

NEAR = 1
"""A link found at most this many levels up the code's tree is *near*; only such carry verdicts."""

_HOMES = {
    "MappingExplanation": "explanation",
    "Overrides": "overrides",
    "explain_mapping": "explanation",
    "map_codes": "chain",
    "read_drug": "drugs.reading",
    "read_overrides": "overrides",
}

__all__ = [
    "NEAR",
    "Mapping",
    "MappingExplanation",
    "Overrides",
    "explain_mapping",
    "map_codes",
    "read_drug",
    "read_overrides",
]

__getattr__ = lazy_names(__name__, _HOMES)
