"""lm-evaluation-harness: tasks by likelihood and by generated answers, with their data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.rows import LETTERS, lettered, rows
from ehrkg.benchmark.exports.writing import rendered, write_json_lines, write_text

if TYPE_CHECKING:
    from ehrkg.benchmark.benchmark import Benchmark

TASKS = {
    "ehrkg_mcq_likelihood": "mcq",
    "ehrkg_mcq_generate": "mcq",
    "ehrkg_open_generate": "oeq",
}
"""Every task with the format of its questions."""


def write(bench: Benchmark, folder: Path) -> None:
    """Write a YAML a task, the code they share, and the questions as JSON Lines."""
    kinds = {
        kind
        for kind in sorted(set(TASKS.values()))
        if len(part := bench.filter(format=kind))
        and write_json_lines(_documents(part), folder / f"{kind}.jsonl")
    }
    for task, kind in TASKS.items():
        if kind in kinds:
            text = rendered(f"formats/{task}.yaml.j2", version=bench.version)
            write_text(text, folder / f"{task}.yaml")
    write_text(rendered("formats/lm_eval_questions.py.j2"), folder / "ehrkg_questions.py")


def _documents(bench: Benchmark) -> Iterator[dict[str, Any]]:
    for row in rows(bench):
        yield {
            "id": row["item_id"],
            "stem": row["stem"],
            "options": row["options"],
            "lettered": lettered(row["options"]),
            "answer": row["answer"],
            "answer_index": row["answer_index"],
            "letter": LETTERS[row["answer_index"]] if row["options"] else "",
            "cluster": row["cluster"],
            "task": row["task"],
            "split": row["split"],
            "timing": row["timing"],
        }


EXPORT = Export(
    "lm-eval",
    "lm-evaluation-harness tasks",
    "lm_eval --include_path . --tasks ehrkg_mcq_likelihood --model hf --model_args pretrained=M",
    write,
)
