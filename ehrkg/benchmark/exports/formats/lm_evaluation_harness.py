"""lm-evaluation-harness: tasks by likelihood and by generated answers, with their data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.rows import kinds_of, lettered, right_letters, rows
from ehrkg.benchmark.exports.writing import rendered, write_json_lines, write_text

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark


@dataclass(frozen=True)
class HarnessTask:
    """A task of the harness.

    Attributes:
        kind: the format of its questions.
        template: of its YAML.
        how: in what words a letter is asked for.
    """

    kind: str
    template: str
    how: str = "one letter"


TASKS = {
    "ehrkg_mcq_likelihood": HarnessTask("mcq", "likelihood"),
    "ehrkg_mcq_generate": HarnessTask("mcq", "letters"),
    "ehrkg_yesno_likelihood": HarnessTask("yesno", "likelihood"),
    "ehrkg_yesno_generate": HarnessTask("yesno", "letters"),
    "ehrkg_multi_generate": HarnessTask("multi", "letters", "the letters of all that are right"),
    "ehrkg_open_generate": HarnessTask("oeq", "open"),
}
"""Every task by name."""


def write(bench: Benchmark, folder: Path) -> None:
    """Write a YAML a task, the code they share, and the questions as JSON Lines."""
    kinds = kinds_of(bench)
    for kind in kinds:
        write_json_lines(_documents(bench.filter(format=kind)), folder / f"{kind}.jsonl")
    for name, task in TASKS.items():
        if task.kind in kinds:
            text = rendered(
                f"formats/lm_eval_{task.template}.yaml.j2",
                task=name,
                kind=task.kind,
                how=task.how,
                version=bench.version,
            )
            write_text(text, folder / f"{name}.yaml")
    code = rendered("formats/lm_eval_questions.py.j2", kinds=kinds)
    write_text(code, folder / "ehrkg_questions.py")


def _documents(bench: Benchmark) -> Iterator[dict[str, Any]]:
    for row in rows(bench):
        yield {
            "id": row["item_id"],
            "stem": row["stem"],
            "options": row["options"],
            "lettered": lettered(row["options"]),
            "answer": row["answer"],
            "answer_index": row["answer_index"],
            "letters": " ".join(right_letters(row)),
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
