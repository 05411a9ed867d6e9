"""Links that a mapping file or a cross-reference states, for a code or for what is above it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ehrkg.mapping.index import Index, Reference
from ehrkg.mapping.links import Link
from ehrkg.mapping.names import (
    is_residual,
    is_unspecified,
    read_yaml,
    same_names,
    share_a_word,
)

STEP = {"skos:exactMatch": 0, "skos:narrowMatch": 1, "skos:closeMatch": 1}
"""Levels a predicate adds: the code is the concept, one kind of it, or something close to it.
A broadMatch says that the code is the wider one: no link arises from it."""

PCS = "ICD10PCS:"
PCS_AXES_BEFORE_NONE = len(PCS) + 5
"""From the sixth axis (device) on, "Z" says that there is none."""
PCS_AXES_THAT_NAME = len(PCS) + 4
"""Section, body system, operation and body part say what is done; the other axes say how."""
ICD10, FIRST_ENCOUNTER = "ICD10CM:", "ABC"
"""Seventh characters of active treatment: they say when it was coded, not what it is."""
ICD10_LENGTH = 7


class Place(NamedTuple):
    """A code of the tree as seen from a code below it.

    Attributes:
        code: the code of the tree.
        depth: how many levels up it counts as.
        least: the fewest levels a link found there has.
    """

    code: str
    depth: int
    least: int


def depths(code: str, index: Index) -> list[Place]:
    """The code and what stands above it, each with its levels up.

    A leaf that only says that nothing more is said ("I50.9 Heart failure, unspecified") is the
    same concept as its parent, so that step is not counted; nor is the one from an ICD-10-PCS code
    to the same without its last "Z", which says "no device" or "no qualifier", nor those off an
    ICD-10-CM code's placeholder "X" and its seventh character of first treatment. Nor are steps
    under a node whose codes are all kinds of what it means (rules.yaml, kinds_below), and those
    along the axes of an ICD-10-PCS code that say how (approach, device, qualifier); but what is
    found beyond them is a wider concept, one level away at least.
    """
    places = index.chain(code)
    found = [Place(code, 0, 0)]
    depth = least = 0
    for at, (below, place) in enumerate(pairwise(places), start=1):
        if not _says_the_same(below, place, index):
            if _says_how(below) or _kinds_below() & set(places[at:]):
                least = 1
            else:
                depth = max(depth, least) + 1
        found.append(Place(place, depth, least))
    return found


@cache
def _kinds_below() -> frozenset[str]:
    rows = read_yaml("rules.yaml")["kinds_below"]
    return frozenset(f"{system}:{code}" for system, codes in rows.items() for code in codes)


def _says_how(code: str) -> bool:
    return code.startswith(PCS) and len(code) > PCS_AXES_THAT_NAME


def _is_placeholder(below: str, place: str) -> bool:
    """Whether a step up takes off nothing but a placeholder or the mark of first treatment."""
    if not below.startswith(ICD10):
        return False
    plain, wider = (code.removeprefix(ICD10).replace(".", "") for code in (below, place))
    if len(plain) == ICD10_LENGTH and plain[-1] in FIRST_ENCOUNTER:
        plain = plain[:-1]
    return plain.rstrip("X") == wider.rstrip("X")


def _says_the_same(below: str, place: str, index: Index) -> bool:
    if below.startswith(PCS) and below.endswith("Z") and len(below) > PCS_AXES_BEFORE_NONE:
        return True
    if _is_placeholder(below, place):
        return True
    name, wider = index.names.get(below, ""), index.names.get(place, "")
    if not (is_unspecified(name) and wider):
        return False
    return bool(set(same_names(name)) & set(same_names(wider)))


def find(code: str, index: Index) -> list[Link]:
    """All links of a code by mappings and cross-references, at every level of its tree."""
    return [link for place in depths(code, index) for link in _at(code, place, index)]


def _at(code: str, where: Place, index: Index) -> Iterator[Link]:
    place, depth, least = where
    stated = [row for row in index.references.get(place, ()) if index.linkable(row.concept)]
    curated = read_yaml("rules.yaml")["curated"]
    close = _widest(
        [r for r in stated if r.predicate == "skos:closeMatch" and r.confidence < curated], index
    )
    crowded = len({row.concept for row in close}) > read_yaml("rules.yaml")["crowd"]
    fading = read_yaml("rules.yaml")["confidence"]["level"]
    for row in stated:
        is_close = row.predicate == "skos:closeMatch"
        doubtful = is_close and row.confidence < curated
        if row.predicate not in STEP or (doubtful and row not in close):
            continue
        vague = doubtful and (crowded or _is_far_fetched(place, row.concept, index))
        levels = max(least, depth + STEP[row.predicate] + (1 if vague else 0))
        yield Link(
            code=code,
            levels=levels,
            concept=row.concept,
            method="tree" if place != code else "xref" if is_close else "sssom",
            predicate=_predicate(levels, is_close=is_close and place == code),
            confidence=row.confidence * fading**levels,
            source=row.source,
            explanation=_explain(code, place, row, max(least, depth), index),
        )


def _is_far_fetched(place: str, concept: str, index: Index) -> bool:
    """Whether a residual code and a concept that refers to it have no telling word in common."""
    title = index.names.get(place, "")
    return is_residual(title) and not share_a_word(title, index.names.get(concept, ""))


def _predicate(levels: int, *, is_close: bool) -> str:
    if is_close:
        return "skos:closeMatch"
    return "skos:exactMatch" if levels == 0 else "skos:broadMatch"


def _widest(rows: list[Reference], index: Index) -> list[Reference]:
    """Of concepts that refer to one code, those that are no kind of another of them."""
    concepts = {row.concept for row in rows}
    return [row for row in rows if not _superclasses(row.concept, index) & concepts]


def _superclasses(concept: str, index: Index) -> set[str]:
    found: set[str] = set()
    front = [concept]
    while front:
        for above in index.above.get(front.pop(), ()):
            if above not in found and above != concept:
                found.add(above)
                front.append(above)
    return found


def _explain(code: str, place: str, row: Reference, depth: int, index: Index) -> str:
    name = index.names.get(row.concept) or row.concept
    relation = {
        "skos:exactMatch": "is the same as",
        "skos:narrowMatch": "is wider than",
        "skos:closeMatch": "is cross-referenced to",
    }[row.predicate]
    text = f"{name} {relation} {place} ({row.source})"
    if place == code:
        return text
    if depth == 0:
        return f"{text}, of which {code} is the unspecified form"
    return f"{text}, {depth} level{'s' if depth > 1 else ''} above {code}"
