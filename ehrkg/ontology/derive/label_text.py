"""What a drug label's sentence says of a condition that it names."""

from __future__ import annotations

import re
from functools import cache

from ehrkg.ontology.derive.reading import Row, rules

TREATS = "biolink:treats"
PREVENTS = "biolink:preventative_for_condition"
CONTRAINDICATED = "biolink:contraindicated_in"
DOUBTED = "id chosen by a language model"
"""Provenance of a statement for whose end a language model named the identifier."""

_PREVENTION = re.compile(
    r"^(?:prevention of|prevent|prophylaxis of|prophylaxis for|prophylactic treatment of)\s+(.*)"
    r"|(.*?)\s+(?:prevention|prophylaxis)$",
    re.IGNORECASE,
)
_WINDOW = 160
"""How far before a condition, in characters, a label's words still speak of it."""


def purpose(indication: str) -> tuple[str, str]:
    """Whether an indication's name speaks of prevention, and of what.

    >>> purpose("Migraine Prevention"), purpose("Gout")
    (('biolink:preventative_for_condition', 'Migraine'), ('biolink:treats', 'Gout'))
    """
    match = _PREVENTION.match(indication.strip())
    if match:
        return PREVENTS, match[1] or match[2]
    return TREATS, indication


def several(cell: str) -> bool:
    """Whether a cell of ingredients names more than one.

    >>> several("{'AMLODIPINE BESYLATE; BENAZEPRIL'}"), several("{'POLYTHIAZIDE'}")
    (True, False)
    """
    return any(mark in cell.lower() for mark in (";", " and ", "/", "', '", " with ", ", "))


def doubt(row: Row) -> str:
    """DOUBTED where a language model put an id in place of the name resolver's."""
    columns = ("llm_nameres_correct", "llm_nameres_correct_drug")
    return DOUBTED if any(row[column].strip().upper() != "TRUE" for column in columns) else ""


def before(text: str, named: str) -> str:
    """The part of a label's sentence that leads up to a condition's first mention, lower case."""
    text, named = text.lower(), named.lower()
    place = text.find(named)
    if place < 0:
        return ""
    lead = text[max(0, place - _WINDOW) : place]
    return re.split(r"[.:]\s", lead)[-1]


@cache
def pattern(group: str) -> re.Pattern[str]:
    """The words of a group of rules.yaml, as one pattern."""
    words = "|".join(re.escape(word) for word in rules()["label_words"][group])
    return re.compile(rf"\b(?:{words})\b")


def reading(lead: str) -> str:
    """What a label says of a condition, from the words that lead up to it; "" for a bystander.

    >>> reading("indicated for the treatment of edema associated with "), reading("treatment of ")
    ('', 'biolink:treats')
    >>> reading("to reduce the risk of ")
    'biolink:preventative_for_condition'
    """
    places = {
        group: max((match.end() for match in pattern(group).finditer(lead)), default=-1)
        for group in ("prevention", "treatment", "cause", "absence")
    }
    if places["absence"] >= 0 or places["cause"] > places["treatment"]:
        return ""
    return PREVENTS if places["prevention"] > places["treatment"] else TREATS


def only_at_some_severity(lead: str, named: str) -> bool:
    """Whether a contraindication holds for a severe, or another special, form only."""
    severity = pattern("severity")
    return bool(severity.search(named) or severity.search(lead[-50:]))
