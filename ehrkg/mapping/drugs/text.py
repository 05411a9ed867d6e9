"""A drug string taken apart: what is noise, what may name an ingredient."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from ehrkg.mapping.names import read_yaml

_TOKEN = re.compile(r"[a-z][a-z0-9']*|[^a-z0-9\s]")
_BREAKS = frozenset("/-&+,;")


@dataclass(frozen=True)
class Word:
    """A word of a drug string.

    Attributes:
        text: lower case, abbreviations written out.
        aside: whether it stands in brackets.
        begins: whether a separator or bracket stands before it.
    """

    text: str
    aside: bool
    begins: bool


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


def clean(text: str) -> str:
    """The string in lower case without the hospital's marks.

    >>> clean("*NF* Ertapenem"), clean("NEO*IV*Gentamicin"), clean("SulfaSALAzine_")
    ('ertapenem', 'gentamicin', 'sulfasalazine')
    """
    plain = text.lower()
    for pattern in _patterns("marks"):
        plain = pattern.sub(" ", plain)
    return " ".join(plain.split())


def words(text: str) -> list[Word]:
    """The words that may name an ingredient, strengths and noise taken out.

    >>> [word.text for word in words("Oxycodone-Acetaminophen (5mg-325mg)")]
    ['oxycodone', 'acetaminophen']
    >>> [word.text for word in words("HYDROmorphone (Dilaudid) 0.125 mg IV Q4H")][:2]
    ['hydromorphone', 'dilaudid']
    """
    plain = clean(text)
    for pattern in _patterns("asides"):
        shorter = pattern.sub(" ", plain).strip(" -(")
        plain = shorter if re.search(r"[a-z]{4}", shorter) else plain
    for pattern, replacement in _phrases():
        plain = pattern.sub(replacement, plain)
    for pattern in _patterns("strengths"):
        plain = pattern.sub(" ", plain)
    return _split(plain)


def _split(plain: str) -> list[Word]:
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
