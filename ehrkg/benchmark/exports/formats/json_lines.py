"""JSON Lines: a question a line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.rows import rows
from ehrkg.benchmark.exports.writing import write_json_lines

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark


def write(bench: Benchmark, folder: Path) -> None:
    """Write questions.jsonl: all columns of ``exports.rows``, lists as lists."""
    write_json_lines(rows(bench), folder / "questions.jsonl")


EXPORT = Export(
    "jsonl",
    "JSON Lines, a question a line",
    "pandas.read_json('questions.jsonl', lines=True)",
    write,
)
