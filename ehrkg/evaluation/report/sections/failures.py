"""What failed, and why: checks, answers that can't be read, rows, relations, questions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.funnel import most_first, reasons
from ehrkg.evaluation.report.sections.measures import unread

SHOWN = 12
"""Reasons told of each kind; the ledger has them all."""

KINDS = (
    "no path joins the two ends",
    "linked too broadly",
    "unlinked",
    "the reverse is stated",
    "definitions that name both ends",
)
"""How a reason begins that is said of many relations."""

OTHERWISE = {
    "contradicted": "the knowledge says otherwise",
    "ambiguous": "the knowledge speaks for it and against it",
    "unsupported": "a path joins the two ends, but too weak a one",
}
"""What a reason comes to that is of one relation alone."""

STAGES = (
    ("read", "Rows of the tables that could not be used"),
    ("map", "Codes that reach no concept"),
    ("instantiate", "Pairs at visits that make no template"),
    ("items", "What makes no question, or no distractor"),
    ("evaluate", "Questions that a baseline did not answer"),
)


def collect(data: ReportData) -> dict[str, Any]:
    """Everything that came to nothing, with its reasons."""
    return {
        "checks": [
            {"rule": row["rule"].replace("_", " "), "task": row["task"], "text": row["text"]}
            for row in data.checks
            if row["status"] == "failed"
        ],
        "checked": bool(data.checks),
        "unread": unread(data),
        "verdicts": _verdict_reasons(data.verified.relations),
        "stages": [
            {"title": title, "reasons": found[:SHOWN], "more": str(max(len(found) - SHOWN, 0))}
            for stage, title in STAGES
            for found in [reasons(data.ledger.dropped(stage))]
            if found
        ],
    }


def _verdict_reasons(relations: pa.Table) -> list[dict[str, Any]]:
    """Why relations are not supported: how often each kind of deciding reason was given."""
    kept = relations.filter(pc.not_equal(relations["verdict"], "supported"))
    first = pc.list_flatten(pc.list_slice(kept["reasons"], 0, 1))
    verdict = kept["verdict"].filter(pc.greater(pc.list_value_length(kept["reasons"]), 0))
    table = pa.table({"verdict": verdict, "reason": first})
    counted: Counter[tuple[str, str]] = Counter()
    for row in table.group_by(["verdict", "reason"]).aggregate([([], "count_all")]).to_pylist():
        counted[row["verdict"], kind_of(row["reason"], row["verdict"])] += row["count_all"]
    ordered = sorted(counted.items(), key=lambda pair: most_first(pair[1], " ".join(pair[0])))
    return [
        {"verdict": verdict, "reason": reason, "count": count}
        for (verdict, reason), count in ordered
    ]


def kind_of(reason: str, verdict: str) -> str:
    """The kind of a reason, without the names in it.

    >>> kind_of("linked too broadly: head 2 levels up", "unsupported")
    'linked too broadly'
    >>> kind_of("furosemide may bring about hyponatraemia", "contradicted")
    'the knowledge says otherwise'
    """
    return next((kind for kind in KINDS if reason.startswith(kind)), OTHERWISE[verdict])
