"""What sort of code a code is: a disease, a symptom, a status, residual, a standing order.

The lists are rows of ``answer_rules.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ehrkg.benchmark.facts.codes import CodeFacts
from ehrkg.benchmark.facts.names import display
from ehrkg.benchmark.facts.residual import REMEMBERED, is_residual, name_fits, rule_data

__all__ = [
    "DISEASE",
    "REMEMBERED",
    "CodeRange",
    "class_of",
    "code_class",
    "in_ranges",
    "is_answerable",
    "is_care",
    "is_residual",
    "is_unaskable",
    "rule_data",
    "standing_kind",
    "states_cause",
]

DISEASE = "disease"


@dataclass(frozen=True)
class CodeRange:
    """A row of codes of one system: "R", "T36-T50", "V58.6".

    >>> CodeRange("780-799").holds("786.50"), CodeRange("V58.6").holds("V58.61")
    (True, True)
    >>> CodeRange("E930-E949").holds("E879.8"), CodeRange("V-Y").holds("W19.XXXA")
    (False, True)
    """

    text: str

    def holds(self, code: str) -> bool:
        """Whether a code (without its system) lies in the range, ends included."""
        first, dash, last = self.text.partition("-")
        if not dash:
            return code.startswith(first)
        return first <= code[: len(first)] and code[: len(last)] <= last


def in_ranges(code: str, ranges: Mapping[str, Any]) -> bool:
    """Whether a code id ("ICD10CM:I50.9") lies in one of the ranges listed for its system."""
    system, _, plain = code.partition(":")
    return any(CodeRange(str(text)).holds(plain) for text in ranges.get(system, ()))


@lru_cache(maxsize=REMEMBERED)
def class_of(code: str) -> str:
    """The class of a diagnosis code, by its id: "disease" unless a row of ``classes`` claims it.

    >>> class_of("ICD10CM:I50.9"), class_of("ICD10CM:R05.1"), class_of("ICD9CM:V58.61")
    ('disease', 'symptom', 'long_term_drug')
    """
    for row in rule_data()["classes"]:
        if in_ranges(code, row):
            return str(row["class"])
    return DISEASE


def code_class(facts: CodeFacts) -> str:
    """The class of a diagnosis code; see ``class_of``."""
    return class_of(facts.id)


@lru_cache(maxsize=REMEMBERED)
def is_unaskable(facts: CodeFacts) -> bool:
    """Whether the code's display name cannot stand as an option, for being cut short."""
    return any(re.search(pattern, display(facts)) for pattern in rule_data()["unaskable"])


@lru_cache(maxsize=REMEMBERED)
def is_care(facts: CodeFacts) -> bool:
    """Whether the code is about care itself: a complication of a procedure, an adverse effect."""
    return code_class(facts) in rule_data()["care"] or name_fits(facts, "care_names")


@lru_cache(maxsize=REMEMBERED)
def states_cause(facts: CodeFacts) -> bool:
    """Whether the code's name says what the disease came from."""
    return name_fits(facts, "states_cause")


def is_answerable(facts: CodeFacts) -> bool:
    """Whether a diagnosis code may be an answer or a distractor of diagnosis and prognosis.

    True for diseases under a name of their own; false for symptoms, status, history, screening,
    external causes, administrative and residual codes, and for care itself.
    """
    return (
        code_class(facts) in rule_data()["answerable"]
        and not is_care(facts)
        and not is_residual(facts)
        and not is_unaskable(facts)
    )


@lru_cache(maxsize=REMEMBERED)
def standing_kind(facts: CodeFacts, route: str) -> str:
    """The sort of standing order that a drug by a route is, "" if the table holds none.

    Every ingredient must be in the row; "aspirin and oxycodone" is no pain relief as needed.
    """
    parts = {part.lower() for part in facts.ingredients}
    for row in rule_data()["standing"]:
        routes, ingredients = row.get("routes"), row.get("ingredients")
        fits_route = routes is None or route in routes
        fits_drug = ingredients is None or (bool(parts) and parts <= set(ingredients))
        if fits_route and fits_drug:
            return str(row["kind"])
    return ""
