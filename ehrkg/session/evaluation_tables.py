"""What ``ehrkg evaluate`` prints at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.table import Table

from ehrkg.evaluation import Results, robustness
from ehrkg.evaluation.metrics import clustered_mean
from ehrkg.evaluation.settings import NO_STEM, OTHER_STEM, PLAIN, Setting
from ehrkg.foundation.ledger import Ledger
from ehrkg.session.console import text_table

Row = Mapping[str, Any]

CHOICES = ("setting", "questions", "n", "correct", "95 %", "chance", "no stem", "other", "unread")
OTHERWISE = ("perturbation", "questions", "n", "as it is", "change", "95 %", "same choice")
OPENED = ("setting", "questions", "n", "named", "95 %", "unread")
APPRAISED = {"judged": ("judged", "found right", "95 %"), "bert_f1": ("BERTScore",)}
"""Columns of open answers that are shown where they are known, with their heads."""


def show_results(console: Console, results: Results, directory: Path) -> None:
    """Print accuracy with its interval and controls, what could not be read, tokens and cost.

    Args:
        console: where to.
        results: of one model.
        directory: the build's folder.
    """
    rows: list[Row] = results.scores.to_pylist()
    name = rows[0]["model"]
    console.print()
    if choices := list(_choices(rows)):
        console.print(text_table(f"{name}: questions with options", CHOICES, choices))
    if results.scores.filter(pc.equal(results.scores["format"], "oeq")).num_rows:
        console.print(_open_table(f"{name}: open questions", rows))
    console.print(_spent(rows), highlight=False)
    console.print(f"Scores, answers and Inspect's logs lie in {directory}.", highlight=False)
    console.print(
        f"  ehrkg report {directory}\n  inspect view --log-dir {directory / 'evaluations'}",
        highlight=False,
        soft_wrap=True,
    )


def show_appraised(console: Console, scores: pa.Table) -> None:
    """Print what judge and BERTScore say of open answers, a table a model.

    Args:
        console: where to.
        scores: open answers, of one model or several.
    """
    rows: list[Row] = scores.to_pylist()
    for name in dict.fromkeys(row["model"] for row in rows):
        mine = [row for row in rows if row["model"] == name]
        console.print(_open_table(f"{name}: open questions", mine))


def show_perturbed(console: Console, ledger: Ledger) -> None:
    """Print how many questions could be put under each perturbation, and why the rest could not.

    Args:
        console: where to.
        ledger: what ``perturb`` recorded.
    """
    lines = [
        (
            entry.unit,
            entry.rows_in,
            entry.rows_out,
            ", ".join(f"{reason} {n:,}" for reason, n in sorted(entry.dropped.items()) if n),
        )
        for entry in ledger
    ]
    console.print(text_table("questions put otherwise", ("perturbation", "of", "n", "not"), lines))


def show_robustness(console: Console, scores: pa.Table) -> None:
    """Print the change under each perturbation, and how often the choice stayed.

    Args:
        console: where to.
        scores: of one model or several, with their originals; without perturbations nothing is
            printed.
    """
    found = robustness(scores).to_pylist()
    for model in dict.fromkeys(row["model"] for row in found):
        lines = [
            (
                row["perturbation"],
                f"{row['task']} {row['format']}",
                row["items"],
                f"{100 * row['accuracy']:.1f} %",
                f"{100 * row['change']:+.1f}",
                f"{100 * row['low']:+.1f} to {100 * row['high']:+.1f}",
                "—" if row["consistency"] is None else f"{100 * row['consistency']:.0f} %",
            )
            for row in found
            if row["model"] == model
        ]
        console.print(text_table(f"{model}: questions put otherwise", OTHERWISE, lines))


def _choices(rows: Sequence[Row]) -> Iterator[tuple[object, ...]]:
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["format"] != "oeq":
            groups.setdefault((row["setting"], row["task"], row["format"]), []).append(row)
    for (setting, task, form), group in sorted(groups.items()):
        asked = Setting.parse(setting)
        if asked.control != PLAIN and (replace(asked, control=PLAIN).name, task, form) in groups:
            continue
        yield (
            setting,
            f"{task} {form}",
            len(group),
            *_share(group, "correct"),
            _chance(group),
            *(
                _mean(groups.get((replace(asked, control=control).name, task, form), ()))
                for control in (NO_STEM, OTHER_STEM)
            ),
            _unread(group),
        )


def _open_table(title: str, rows: Sequence[Row]) -> Table:
    """Open answers by setting and task; what nobody judged or likened has no column."""
    more = [name for name in APPRAISED if any(row[name] is not None for row in rows)]
    heads = [head for name in more for head in APPRAISED[name]]
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["format"] == "oeq":
            groups.setdefault((row["setting"], row["task"]), []).append(row)
    lines = [
        (
            setting,
            task,
            len(group),
            *_share(group, "coverage"),
            _unread(group),
            *(cell for name in more for cell in _appraised(group, name)),
        )
        for (setting, task), group in sorted(groups.items())
    ]
    return text_table(title, (*OPENED, *heads), lines)


def _appraised(group: Sequence[Row], name: str) -> tuple[str, ...]:
    """The cells of ``APPRAISED``; a judge may have judged some only."""
    known = [row for row in group if row[name] is not None]
    if name == "judged":
        return (str(len(known)), *(_share(known, name) if known else ("—", "—")))
    mean = f"{sum(row[name] for row in known) / len(known):.3f}" if known else "—"
    return (mean,)


def _share(group: Sequence[Row], column: str) -> tuple[str, str]:
    found = clustered_mean([row[column] for row in group], [row["cluster"] for row in group])
    return f"{100 * found.mean:.1f} %", f"{100 * found.low:.0f} to {100 * found.high:.0f}"


def _mean(group: Sequence[Row]) -> str:
    return f"{100 * sum(row['correct'] for row in group) / len(group):.1f} %" if group else "—"


def _chance(group: Sequence[Row]) -> str:
    """The mean of one in so many; several right answers have no such floor."""
    if any(row["format"] == "multi" for row in group):
        return "—"
    return f"{100 * sum(1 / row['n_options'] for row in group) / len(group):.0f} %"


def _unread(group: Sequence[Row]) -> str:
    return f"{100 * sum(not row['parsed'] for row in group) / len(group):.0f} %"


def _spent(rows: Sequence[Row]) -> str:
    """Tokens and cost of all rows, in words.

    >>> _spent([{"tokens_in": 900, "tokens_out": 100, "cost": 0.5}])
    '1 answers, 900 tokens of questions and 100 of answers, at a cost of 0.50.'
    """
    came, went = (sum(row[name] or 0 for row in rows) for name in ("tokens_in", "tokens_out"))
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    cost = f", at a cost of {sum(costs):,.2f}" if costs else ""
    return f"{len(rows):,} answers, {came:,} tokens of questions and {went:,} of answers{cost}."
