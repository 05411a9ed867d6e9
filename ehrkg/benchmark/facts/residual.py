"""The rules on answers as data, and which codes hold what is left over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ehrkg.benchmark.facts.codes import CodeFacts
from ehrkg.benchmark.rules import rule_table

REMEMBERED = 1 << 17
"""How many codes' answers to one question are kept."""


def rule_data() -> Mapping[str, Any]:
    """The rules of answer_rules.yaml."""
    return rule_table("answer_rules")


def name_fits(facts: CodeFacts, patterns: str) -> bool:
    """Whether the code system's own name fits one of the patterns of a list in the rules."""
    return any(re.search(pattern, facts.name, re.IGNORECASE) for pattern in rule_data()[patterns])


@lru_cache(maxsize=REMEMBERED)
def is_residual(facts: CodeFacts) -> bool:
    """Whether the code system's own name says that the code holds what is left over."""
    return name_fits(facts, "residual")
