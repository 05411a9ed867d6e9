"""Links of codes whose own vocabulary stands in the knowledge: SNOMED CT, RxNorm, ATC, NDC."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from ehrkg.mapping.crossref import STEP
from ehrkg.mapping.index import Index, Reference
from ehrkg.mapping.links import Link
from ehrkg.mapping.names import read_yaml
from ehrkg.ontology.curies import normalise

NDC = "NDC:"
_LAYOUTS = ((4, 4, 2), (5, 3, 2), (5, 4, 1), (5, 4, 2), (4, 4), (5, 3), (5, 4))
"""Labeler, product and package, as labels write them; a product is written without its package."""
_PADDED = (5, 4, 2)
"""The layout of eleven digits, which bills and pharmacies use: each part with leading zeros."""
_SAID_OF_THE_CODE = {"skos:narrowMatch": "skos:broadMatch"}
"""Links speak of the concept as seen from the code: of a narrower code it is the broader one."""
PRODUCT = 9
"""Digits that name the product; the rest says how many are in the package."""


def curies(code: str) -> tuple[str, ...]:
    """The CURIEs under which a knowledge may know a code; none for systems that have a tree.

    >>> curies("RXNORM:310798"), curies("ICD10CM:I10")
    (('RXCUI:310798',), ())
    """
    system, _, local = code.partition(":")
    prefix = _prefixes().get(system)
    if prefix is None:
        return ()
    if prefix == NDC.rstrip(":"):
        return tuple(f"{NDC}{digits}" for digits in ndc_digits(local))
    return (f"{prefix}:{local}",)


@cache
def _prefixes() -> Mapping[str, str]:
    table: dict[str, str] = read_yaml("rules.yaml")["vocabularies"]
    return table


def ndc_digits(text: str) -> list[str]:
    """The eleven digits that an NDC may stand for, the nine of the product after them.

    Ten digits without hyphens fit three layouts: each is given. What is no NDC gives nothing.

    >>> ndc_digits("0002-3227-30"), ndc_digits("00002-3227-30")
    (['00002322730', '000023227'], ['00002322730', '000023227'])
    >>> ndc_digits("50242-040-62"), ndc_digits("60575-4112-1"), ndc_digits("0002-3227")
    (['50242004062', '502420040'], ['60575411201', '605754112'], ['000023227'])
    >>> ndc_digits("5024204062")[:3], ndc_digits("0"), ndc_digits("00002322730")
    (['05024204062', '50242004062', '50242040602'], [], ['00002322730', '000023227'])
    """
    parts = re.split(r"[-*]", text.strip())
    if not all(part.isdigit() for part in parts):
        return []
    if len(parts) == 1:
        whole = parts[0]
        if len(whole) == sum(_PADDED):
            parted = [_cut(whole, _PADDED)]
        elif len(whole) == sum(_PADDED) - 1:
            parted = [_cut(whole, layout) for layout in _LAYOUTS[:3]]
        else:
            return []
    elif tuple(map(len, parts)) in _LAYOUTS:
        parted = [parts]
    else:
        return []
    full = ["".join(p.zfill(n) for p, n in zip(cut, _PADDED, strict=False)) for cut in parted]
    return list(dict.fromkeys([*full, *(digits[:PRODUCT] for digits in full)]))


def _cut(text: str, layout: Iterable[int]) -> list[str]:
    parts, at = [], 0
    for length in layout:
        parts.append(text[at : at + length])
        at += length
    return parts


def canonical(curie: str) -> tuple[str, ...]:
    """How a CURIE of a mapping file is looked up: an NDC by its digits, others as they are."""
    spelt = normalise(curie)
    if not spelt.upper().startswith(NDC):
        return (spelt,)
    return tuple(f"{NDC}{digits}" for digits in ndc_digits(spelt[len(NDC) :]))


def find(code: str, index: Index) -> list[Link]:
    """The concept that the code itself is, and those that refer to it.

    A concept that nothing is said of yields to those that are the same and have statements, and the
    code's own to any that refer to it.
    """
    found: dict[str, Link] = {}
    for curie in curies(code):
        rows = list(index.references.get(curie, ()))
        if curie in index.kinds and (curie in index.stated or not rows):
            rows.append(Reference(curie, "skos:exactMatch", 1.0, index.sources.get(curie, "")))
        for row in rows:
            for link in _links(code, curie, row, index):
                if link.concept not in found or link < found[link.concept]:
                    found[link.concept] = link
        if found:  # the package before the product, which says less
            break
    return sorted(found.values())


def _links(code: str, curie: str, row: Reference, index: Index) -> list[Link]:
    levels = STEP.get(row.predicate)
    if levels is None:
        return []
    itself = row.concept == curie
    return [
        Link(
            code=code,
            levels=levels + farther,
            concept=concept,
            method="vocabulary" if itself else "xref",
            predicate="skos:broadMatch"
            if farther
            else _SAID_OF_THE_CODE.get(row.predicate, row.predicate),
            confidence=row.confidence,
            source=row.source,
            explanation=_explain(curie, row, concept, index),
        )
        for concept, farther in index.spoken_of(row.concept)
        if index.linkable(concept)
    ]


def _explain(curie: str, row: Reference, concept: str, index: Index) -> str:
    name = index.names.get(row.concept) or row.concept
    how = "is" if row.concept == curie else "is referred to by"
    text = f"{curie} {how} {name}"
    if concept != row.concept:
        text += f", which is {index.names.get(concept) or concept}"
    return f"{text} ({row.source})"
