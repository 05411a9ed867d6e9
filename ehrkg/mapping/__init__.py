"""From a hospital's codes and drug strings to concepts, each link with method and confidence.

>>> import pyarrow as pa
>>> from ehrkg import ehr, mapping, ontology
>>> known = ontology.shipped()
>>> codes = [
...     {"id": "ICD10CM:I50.9", "system": "ICD10CM", "code": "I50.9", "kind": "diagnosis",
...      "name": "Heart failure, unspecified"},
...     {"id": "DRUGNAME:furosemide 20 mg", "system": "DRUGNAME", "code": "furosemide 20 mg",
...      "kind": "drug", "name": "Furosemide 20 mg"},
... ]
>>> mapped = mapping.map_codes(pa.Table.from_pylist(codes, ehr.CODES), known)  # a Mapping
>>> mapped.links.select(["concept", "method", "levels"]).to_pylist()
[{'concept': 'DRUGBANK:DB00695', 'method': 'ingredient', 'levels': 0},
 {'concept': 'MONDO:0005252', 'method': 'label', 'levels': 0}]
>>> all(link["levels"] <= mapping.NEAR for link in mapped.links.to_pylist())
True
>>> found = mapping.explain_mapping("ICD10CM:I50.9", known, name="Heart failure")
>>> isinstance(found, mapping.MappingExplanation)
True
>>> found.as_text().splitlines()[-1].split(":")[:2]
['  MONDO', '0005252 heart failure (exact, skos']
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
