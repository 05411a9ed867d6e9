"""A page of fifty questions to read one by one, and what was measured of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from ehrkg.benchmark.checking.checks import CheckReport
from ehrkg.benchmark.opened.benchmark import Benchmark
from ehrkg.foundation.hashing import hash64
from ehrkg.foundation.storage import write_atomically

QUESTIONS = 50

LETTERS = "ABCDEF"

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#222}
article{border-top:1px solid #ccc;padding:.6rem 0}
ol{list-style:upper-alpha;margin:.3rem 0}
.answer{font-weight:600}.small{color:#555;font-size:.85rem}table{border-collapse:collapse}
td{padding:.1rem .6rem;border-bottom:1px solid #eee;vertical-align:top;font-size:.85rem}
"""


def fifty(benchmark: Benchmark, *, seed: int = 7, n: int = QUESTIONS) -> list[dict[str, Any]]:
    """Questions to read: of every task and format in turn, each with its template's columns.

    Args:
        benchmark: where they are drawn from.
        seed: names the draw.
        n: how many at most.

    Returns:
        Rows of ITEMS, each with its template under "template"; no template twice.
    """
    columns = ("item_id", "template_id", "task", "format")
    table = zip(*(benchmark.column(name).to_pylist() for name in columns), strict=True)
    groups: dict[tuple[str, str], list[tuple[int, str, str]]] = {}
    for item, template, task, form in table:
        groups.setdefault((task, form), []).append((hash64(seed, "read", item), item, template))
    heaps = [sorted(rows, reverse=True) for _, rows in sorted(groups.items())]
    chosen: list[str] = []
    seen: set[str] = set()
    while len(chosen) < n and any(heaps):
        for heap in heaps:
            while heap and len(chosen) < n:
                _, item, template = heap.pop()
                if template not in seen:
                    seen.add(template)
                    chosen.append(item)
                    break
    drawn = benchmark.subset(chosen)
    templates = {row["id"]: row for row in drawn.templates().to_pylist()}
    rows = {row["item_id"]: row for row in drawn}
    return [{**rows[item], "template": templates[rows[item]["template_id"]]} for item in chosen]


def write_page(
    path: Path, benchmark: Benchmark, report: CheckReport | None = None, *, seed: int = 7
) -> Path:
    """Write the page, by rename; one file that needs nothing else.

    Args:
        path: of the HTML file.
        benchmark: where questions are drawn from.
        report: what was measured; left out for ``None``.
        seed: names the draw.

    Returns:
        The path.
    """
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Questions to read</title>",
        f"<style>{_STYLE}</style><h1>Questions to read</h1>",
        f"<p>{escape(str(benchmark))}. Answerable, one answer, plausible distractors, nothing that "
        "gives it away?</p>",
        *(_table(report) if report is not None else ()),
        *(_article(at, row) for at, row in enumerate(fifty(benchmark, seed=seed), start=1)),
        "</html>",
    ]
    write_atomically(path, lambda file: file.write_text("\n".join(parts), encoding="utf-8"))
    return path


def _table(report: CheckReport) -> Iterator[str]:
    yield "<details><summary>What was measured</summary><table>"
    for row in report:
        cells = (row.status, row.rule, row.task, f"{row.n:,}", row.text)
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
    yield "</table></details>"


def _article(number: int, row: Mapping[str, Any]) -> str:
    template = row["template"]
    right = set(row["answer"])
    options = "".join(
        f"<li{' class=answer' if option in right else ''}>{escape(option)} "
        f"<span class=small>{escape(code)}; {escape(reason)}</span></li>"
        for option, code, reason in zip(
            row["options"], row["option_codes"], row["distractor_reasons"], strict=True
        )
    )
    shown = f"<ol>{options}</ol>" if options else f"<p class=answer>{escape(row['answer'][0])}</p>"
    facts = {
        "template": row["template_id"],
        "task": row["task"],
        "format": row["format"],
        "predicate": template["predicate"],
        "score": f"{template['score']:.2f}",
        "timing": row["timing"],
        "related events": row["n_related"],
        "flags": ", ".join(row["flags"]) or "none",
    }
    said = "; ".join(f"{name} {value}" for name, value in facts.items())
    return (
        f"<article><p><b>{number}.</b> {escape(row['stem'])}</p>{shown}"
        f"<p class=small>{escape(said)}</p></article>"
    )


def write_failing(path: Path, report: CheckReport) -> Path:
    """Write which questions (or templates) break which rule, as a TSV file, by rename.

    Args:
        path: of the file: the columns rule and id, a row each.
        report: what was measured.

    Returns:
        The path.
    """
    lines = ["rule\tid", *(f"{row.rule}\t{name}" for row in report for name in row.items)]
    write_atomically(path, lambda file: file.write_text("\n".join(lines) + "\n", encoding="utf-8"))
    return path
