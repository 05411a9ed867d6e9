"""Models and baselines with intervals and controls; what wrote the key stands apart."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.settings import CONTROLS, PLAIN, Setting
from ehrkg.evaluation.summary import accuracy_by, open_ended_by


def collect(data: ReportData) -> dict[str, Any] | str:
    """Accuracy by task of each model and setting, at the least number of options, and in full."""
    if not data.scores.num_rows:
        return "no model and no baseline has answered"
    rows = with_controls(accuracy_by(data.scores, seed=data.seed))
    least = min((int(row["n_options"]) for row in rows), default=0)
    shown = [row for row in rows if row["n_options"] == str(least)]
    open_ended = [
        row | {"setting": setting_words(row.get("setting", PLAIN))}
        for row in open_ended_by(data.scores, seed=data.seed).to_pylist()
    ]
    return {
        "options": str(least),
        "tasks": [
            {
                "task": task,
                "rows": sorted(
                    (row for row in shown if row["task"] == task and not row["key_source"]),
                    key=lambda row: (-row["accuracy"], row["model"], row["setting"]),
                ),
            }
            for task in sorted({row["task"] for row in shown})
        ],
        "models": [row for row in rows if not row["key_source"]],
        "open_ended": [row for row in open_ended if not row["key_source"]],
        "key_source": [row for row in rows if row["key_source"]],
        "key_source_open": [row for row in open_ended if row["key_source"]],
    }


def with_controls(accuracy: pa.Table) -> list[dict[str, Any]]:
    """One row a model, setting, task and number of options, with both controls beside it.

    Args:
        accuracy: ``summary.accuracy_by``.
    """
    rows: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in accuracy.to_pylist():
        asked = Setting.parse(row["setting"])
        if not asked.perturbation:
            key = (row["model"], without_control(asked).name, row["task"], row["n_options"])
            rows.setdefault(key, {})[asked.control] = row
    return [
        found[PLAIN]
        | {"setting": setting_words(setting), "n_options": str(n_options)}
        | {
            name: found[name]["accuracy"] if name in found else None
            for name in CONTROLS
            if name != PLAIN
        }
        for (_, setting, _, n_options), found in sorted(rows.items())
        if PLAIN in found
    ]


def without_control(asked: Setting) -> Setting:
    """The setting that a control belongs to; itself for what is none."""
    from dataclasses import replace

    return replace(asked, control=PLAIN)


def setting_words(name: str) -> str:
    """A setting's name as it is read.

    >>> setting_words("likelihood+few_shot5"), setting_words("plain")
    ('likelihood, few shot 5', 'plain')
    """
    asked = Setting.parse(name)
    if asked.shots:
        name = name.replace(f"few_shot{asked.shots}", f"few shot {asked.shots}")
    return name.replace("+", ", ").replace("_", " ")
