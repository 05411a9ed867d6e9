"""Inspect: tasks with their data beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.rows import LETTERS, rows
from ehrkg.benchmark.exports.writing import rendered, write_json_lines, write_text

if TYPE_CHECKING:
    from ehrkg.benchmark.benchmark import Benchmark

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

KINDS = ("mcq", "oeq")
"""Formats of question that there is a task for."""


def write(bench: Benchmark, folder: Path) -> None:
    """Write ehrkg_tasks.py, with a task a kind of question, and the samples as JSON Lines."""
    kept = [kind for kind in KINDS if write_kind(bench, folder, kind)]
    write_text(rendered("formats/inspect_tasks.py.j2", kinds=kept), folder / "ehrkg_tasks.py")


def write_kind(bench: Benchmark, folder: Path, kind: str) -> int:
    """Write the samples of one kind of question; none, and there is no file."""
    part = bench.filter(format=kind)
    return write_json_lines(_samples(part), folder / f"{kind}.jsonl") if len(part) else 0


def _samples(bench: Benchmark) -> Iterator[dict[str, Any]]:
    for row in rows(bench):
        target = LETTERS[row["answer_index"]] if row["options"] else row["answer"]
        yield {
            "id": row["item_id"],
            "input": row["stem"],
            "target": target,
            **({"choices": row["options"]} if row["options"] else {}),
            **{name: row[name] for name in METADATA},
        }


EXPORT = Export("inspect", "Inspect tasks", "inspect eval ehrkg_tasks.py --model MODEL", write)
