"""Instantiate: verified relations at real visits become templates, and templates questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from ehrkg.benchmark.benchmark import Benchmark
    from ehrkg.benchmark.check_again import Facts
    from ehrkg.benchmark.checks import CheckReport, CheckRow, check
    from ehrkg.benchmark.cohort import Cohort
    from ehrkg.benchmark.cuts import Split
    from ehrkg.benchmark.differences import Difference
    from ehrkg.benchmark.distractors import STRATEGIES, Strategy
    from ehrkg.benchmark.examples import example
    from ehrkg.benchmark.hiding import TrueShare, hidden_edges
    from ehrkg.benchmark.items import (
        DEFAULT_FORMATS,
        FORMATS,
        Made,
        make_questions,
        write_questions,
    )
    from ehrkg.benchmark.pools import POOL
    from ehrkg.benchmark.recipes import Recipe
    from ehrkg.benchmark.schema import ITEMS, TEMPLATES
    from ehrkg.benchmark.templates import make_templates

_HOMES = {
    "Benchmark": "benchmark",
    "CheckReport": "checks",
    "CheckRow": "checks",
    "Cohort": "cohort",
    "DEFAULT_FORMATS": "items",
    "Difference": "differences",
    "FORMATS": "items",
    "Facts": "check_again",
    "ITEMS": "schema",
    "Made": "items",
    "POOL": "pools",
    "STRATEGIES": "distractors",
    "Recipe": "recipes",
    "Split": "cuts",
    "Strategy": "distractors",
    "TEMPLATES": "schema",
    "TrueShare": "hiding",
    "check": "checks",
    "example": "examples",
    "hidden_edges": "hiding",
    "make_questions": "items",
    "make_templates": "templates",
    "write_questions": "items",
}

__all__ = [
    "DEFAULT_FORMATS",
    "FORMATS",
    "ITEMS",
    "POOL",
    "STRATEGIES",
    "TEMPLATES",
    "Benchmark",
    "CheckReport",
    "CheckRow",
    "Cohort",
    "Difference",
    "Facts",
    "Made",
    "Recipe",
    "Split",
    "Strategy",
    "TrueShare",
    "check",
    "example",
    "hidden_edges",
    "make_questions",
    "make_templates",
    "write_questions",
]

__getattr__ = lazy_names(__name__, _HOMES)
