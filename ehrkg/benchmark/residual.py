"""The rules on answers as data, and which codes hold what is left over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml

from ehrkg.benchmark.cohort_codes import CodeFacts

REMEMBERED = 1 << 17
"""How many codes' answers to one question are kept."""


@cache
def rule_data() -> Mapping[str, Any]:
    """answer_rules.yaml, read once."""
    text = Path(__file__).with_name("answer_rules.yaml").read_text(encoding="utf-8")
    data: Mapping[str, Any] = yaml.safe_load(text)
    return data


def name_fits(facts: CodeFacts, patterns: str) -> bool:
    """Whether the code system's own name fits one of the patterns of a list in the rules."""
    return any(re.search(pattern, facts.name, re.IGNORECASE) for pattern in rule_data()[patterns])


@lru_cache(maxsize=REMEMBERED)
def is_residual(facts: CodeFacts) -> bool:
    """Whether the code system's own name says that the code holds what is left over."""
    return name_fits(facts, "residual")
