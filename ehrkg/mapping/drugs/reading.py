"""From a prescription string to the ingredients it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ehrkg.mapping.drugs.kinds import is_vehicle, kind_of
from ehrkg.mapping.drugs.lexicon import Hit, Lexicon
from ehrkg.mapping.drugs.text import Word, salts_in, word_set, words

CONFIDENCE = {"ingredient": 0.95, "unqualified": 0.75, "prefix": 0.75, "fuzzy": 0.6}
NO_DRUG_IN = frozenset({"device_or_supply"})
"""An insulin syringe is no insulin."""
BRAND, PARTLY_READ = 0.95, 0.85
"""Factors: the name was a brand's; other words of the string were not understood."""


@dataclass(frozen=True)
class Found:
    """An ingredient, or a brand that stands for several: the phrase read and what it names."""

    phrase: str
    hit: Hit


@dataclass(frozen=True)
class Reading:
    """What a drug string says.

    Attributes:
        kind: see kinds.yaml.
        found: phrases read as drugs, in their order.
        unread: words that say something, but not to this knowledge.
        partly: whether one of these stands where an ingredient would.
        vehicle: whether it is ordered to carry a drug or to keep a line or a machine open.
    """

    kind: str
    found: tuple[Found, ...]
    unread: tuple[str, ...]
    partly: bool
    vehicle: bool = False

    @property
    def concepts(self) -> tuple[str, ...]:
        """The ingredients, sorted."""
        return tuple(sorted({concept for item in self.found for concept in item.hit.concepts}))

    def confidence(self, item: Found) -> float:
        """How sure one of the ingredients is."""
        value = CONFIDENCE[item.hit.method]
        value *= BRAND if item.hit.label.scope == "brand" else 1.0
        return round(value * (PARTLY_READ if self.unread else 1.0), 4)


def read_drug(text: str, lexicon: Lexicon) -> Reading:
    """Read a prescription string against the drug names of the knowledge.

    Words outside brackets are read first; those in brackets only where the others name no drug
    (a brand, a second name), or where they finish a name that begins outside ("Insulin (Regular)").
    A name is read without its salt, unless the salt form is a drug's own name; then with it; then
    a truncated name, if only one drug begins so; last a near spelling.
    """
    spoken = words(text)
    found = _search(spoken, lexicon)
    kind = kind_of(text, [item.phrase for item in found])
    used = {word for item in found for word in item.phrase.split()} | _never_alone()
    unread = [
        word for word in spoken if not word.aside and word.text not in used and len(word.text) > 3
    ]
    if kind in NO_DRUG_IN:
        found = []
    return Reading(
        kind,
        tuple(found),
        tuple(word.text for word in unread),
        any(w.begins for w in unread),
        is_vehicle(text, kind),
    )


@cache
def _never_alone() -> frozenset[str]:
    lists = ("never_alone", "salts", "cations", "esters")
    return frozenset().union(*(word_set(name) for name in lists))


def _search(spoken: list[Word], lexicon: Lexicon) -> list[Found]:
    """The first way of reading that finds anything."""
    outside = [word for word in spoken if not word.aside]
    inside = [replace(word, aside=False) for word in spoken if word.aside]
    if not outside and inside:
        return _search(inside, lexicon)
    marks = salts_in(spoken)
    for strict in (True, False):
        found = _scan(spoken, marks, lexicon, strict=strict)
        if found:
            return found
    whole = " ".join(word.text for word in outside)
    meant = lexicon.unqualified(whole)
    if meant:
        return [Found(whole, meant)]
    for look in (lexicon.by_prefix, lexicon.fuzzy):
        found = _singly(outside, look)
        if found:
            return found
    return _search(inside, lexicon) if inside else []


def _scan(
    spoken: Sequence[Word], marks: Sequence[bool], lexicon: Lexicon, *, strict: bool
) -> list[Found]:
    """Longest names first, from the left; each begins outside brackets.

    ``strict``: a name that holds a mere salt counts only where it is a drug's own name, and none
    begins with one ("Dexamethasone Sodium Phosphate" holds no sodium phosphate).
    """
    found: dict[str, Found] = {}
    at = 0
    while at < len(spoken):
        taken = 1
        barred = spoken[at].aside or (strict and marks[at])
        longest = 0 if barred else min(lexicon.longest, len(spoken) - at)
        for length in range(longest, 0, -1):
            text = " ".join(word.text for word in spoken[at : at + length])
            if text in _never_alone() and len(spoken) > 1:
                continue
            hit = lexicon.exact(text)
            salted = any(marks[at : at + length])
            if hit is not None and not (strict and salted and hit.label.rank > 0):
                found.setdefault(text, Found(text, hit))
                taken = length
                break
        at += taken
    return list(found.values())


def _singly(spoken: Sequence[Word], look: Callable[[str], Hit | None]) -> list[Found]:
    found: dict[str, Found] = {}
    for word in spoken:
        hit = None if word.text in _never_alone() else look(word.text)
        if hit is not None:
            found.setdefault(word.text, Found(word.text, hit))
    return list(found.values())
