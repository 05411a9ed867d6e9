"""One self-contained page to look at: where the questions come from and what they are worth."""

from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.gathering import gather_report, report_of_build
from ehrkg.evaluation.report.page import write_report

__all__ = ["ReportData", "gather_report", "report_of_build", "write_report"]
