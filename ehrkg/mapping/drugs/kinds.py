"""What kind of thing a prescription string orders (kinds.yaml)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from ehrkg.mapping.drugs.text import clean
from ehrkg.mapping.names import read_yaml

DEFAULT = "drug"
"""Most strings that no rule names are drugs the knowledge lacks."""


@dataclass(frozen=True)
class _Rule:
    kind: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    without: bool
    only: frozenset[str]


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            row["kind"],
            re.compile(row["pattern"]),
            re.compile(row["unless"]) if "unless" in row else None,
            bool(row.get("without", False)),
            frozenset(row.get("only", ())),
        )
        for row in read_yaml("drugs/kinds.yaml")
    )


def kind_of(text: str, phrases: Collection[str]) -> str:
    """The kind of a prescription string: the first rule that fits.

    Args:
        text: the string as the hospital writes it.
        phrases: the words that were read as ingredients; empty where none was.

    >>> kind_of("Furosemide", ["furosemide"]), kind_of("Potassium Chloride", ["potassium chloride"])
    ('drug', 'nutrient')
    >>> kind_of("0.9% Sodium Chloride (Mini Bag Plus)", ["sodium chloride"]), kind_of("Bag", [])
    ('fluid', 'device_or_supply')
    """
    plain = clean(text)
    for rule in _rules():
        if rule.without and phrases:
            continue
        if rule.only and not set(phrases) <= rule.only:
            continue
        if rule.pattern.search(plain) and not (rule.unless and rule.unless.search(plain)):
            return rule.kind
    return DEFAULT


@cache
def _vehicles() -> tuple[frozenset[str], re.Pattern[str]]:
    rule = read_yaml("rules.yaml")["vehicles"]
    return frozenset(rule["kinds"]), re.compile(rule["pattern"])


def is_vehicle(text: str, kind: str) -> bool:
    """Whether a string orders what carries a drug, or keeps a line or a machine open.

    Args:
        text: the string as the hospital writes it.
        kind: what ``kind_of`` says of it.

    >>> is_vehicle("Heparin Flush (10 units/ml)", "drug"), is_vehicle("Heparin Sodium", "drug")
    (True, False)
    """
    kinds, words = _vehicles()
    return kind in kinds or bool(words.search(clean(text)))
