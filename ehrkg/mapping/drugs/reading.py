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
    """An ingredient, or a brand that stands for several.

    Attributes:
        phrase: the words read.
        hit: what they name.
        product: the product that holds it, where the string names only that.
    """

    phrase: str
    hit: Hit
    product: str = ""


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

    >>> from ehrkg.mapping.drugs.lexicon import build
    >>> from ehrkg.mapping.index import Label
    >>> names = build([Label(0, "DRUGBANK:DB00695", "furosemide", "", "infores:drugbank")])
    >>> read_drug("Furosemide 20mg Tab", names).concepts
    ('DRUGBANK:DB00695',)
    """
    spoken = words(text, lexicon.names)
    found = _in_the_brands_form(_search(spoken, lexicon), spoken, lexicon)
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
            return _said_in_brackets(found, inside, lexicon)
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
            hit = lexicon.exact(text) or _unqualified(spoken, at, length, lexicon)
            salted = any(marks[at : at + length])
            if strict and salted and not spoken[at].product and hit and hit.label.rank > 0:
                continue
            if hit is not None:
                hit = _told_by_salt(text, hit, spoken, marks, at + length, lexicon)
                found.setdefault(text, Found(text, hit, spoken[at].product))
                taken = length
                break
        at += taken
    return list(found.values())


def _told_by_salt(
    text: str,
    hit: Hit,
    spoken: Sequence[Word],
    marks: Sequence[bool],
    after: int,
    lexicon: Lexicon,
) -> Hit:
    """Of several drugs of one name, that which is also known by the name with its salt."""
    stop = after
    while stop < len(spoken) and marks[stop]:
        stop += 1
    if len(hit.concepts) == 1 or stop == after:
        return hit
    salted = lexicon.exact(" ".join([text, *(word.text for word in spoken[after:stop])]))
    return salted if salted and set(salted.concepts) < set(hit.concepts) else hit


def _unqualified(spoken: Sequence[Word], at: int, length: int, lexicon: Lexicon) -> Hit | None:
    """What a genus means where it stands alone between separators, beside other ingredients."""
    stop = at + length
    alone = spoken[at].begins and (stop == len(spoken) or spoken[stop].begins)
    if not alone or stop - at == len(spoken):
        return None
    return lexicon.unqualified(" ".join(word.text for word in spoken[at:stop]))


def _in_the_brands_form(
    found: list[Found], spoken: Sequence[Word], lexicon: Lexicon
) -> list[Found]:
    """Ingredients in the form of the brand in brackets: "Emtricitabine-Tenofovir (Truvada)"."""
    inside = [replace(word, aside=False) for word in spoken if word.aside and word.product]
    forms = _scan(inside, salts_in(inside), lexicon, strict=False) if inside else []
    return [
        next((form for form in forms if form.phrase.startswith(f"{item.phrase} ")), item)
        for item in found
    ]


def _said_in_brackets(found: list[Found], inside: Sequence[Word], lexicon: Lexicon) -> list[Found]:
    """Of a brand with an ingredient in brackets, the ingredient: "Cepacol (Menthol)"."""
    if not inside or any(not (item.product or item.hit.label.scope == "brand") for item in found):
        return found
    named = _scan(inside, salts_in(list(inside)), lexicon, strict=True)
    plain = [item for item in named if not item.product and item.hit.label.scope != "brand"]
    return plain or found


def _singly(spoken: Sequence[Word], look: Callable[[str], Hit | None]) -> list[Found]:
    found: dict[str, Found] = {}
    for word in spoken:
        hit = None if word.text in _never_alone() else look(word.text)
        if hit is not None:
            found.setdefault(word.text, Found(word.text, hit))
    return list(found.values())
