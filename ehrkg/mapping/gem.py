"""Links by way of the other ICD version: what the code's equivalents are linked to."""

from __future__ import annotations

from collections.abc import Callable

from ehrkg.mapping.index import Index, Reference
from ehrkg.mapping.links import Link, best
from ehrkg.mapping.names import read_yaml

Reach = Callable[[str], list[Link]]
"""Gives all links of a code of the other version, by its own mappings and names."""


def find(code: str, index: Index, reach: Reach) -> list[Link]:
    """The links of a code's GEM equivalents.

    A concept that all equivalents share is one level farther than in the worst of them, or as far
    where the GEM is exact and one to one. Of a combination each part counts alone. Where the
    equivalents share nothing, each one's links stay, two levels farther: the code may be wider.
    """
    rows = index.gems.get(code, ())
    weights = read_yaml("rules.yaml")["confidence"]
    parts = [row for row in rows if row.predicate == "skos:broadMatch"]
    whole = [row for row in rows if row.predicate != "skos:broadMatch"]
    found = [
        _carried(code, row, link, 1, weights["gem_combination"])
        for row in parts
        for link in best(reach(row.concept))
    ]
    if not whole:
        return found
    reached = [(row, _by_concept(reach(row.concept))) for row in whole]
    shared = set.intersection(*(set(links) for _, links in reached))
    exact = len(whole) == 1 and whole[0].predicate == "skos:exactMatch"
    weight = 1.0 if exact else weights["gem_approximate"]
    for concept in sorted(shared):
        row, links = max(reached, key=lambda pair: (pair[1][concept].levels, pair[0]))
        found.append(_carried(code, row, links[concept], 0 if exact else 1, weight))
    if not shared:
        for row in whole:
            found += [_carried(code, row, link, 2, weight) for link in best(reach(row.concept))]
    return found


def _by_concept(links: list[Link]) -> dict[str, Link]:
    """For each concept a code reaches, the nearest link."""
    found: dict[str, Link] = {}
    for link in sorted(links):
        found.setdefault(link.concept, link)
    return found


def _carried(code: str, row: Reference, link: Link, farther: int, weight: float) -> Link:
    levels = link.levels + farther
    relation = {
        "skos:exactMatch": "is",
        "skos:closeMatch": "is approximately",
        "skos:broadMatch": "is, in part,",
    }.get(row.predicate, "is related to")
    return Link(
        code=code,
        levels=levels,
        concept=link.concept,
        method="gem",
        predicate="skos:exactMatch" if levels == 0 else "skos:broadMatch",
        confidence=link.confidence * weight,
        source=f"{row.source}|{link.source}",
        explanation=f"{code} {relation} {row.concept} by GEM; {link.explanation}",
    )
