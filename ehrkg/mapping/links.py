"""A link from a code to a concept, and how the best of several are chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Link:
    """One row of LINKS.

    Attributes:
        code: a Code id.
        levels: how many levels up the code's tree it was found; 0 says the same thing.
        concept: a CURIE.
        method: xref, sssom, tree, gem, label, synonym, ingredient, unqualified, prefix or
            fuzzy.
        predicate: skos:exactMatch, closeMatch or broadMatch, said of the concept.
        confidence: 0 to 1.
        source: what it rests on.
        explanation: one line a person can follow.
    """

    code: str
    levels: int
    concept: str
    method: str
    predicate: str
    confidence: float
    source: str
    explanation: str

    def row(self) -> tuple[object, ...]:
        """The values in LINKS's column order."""
        return (
            self.code,
            self.concept,
            self.predicate,
            self.method,
            self.levels,
            round(self.confidence, 4),
            self.source,
            self.explanation,
        )


def best(links: Iterable[Link]) -> list[Link]:
    """The links at the lowest level, one a concept: the most confident, then by the alphabet.

    >>> near = Link("c", 1, "X:1", "xref", "skos:broadMatch", 0.9, "s", "")
    >>> far = Link("c", 2, "X:2", "xref", "skos:broadMatch", 0.9, "s", "")
    >>> [link.concept for link in best([far, near])]
    ['X:1']
    """
    found = list(links)
    if not found:
        return []
    lowest = min(link.levels for link in found)
    chosen: dict[str, Link] = {}
    for link in sorted(
        (link for link in found if link.levels == lowest), key=lambda link: (-link.confidence, link)
    ):
        chosen.setdefault(link.concept, link)
    return sorted(chosen.values())
