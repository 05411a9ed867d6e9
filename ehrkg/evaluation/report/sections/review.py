"""What clinicians who read questions found."""

from __future__ import annotations

from typing import Any

from ehrkg.evaluation.report.data import ReportData


def collect(data: ReportData) -> dict[str, Any]:
    """Their figures; nothing of them where none has looked, and the section says so."""
    return {"found": data.review or None}
