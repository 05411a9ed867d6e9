"""Instantiate: verified relations at real visits become templates, and templates questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from ehrkg.benchmark.checking.again import Facts
    from ehrkg.benchmark.checking.checks import CheckReport, CheckRow, check
    from ehrkg.benchmark.checking.hiding import TrueShare, hidden_edges
    from ehrkg.benchmark.distractors.pools import POOL
    from ehrkg.benchmark.distractors.strategies import STRATEGIES, Strategy
    from ehrkg.benchmark.facts.cohort import Cohort
    from ehrkg.benchmark.opened.benchmark import Benchmark
    from ehrkg.benchmark.opened.cuts import Split
    from ehrkg.benchmark.opened.differences import Difference
    from ehrkg.benchmark.opened.examples import example
    from ehrkg.benchmark.opened.recipes import Recipe
    from ehrkg.benchmark.questions.items import (
        DEFAULT_FORMATS,
        FORMATS,
        Made,
        make_questions,
        write_questions,
    )
    from ehrkg.benchmark.schema import ITEMS, TEMPLATES
    from ehrkg.benchmark.templates.instantiation import make_templates

_HOMES = {
    "Benchmark": "opened.benchmark",
    "CheckReport": "checking.checks",
    "CheckRow": "checking.checks",
    "Cohort": "facts.cohort",
    "DEFAULT_FORMATS": "questions.items",
    "Difference": "opened.differences",
    "FORMATS": "questions.items",
    "Facts": "checking.again",
    "ITEMS": "schema",
    "Made": "questions.items",
    "POOL": "distractors.pools",
    "STRATEGIES": "distractors.strategies",
    "Recipe": "opened.recipes",
    "Split": "opened.cuts",
    "Strategy": "distractors.strategies",
    "TEMPLATES": "schema",
    "TrueShare": "checking.hiding",
    "check": "checking.checks",
    "example": "opened.examples",
    "hidden_edges": "checking.hiding",
    "make_questions": "questions.items",
    "make_templates": "templates.instantiation",
    "write_questions": "questions.items",
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
