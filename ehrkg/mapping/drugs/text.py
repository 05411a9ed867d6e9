"""A drug string taken apart: what is noise, what may name an ingredient."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ehrkg.mapping.names import read_yaml

_TOKEN = re.compile(r"\x02[^\x03]*\x03|[a-z][a-z0-9']*|[^a-z0-9\s]")
_PRODUCT = "\x02{}\x03"
"""Holds the place of a product in a string that is taken apart; no table has these characters."""
_BREAKS = frozenset("/-&+,;")


@dataclass(frozen=True)
class Word:
    """A word of a drug string.

    Attributes:
        text: lower case, abbreviations written out.
        aside: whether it stands in brackets.
        begins: whether a separator or bracket stands before it.
        product: the product of mixtures.yaml whose ingredient it names, "" where it was written.
    """

    text: str
    aside: bool
    begins: bool
    product: str = ""


@cache
def rules() -> dict[str, Any]:
    """words.yaml."""
    loaded: dict[str, Any] = read_yaml("drugs/words.yaml")
    return loaded


@cache
def word_set(name: str) -> frozenset[str]:
    """A list of words.yaml as a set."""
    return frozenset(str(word) for word in rules()[name])


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in rules()[name])


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), words) for pattern, words in rules()["phrases"].items())


@cache
def _mixtures() -> tuple[re.Pattern[str], dict[str, list[str | list[str]]]]:
    """One pattern for the products of mixtures.yaml, longer names first, and what each holds.

    A name that begins with a cation is a product only where an ingredient may begin: "dexamethasone
    sodium phosphate" holds no sodium phosphate.
    """
    table: dict[str, list[str | list[str]]] = read_yaml("drugs/mixtures.yaml")
    ordered = sorted(table, key=lambda name: (-len(name), name))
    spelt = [r"[\s-]+".join(map(re.escape, name.split())) for name in ordered]
    cations = "|".join(sorted(word_set("cations")))
    barred = rf"(?:(?<=[a-z0-9] )|(?<=[a-z0-9]))(?:{cations})\b"
    return re.compile(rf"(?!{barred})\b(?:{'|'.join(spelt)})\b"), table


def clean(text: str) -> str:
    """The string in lower case without the hospital's marks.

    >>> clean("*NF* Ertapenem"), clean("NEO*IV*Gentamicin"), clean("SulfaSALAzine_")
    ('ertapenem', 'gentamicin', 'sulfasalazine')
    """
    plain = text.lower()
    for pattern in _patterns("marks"):
        plain = pattern.sub(" ", plain)
    return " ".join(plain.split())


def words(text: str, known: Container[str] = ()) -> list[Word]:
    """The words that may name an ingredient, strengths and noise taken out.

    Args:
        text: the string as the hospital writes it.
        known: names of drugs, by which one of several names of a product's ingredient is chosen.

    >>> [word.text for word in words("Oxycodone-Acetaminophen (5mg-325mg)")]
    ['oxycodone', 'acetaminophen']
    >>> [word.text for word in words("HYDROmorphone (Dilaudid) 0.125 mg IV Q4H")][:2]
    ['hydromorphone', 'dilaudid']
    >>> [word.text for word in words("Percocet 5-325")]
    ['oxycodone', 'acetaminophen']
    """
    plain = clean(text)
    for pattern in _patterns("asides"):
        shorter = pattern.sub(" ", plain).strip(" -(")
        plain = shorter if re.search(r"[a-z]{4}", shorter) else plain
    for pattern, replacement in _phrases():
        plain = pattern.sub(replacement, plain)
    for pattern in _patterns("strengths"):
        plain = pattern.sub(" ", plain)
    products, table = _mixtures()
    marked = products.sub(lambda found: _PRODUCT.format(found.group()), " ".join(plain.split()))
    return _split(marked, table, known)


def _ingredients(
    holds: list[str | list[str]], known: Container[str], *, aside: bool, product: str
) -> Iterator[Word]:
    """The words of a product's ingredients, each of which begins a name."""
    for names in holds:
        several = [names] if isinstance(names, str) else names
        name = next((each for each in several if each in known), several[0])
        for at, word in enumerate(name.split()):
            yield Word(word, aside, at == 0, product)


def _split(
    plain: str, products: dict[str, list[str | list[str]]], known: Container[str]
) -> list[Word]:
    found: list[Word] = []
    depth, begins = 0, True
    short, noise = rules()["words"], word_set("noise")
    for piece in _TOKEN.findall(plain):
        if piece in "([":
            depth, begins = depth + 1, True
        elif piece in ")]":
            depth, begins = max(depth - 1, 0), True
        elif piece in _BREAKS:
            begins = True
        elif piece[0] == _PRODUCT[0]:
            name = " ".join(re.split(r"[\s-]+", piece[1:-1]))
            found += _ingredients(products[name], known, aside=depth > 0, product=name)
            begins = True
        elif piece[0].isalpha():
            word = str(short.get(piece, piece))
            if word in noise and not _names_letter(word, found):
                continue
            if len(word) > 1 or _names_letter(word, found):
                found.append(Word(word, depth > 0, begins))
                begins = False
    return found


def _names_letter(word: str, before: list[Word]) -> bool:
    """Letters and numbers that belong to a name: vitamin K, polymyxin B, vitamin D3."""
    return (
        len(word) <= 2
        and bool(before)
        and before[-1].text
        in (
            "vitamin",
            "polymyxin",
            "amphotericin",
            "botulinum",
            "hepatitis",
            "coenzyme",
            "omega",
            "penicillin",
            "factor",
            "type",
        )
    )


def salts_in(found: list[Word]) -> list[bool]:
    """Which words are but the salt of the drug before them.

    A cation at the head of a name keeps its salt: that is the drug.

    >>> salts_in(words("Metoprolol Succinate XL")), salts_in(words("Potassium Chloride"))
    ([False, True], [False, False])
    """
    cations, salts = word_set("cations"), word_set("salts")
    marks: list[bool] = []
    headed = False
    for word in found:
        if word.begins or not marks:
            headed = word.text in cations
            marks.append(False)
        else:
            marks.append(word.text in salts and not headed)
    return marks
