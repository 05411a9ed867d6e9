"""Links by name: what a code is called is what a concept is called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ehrkg.mapping.crossref import depths
from ehrkg.mapping.index import Index, Label
from ehrkg.mapping.links import Link
from ehrkg.mapping.names import Key, key, read_yaml, same_names, wider_names


def by_name(found: Iterable[Label]) -> dict[Key, tuple[Label, ...]]:
    """Labels by their words; for each name the concepts that own it, before those that share it."""
    grouped: dict[Key, list[Label]] = {}
    for label in found:
        words = key(label.text)
        if words:
            grouped.setdefault(words, []).append(label)
    return {
        words: tuple(sorted(label for label in rows if label.rank == min(r.rank for r in rows)))
        for words, rows in grouped.items()
    }


def find(code: str, name: str, index: Index, names: Mapping[Key, tuple[Label, ...]]) -> list[Link]:
    """Links of a code by its own name and the names of what stands above it.

    A name that says the same is at its own level; one that fits after billing qualifiers are
    dropped (laterality, encounter, "other specified") is one level farther.

    Inclusion terms with "NOS" count as names of the code, but not of an "other ..." code, which
    gathers many.

    Args:
        code: a Code id.
        name: its name, used where the code tables have none.
        index: of the knowledge.
        names: of the concepts that fit the code's kind (``by_name``).
    """
    found: list[Link] = []
    for place, depth, least in depths(code, index):
        title = index.names.get(place, "") or (name if place == code else "")
        ways = [(0, title, words) for words in same_names(title)]
        terms = () if "other" in title.lower() else index.terms.get(place, ())
        ways += [(0, term, words) for term in terms for words in same_names(term)]
        ways += [(1, title, words) for words in wider_names(title)]
        for farther, said, words in ways:
            found += [
                _link(code, place, said, label, max(depth, least), farther)
                for label in names.get(words, ())
                if index.linkable(label.concept)
            ]
    return found


def _link(code: str, place: str, said: str, label: Label, depth: int, farther: int) -> Link:
    weights = read_yaml("rules.yaml")["confidence"]
    method = "label" if label.rank == 0 else "synonym"
    confidence = weights[method] * weights["level"] ** depth
    levels = depth + farther
    return Link(
        code=code,
        levels=levels,
        concept=label.concept,
        method=method,
        predicate="skos:exactMatch" if levels == 0 else "skos:broadMatch",
        confidence=confidence * (weights["loose"] if farther else 1.0),
        source=label.source,
        explanation=f"the name of {place}, {said!r}, reads as {label.text!r}",
    )
