"""The rows that exports carry: an item with what is to be known of its template.

No patient's or visit's id is among them; ``cluster``, a keyed hash of the patient, is in all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

OF_TEMPLATE = (
    "predicate",
    "timing",
    "flags",
    "age_band",
    "sex",
    "gap_days",
    "visit_kind",
    "icd_version",
    "n_context",
    "n_related",
    "score",
    "sole_indication",
)
"""Columns of templates.parquet that go with each item."""

LETTERS = "ABCDEF"
"""By which options are named."""


def carried(bench: Benchmark) -> Iterator[pa.RecordBatch]:
    """The rows in order, a page at a time, with what was joined last."""
    yield from bench.pages(*(name for name in OF_TEMPLATE if name not in bench.columns))


def carried_names(bench: Benchmark) -> list[str]:
    """The names of the columns of ``carried``, in order."""
    return [*bench.columns, *(name for name in OF_TEMPLATE if name not in bench.columns)]


def rows(bench: Benchmark) -> Iterator[dict[str, Any]]:
    """The rows of ``carried`` as mappings of plain values."""
    for page in carried(bench):
        yield from page.to_pylist()


def kinds_of(bench: Benchmark) -> list[str]:
    """The formats of its questions, sorted: mcq, multi, oeq, yesno."""
    kinds: list[str] = bench.count("format")["format"].to_pylist()
    return kinds


def right_letters(row: Mapping[str, Any]) -> list[str]:
    """The letters of the options that are right; none for an open question.

    >>> right_letters({"distractor_reasons": ["answer", "frequency", "answer"]})
    ['A', 'C']
    """
    reasons = row["distractor_reasons"]
    return [letter for letter, why in zip(LETTERS, reasons, strict=False) if why == "answer"]


def lettered(options: list[str]) -> str:
    """Options, a line each, with their letters.

    >>> print(lettered(["gout", "anaemia"]))
    A. gout
    B. anaemia
    """
    return "\n".join(f"{letter}. {one}" for letter, one in zip(LETTERS, options, strict=False))
