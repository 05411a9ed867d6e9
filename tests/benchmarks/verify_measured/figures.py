"""Shares with intervals, areas, and the tables they stand in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from ehrkg.evaluation.metrics import wilson

CONSOLE = Console(width=150, highlight=False)


def share(hits: int, total: int) -> str:
    """A share with its 95 % Wilson interval and the counts."""
    if not total:
        return "- (0/0)"
    low, high = wilson(hits, total)
    return f"{hits / total:.3f} [{low:.3f}, {high:.3f}] ({hits}/{total})"


def auroc(good: Sequence[float], bad: Sequence[float]) -> float:
    """The chance that a good pair scores above a bad one, ties counting half."""
    if not len(good) or not len(bad):
        return float("nan")
    left, right = np.asarray(good)[:, None], np.asarray(bad)[None, :]
    return float(((left > right) + 0.5 * (left == right)).mean())


def average_precision(good: Sequence[float], bad: Sequence[float]) -> float:
    """Mean precision over the good pairs, ties taken together."""
    scores = np.concatenate([good, bad])
    true = np.concatenate([np.ones(len(good)), np.zeros(len(bad))])
    cut = np.unique(scores)[::-1]
    hits = np.array([true[scores >= at].sum() for at in cut])
    asked = np.array([(scores >= at).sum() for at in cut])
    return float((np.diff(hits, prepend=0) * hits / asked).sum() / max(true.sum(), 1))


def at_prevalence(recall: float, false_positive: float, prevalence: float = 0.06) -> float:
    """Precision where so many of the asked are true."""
    right, wrong = recall * prevalence, false_positive * (1 - prevalence)
    return right / (right + wrong) if right + wrong else float("nan")


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    table = Table(title=title, title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(str, row))
    CONSOLE.print(table)
