"""The tables of ``ehrkg coverage`` in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from ehrkg.session.console import text_table
from ehrkg.session.coverage import Coverage

MOST = 20
"""Failing codes and edge rows that are printed; the files hold them all."""


def show_coverage(console: Console, found: Coverage) -> None:
    """Print reach beside correctness, methods, failures and edges."""
    console.print(
        text_table(
            "Rows and distinct codes that reach a concept: the same one, or one level up",
            ("knowledge", "rows of", "rows", "exact", "near", "reached", "codes", "reached "),
            [_reach(row) for row in found.reach.to_pylist()],
        )
    )
    if found.judged is not None:
        console.print(
            text_table(
                f"Correctness, as judged in {found.judged.file}",
                ("kind", "judged", "right", "95 % interval", "all judgements"),
                [
                    (
                        share.kind,
                        share.judged,
                        percent(share.right, share.judged),
                        f"{100 * share.low:.1f} to {100 * share.high:.1f} %",
                        ", ".join(f"{name} {count}" for name, count in share.counts.items()),
                    )
                    for share in found.judged.shares
                ],
            )
        )
    console.print(
        text_table(
            "By which method (rows)",
            ("kind", "method", "rows"),
            [tuple(row.values()) for row in found.methods.to_pylist()],
        )
    )
    console.print(
        text_table(
            f"What reaches nothing, most frequent first ({found.failing.num_rows:,} codes)",
            ("kind", "rows", "code", "name"),
            [
                (row["group"], row["rows"], row["code"], row["name"])
                for row in found.failing.slice(0, MOST).to_pylist()
            ],
        )
    )
    console.print(
        text_table(
            "Edges by source",
            ("source", "predicate", "edges", "distinct pairs"),
            [tuple(row.values()) for row in found.edges.to_pylist()],
        )
    )


def _reach(row: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        row["knowledge"],
        row["group"],
        row["rows"],
        percent(row["exact"], row["rows"]),
        percent(row["near"], row["rows"]),
        percent(row["exact"] + row["near"], row["rows"]),
        row["codes"],
        percent(row["codes_reached"], row["codes"]),
    )


def percent(part: int, whole: int) -> str:
    """A share with one decimal.

    >>> percent(1, 3), percent(0, 0)
    ('33.3 %', '-')
    """
    return f"{100 * part / whole:.1f} %" if whole else "-"
