"""What clinicians who read questions found."""

from __future__ import annotations

from typing import Any

from ehrkg.evaluation.readers.agreement import FULL, Figure
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.shareable import LEAST


def collect(data: ReportData) -> dict[str, Any]:
    """Their figures; nothing of them where none has looked, and the section says so."""
    found = data.review
    if found is None:
        return {"found": None}
    return {
        "found": {
            "questions": found.questions,
            "twice": found.twice,
            "full": "" if found.is_full else str(FULL),
            "bad": _share(found.bad),
            "bad_for_all": _share(found.bad_for_all),
            "other_words": found.other_words,
            "readers": [
                {
                    "reader": f"reader {one.reader}",
                    "read": one.accuracy.n,
                    "accuracy": _share(one.accuracy),
                    "bad": _share(one.bad),
                    "ratings": [
                        {"name": name.replace("_", " "), "share": _share(figure)}
                        for name, figure in one.ratings.items()
                    ],
                }
                for one in found.readers
            ],
            "agreements": [
                {
                    "pair": f"readers {first} and {second}",
                    "on": one.on.replace("_", " "),
                    "questions": one.percent.n,
                    "percent": _share(one.percent),
                    "ac1": _coefficient(one.ac1),
                    "kappa": _coefficient(one.kappa),
                }
                for (first, second), agreed in found.agreements.items()
                for one in agreed
            ],
        }
    }


def _share(figure: Figure) -> str:
    """A share of questions with its interval; of few questions none, as they could be counted."""
    return figure.percent() if figure.n >= LEAST else f"of fewer than {LEAST} questions"


def _coefficient(figure: Figure) -> str:
    return figure.coefficient() if figure.n >= LEAST else f"of fewer than {LEAST} questions"
