"""Names as people write them: typing errors, plurals, British spelling, abbreviations."""

from __future__ import annotations

from collections.abc import Callable

from figures import share, show
from world import World, luck

NUMBER = 300
BRITISH = (
    ("anemia", "anaemia"),
    ("leukemia", "leukaemia"),
    ("hemorrhag", "haemorrhag"),
    ("hemophil", "haemophil"),
    ("hemolytic", "haemolytic"),
    ("edema", "oedema"),
    ("tumor", "tumour"),
    ("esophag", "oesophag"),
    ("diarrhea", "diarrhoea"),
    ("calcemia", "calcaemia"),
    ("kalemia", "kalaemia"),
    ("glycemia", "glycaemia"),
    ("lipidemia", "lipidaemia"),
)


def typo(name: str) -> str:
    """Two neighbouring letters of the longest word swapped, the place by hash."""
    word = max(name.split(), key=len)
    if len(word) < 6:
        return name
    at = 2 + int(luck("typo", name) * (len(word) - 4))
    return name.replace(word, word[:at] + word[at + 1] + word[at] + word[at + 2 :], 1)


def plural(name: str) -> str:
    """An s at the end."""
    return name if name.endswith("s") else f"{name}s"


def british(name: str) -> str:
    """The first spelling that differs, the other way."""
    for american, other in BRITISH:
        if other in name:
            return name.replace(other, american)
        if american in name:
            return name.replace(american, other)
    return name


def report(world: World) -> None:
    """Print how many of the changed names still find the concept of the plain one."""
    concepts = world.shipped.concepts
    chosen = sorted(
        (
            (luck("noise", concept), name)
            for concept, name, kind in zip(
                *(concepts[column].to_pylist() for column in ("id", "name", "kind")), strict=True
            )
            if name and kind == "disease"
        )
    )
    names = [name for _, name in chosen]
    synonyms = world.shipped.synonyms
    short = [
        (text, concept)
        for text, concept, scope in zip(
            *(synonyms[c].to_pylist() for c in ("text", "concept", "scope")), strict=True
        )
        if scope == "abbreviation"
    ]
    rows = []
    changes: dict[str, Callable[[str], str]] = {
        "typing error": typo,
        "plural": plural,
        "the other spelling": british,
    }
    for title, change in changes.items():
        some = [name for name in names if change(name) != name][:NUMBER]
        plain, changed = (world.concepts(texts) for texts in (some, map(change, some)))
        hits = sum(changed.get(change(name)) == plain.get(name) for name in some)
        wrong = sum(changed.get(change(name), plain.get(name)) != plain.get(name) for name in some)
        rows.append((title, share(hits, len(some)), share(wrong, len(some))))
    found = world.concepts(text for text, _ in short)
    hits = sum(found.get(text) == concept for text, concept in short)
    wrong = sum(found.get(text, concept) != concept for text, concept in short)
    rows.append(("abbreviation", share(hits, len(short)), share(wrong, len(short))))
    show("Names of conditions as people write them", ("", "same concept", "another"), rows)
