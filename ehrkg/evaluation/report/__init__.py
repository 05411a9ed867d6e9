"""One self-contained page to look at: where the questions come from and what they are worth."""

from ehrkg.evaluation.report.page import ReportData, write_report

__all__ = ["ReportData", "write_report"]
