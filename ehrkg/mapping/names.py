"""Names made comparable: spelling, plural, order of words, and what billing adds to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import yaml

Key = frozenset[str]
"""A name as the set of its words, in one spelling."""

_BRITISH = (("ae", "e"), ("oe", "e"), ("our", "or"), ("isation", "ization"), ("ysis", "ysis"))


@cache
def read_yaml(name: str) -> Any:
    """A rule file of this package."""
    return yaml.safe_load(files("ehrkg.mapping").joinpath(name).read_text(encoding="utf-8"))


@cache
def _pattern(group: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in read_yaml("labels.yaml")[group]))


@cache
def _alike() -> tuple[re.Pattern[str], dict[str, str]]:
    """One pattern for all phrases that say the same, longer ones first, and what each becomes."""
    pairs = {str(words): str(other) for words, other in read_yaml("labels.yaml")["alike"].items()}
    ordered = sorted(pairs, key=lambda words: (-len(words.split()), words))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, ordered))})\b"), pairs


@cache
def _stop() -> frozenset[str]:
    return frozenset(read_yaml("labels.yaml")["stop"])


@lru_cache(maxsize=1 << 17)
def key(text: str) -> Key:
    """The words of a name as a set: lower case, American spelling, singular, stop words gone.

    >>> key("Diseases of the oesophagus") == key("esophagus disease")
    True
    >>> key("Malignant neoplasm of breast") == key("breast cancer")
    True
    """
    plain = re.sub(r"[^a-z0-9+.%]+", " ", text.lower().replace("'s", " ")).strip()
    plain = " ".join(spelling(word.strip(".")) for word in plain.split())
    pattern, pairs = _alike()
    plain = pattern.sub(lambda found: pairs[found.group()], plain)
    return frozenset(word for word in plain.split() if word not in _stop())


@cache
def spelling(word: str) -> str:
    """A lower-case word in American spelling, singular.

    >>> spelling("anaemias"), spelling("oedema")
    ('anemia', 'edema')
    """
    for british, american in _BRITISH:
        word = word.replace(british, american)
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=1 << 17)
def same_names(text: str) -> tuple[Key, ...]:
    """The keys under which a code's name says exactly what it says.

    Brackets hold words that may be there or not ("Essential (primary) hypertension").

    >>> key("heart failure") in same_names("Heart failure, unspecified")
    True
    """
    return _distinct(
        [key(_without(variant, "same_without")) for variant in _bracketed(text.lower())]
    )


@lru_cache(maxsize=1 << 17)
def wider_names(text: str) -> tuple[Key, ...]:
    """The keys of what a code is a kind of, once its billing qualifiers are dropped.

    >>> key("asthma") in wider_names("Unspecified asthma, uncomplicated")
    True
    """
    found = []
    for variant in _bracketed(text.lower()):
        bare = _without(_without(variant, "kind_of_what_remains"), "same_without")
        found.append(key(_without(bare, "kind_of_what_remains")))
    same = set(same_names(text))
    return tuple(words for words in _distinct(found) if words not in same)


def is_unspecified(text: str) -> bool:
    """Whether a code's name says that nothing more is said.

    >>> is_unspecified("Heart failure, unspecified"), is_unspecified("Cardiomegaly")
    (True, False)
    """
    return bool(re.search(r"\b(un|not otherwise )specified\b|\bnos\b", text.lower()))


def is_residual(text: str) -> bool:
    """Whether a code's name says that it holds what its siblings do not.

    >>> is_residual("Other specified diseases of anus and rectum"), is_residual("Cardiomegaly")
    (True, False)
    """
    return is_unspecified(text) or bool(
        re.search(r"\bother\b|elsewhere classified|\bnec\b", text.lower())
    )


def share_a_word(one: str, other: str) -> bool:
    """Whether two names have a word in common that tells something.

    >>> share_a_word("Dry eye syndrome", "Other disorders of eye"), share_a_word("a b", "c")
    (True, False)
    """
    return bool((key(one) & key(other)) - set(read_yaml("rules.yaml")["telling_nothing"]))


def _bracketed(text: str) -> tuple[str, ...]:
    if "(" not in text and "[" not in text:
        return (text,)
    without = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", text)
    return (without, re.sub(r"[()\[\]]", " ", text))


def _without(text: str, group: str) -> str:
    """The text without a group's phrases, until none is left: taking one off may bare another."""
    shorter = " ".join(_pattern(group).sub(" ", text).split())
    return shorter if shorter == text else _without(shorter, group)


def _distinct(found: Sequence[Key]) -> tuple[Key, ...]:
    return tuple(dict.fromkeys(words for words in found if words))
