"""Inspect: tasks with their data beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.rows import kinds_of, right_letters, rows
from ehrkg.benchmark.exports.writing import rendered, write_json_lines, write_text

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

METADATA = (
    "template_id",
    "relation_id",
    "cluster",
    "task",
    "format",
    "strategy",
    "split",
    "timing",
    "flags",
    "n_related",
    "accepted_codes",
)
"""Columns that go with a sample as its metadata."""


def write(bench: Benchmark, folder: Path) -> None:
    """Write ehrkg_tasks.py, with a task a kind of question, and the samples as JSON Lines."""
    kinds = kinds_of(bench)
    for kind in kinds:
        write_json_lines(_samples(bench.filter(format=kind)), folder / f"{kind}.jsonl")
    code = rendered("formats/inspect_tasks.py.j2", kinds=kinds, metadata=METADATA)
    write_text(code, folder / "ehrkg_tasks.py")


def _samples(bench: Benchmark) -> Iterator[dict[str, Any]]:
    for row in rows(bench):
        choices = {"choices": row["options"]} if row["options"] else {}
        yield {
            "id": row["item_id"],
            "input": row["stem"],
            "target": right_letters(row) if choices else row["answer"],
            **choices,
            **{name: row[name] for name in METADATA},
        }


EXPORT = Export("inspect", "Inspect tasks", "inspect eval ehrkg_tasks.py --model MODEL", write)
