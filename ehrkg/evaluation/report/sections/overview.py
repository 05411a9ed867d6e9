"""How much there is: templates first, items last."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.metrics import effective_size
from ehrkg.evaluation.report.data import ReportData


def collect(data: ReportData) -> dict[str, Any]:
    """The headline, and the same by task."""
    templates, items = data.templates, data.items
    return {
        "read": {
            "patients": data.hospital.patients.num_rows,
            "visits": data.hospital.visits.num_rows,
            "events": data.hospital.count("events"),
            "codes": data.hospital.codes.num_rows,
        },
        "cards": [
            {"name": "templates", "value": templates.num_rows},
            {"name": "distinct relations", "value": _distinct(templates, "relation")},
            {"name": "patients", "value": _distinct(templates, "cluster")},
            {
                "name": "effective sample size",
                "value": round(effective_size(templates["cluster"].to_pylist())),
            },
            {"name": "items", "value": items.num_rows},
        ],
        "by_task": [
            {
                "task": task,
                "templates": own.num_rows,
                "relations": _distinct(own, "relation"),
                "patients": _distinct(own, "cluster"),
                "items": _forms(items.filter(pc.equal(items["task"], task))),
            }
            for task in sorted(pc.unique(templates["task"]).to_pylist())
            for own in [templates.filter(pc.equal(templates["task"], task))]
        ],
    }


def _distinct(table: pa.Table, column: str) -> int:
    return int(pc.count_distinct(table[column]).as_py())


def _forms(items: pa.Table) -> list[dict[str, Any]]:
    counted = items.group_by(["format", "n_options"]).aggregate([([], "count_all")])
    rows = counted.sort_by([("format", "ascending"), ("n_options", "ascending")]).to_pylist()
    return [
        {"form": form_words(row["format"], row["n_options"]), "items": row["count_all"]}
        for row in rows
    ]


def form_words(form: str, n_options: int) -> str:
    """A format in words.

    >>> form_words("mcq", 4), form_words("oeq", 0)
    ('4 options', 'open-ended')
    """
    if form == "mcq":
        return f"{n_options} options"
    return {"oeq": "open-ended", "yesno": "yes or no", "multi": "several right"}.get(form, form)
