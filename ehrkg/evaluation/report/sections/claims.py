"""What the questions support, and what they do not."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from ehrkg.evaluation.report.data import ReportData


def collect(data: ReportData) -> dict[str, Any]:
    """The facts of this build that a claim depends on; the claims stand in the template."""
    timing = data.templates["timing"].value_counts().to_pylist()
    counted = {row["values"]: row["counts"] for row in timing}
    flat = pc.list_flatten(data.items["flags"])
    return {
        "templates": data.templates.num_rows,
        "discharge_coded": counted.get("discharge_coded", 0),
        "timestamped": counted.get("timestamped", 0),
        "presumed": int(pc.sum(pc.equal(flat, "presumed")).as_py() or 0),
        "tasks": sorted(pc.unique(data.templates["task"]).to_pylist()),
        "failed": sorted({row["rule"] for row in data.checks if row["status"] == "failed"}),
        "checked": bool(data.checks),
        "untold": str(sum(row["status"] == "too few to tell" for row in data.checks)),
        "reviewed": data.review is not None,
        "wholly_reviewed": data.review is not None and data.review.is_full,
        "synthetic": bool(data.manifest.get("planted")),
    }
