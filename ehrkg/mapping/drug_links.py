"""Links of drug codes: what the string names, or what the code's own vocabulary says."""

from __future__ import annotations

from ehrkg.mapping.drugs.lexicon import Lexicon
from ehrkg.mapping.drugs.reading import Found, Reading, read_drug
from ehrkg.mapping.index import Index
from ehrkg.mapping.links import Link
from ehrkg.mapping.names import read_yaml

STRINGS = "DRUGNAME:"
"""Codes of this system are the string itself; others have it as their name."""
HOW = {
    "unqualified": "with no more said means",
    "prefix": "begins the name",
    "fuzzy": "is nearly the name",
}
"""How an explanation says that a drug was not read under its very name."""


def reading_of(code: str, name: str, lexicon: Lexicon) -> Reading:
    """What a drug code's string says."""
    return read_drug(code.removeprefix(STRINGS) if code.startswith(STRINGS) else name, lexicon)


def find(code: str, reading: Reading, index: Index) -> list[Link]:
    """A link an ingredient. A vehicle's are known, but not near: it is not why it was ordered."""
    levels = read_yaml("rules.yaml")["vehicles"]["levels"] if reading.vehicle else 0
    single = len(reading.concepts) == 1 and not reading.partly and not reading.vehicle
    chosen: dict[str, Link] = {}
    for item in reading.found:
        for concept in item.hit.concepts:
            link = Link(
                code=code,
                levels=levels,
                concept=concept,
                method=item.hit.method,
                predicate="skos:exactMatch" if single else "skos:broadMatch",
                confidence=reading.confidence(item),
                source=item.hit.label.source,
                explanation=_explain(item, concept, reading, index),
            )
            if concept not in chosen or link.confidence > chosen[concept].confidence:
                chosen[concept] = link
    return list(chosen.values())


def _explain(item: Found, concept: str, reading: Reading, index: Index) -> str:
    label = item.hit.label
    return (
        f"{item.phrase!r} {HOW.get(item.hit.method, 'is')} {label.text!r}, "
        f"{'a brand' if label.scope == 'brand' else 'a name'} of "
        f"{index.names.get(concept) or concept}"
        f"{f', which {item.product!r} holds' if item.product else ''}"
        f"{', ordered as a vehicle' if reading.vehicle else ''}"
    )


def ingredients(reading: Reading, index: Index) -> list[str]:
    """The names of the ingredients, in lower case, sorted."""
    return sorted({(index.names.get(c) or c).lower() for c in reading.concepts})
