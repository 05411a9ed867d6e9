"""From rows to questions, and what was left out on the way."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.shareable import LEAST


def collect(data: ReportData) -> dict[str, Any]:
    """The steps from rows to questions, and the whole ledger."""
    read = [entry for entry in data.ledger if entry.stage == "read" and "." not in entry.unit]
    verdicts = data.verified.relations["verdict"]
    return {
        "steps": [
            {"step": step, "count": count}
            for step, count in (
                ("table rows read", sum(entry.rows_in for entry in read)),
                ("rows used", sum(entry.rows_out for entry in read)),
                ("relations proposed", len(verdicts)),
                ("relations supported", int(pc.sum(pc.equal(verdicts, "supported")).as_py() or 0)),
                ("templates", data.templates.num_rows),
                ("questions", data.items.num_rows),
            )
        ],
        "ledger": [
            {
                "stage": entry.stage,
                "unit": entry.unit,
                "rows_in": entry.rows_in,
                "rows_out": entry.rows_out,
                "dropped": reasons(entry.dropped),
                "example": entry.example,
            }
            for entry in data.ledger
        ],
    }


def most_first(count: int, name: str) -> tuple[int, str]:
    """A key to sort by that does not tell which of two counts is larger where none may be told.

    >>> sorted([(3, "b"), (8, "c"), (9, "a"), (20, "d")], key=lambda pair: most_first(*pair))
    [(20, 'd'), (9, 'a'), (3, 'b'), (8, 'c')]
    """
    return (-count if count >= LEAST else 0, name)


def reasons(dropped: Any) -> list[dict[str, Any]]:
    """Reasons in words with their counts, the most frequent first; rare ones by the alphabet.

    >>> reasons({"no_visit": 9, "duplicate_row": 2, "negative_id": 40})[0]
    {'reason': 'negative id', 'count': 40}
    >>> [row["reason"] for row in reasons({"no_visit": 9, "duplicate_row": 2})]
    ['duplicate row', 'no visit']
    """
    ordered = sorted(dropped.items(), key=lambda pair: most_first(pair[1], pair[0]))
    return [{"reason": name.replace("_", " "), "count": count} for name, count in ordered]
