"""What ``ehrkg check`` found."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ehrkg.evaluation.report.data import ReportData

ORDER = ("failed", "too few to tell", "ok")


def collect(data: ReportData) -> dict[str, Any] | str:
    """The rows of a check: what failed first, then what too few questions leave open."""
    if not data.checks:
        return "no result of a check lies with this build; ehrkg check DIR makes one"
    rows = [
        {name: row[name] for name in ("rule", "task", "n", "value", "bound", "status", "text")}
        | {"rule": row["rule"].replace("_", " ")}
        for row in data.checks
    ]
    place = {status: at for at, status in enumerate(ORDER)}
    failed = [row for row in rows if row["status"] == "failed"]
    told = [row for row in rows if row not in failed and (row["status"] != "ok" or row["value"])]
    return {
        "statuses": [
            {"status": status, "checks": str(count)}
            for status, count in sorted(
                Counter(row["status"] for row in rows).items(),
                key=lambda pair: place.get(pair[0], len(place)),
            )
        ],
        "failed": failed,
        "told": sorted(told, key=lambda row: place.get(row["status"], len(place))),
        "rest": [row for row in rows if row["status"] == "ok" and not row["value"]],
    }
