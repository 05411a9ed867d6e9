"""Settings as they are read, and rows with their controls beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.report.shareable import LEAST
from ehrkg.evaluation.settings import CONTROLS, PLAIN, Setting


def setting_words(name: str) -> str:
    """A setting's name as it is read.

    >>> setting_words("likelihood+few_shot5"), setting_words("plain")
    ('likelihood, few shot 5', 'plain')
    """
    asked = Setting.parse(name)
    if asked.shots:
        name = name.replace(f"few_shot{asked.shots}", f"few shot {asked.shots}")
    return name.replace("+", ", ").replace("_", " ")


def as_asked(scores: pa.Table) -> pa.Table:
    """The scores of questions as they are: neither perturbed nor a control."""
    wanted = [
        name
        for name in pc.unique(scores["setting"]).to_pylist()
        if (asked := Setting.parse(name)).control == PLAIN and not asked.perturbation
    ]
    return scores.filter(pc.is_in(scores["setting"], value_set=pa.array(wanted, pa.string())))


def with_controls(
    rows: Iterable[dict[str, Any]], keys: Sequence[str], value: str = "accuracy"
) -> list[dict[str, Any]]:
    """One row a model, setting and ``keys``, with what the controls gave beside its value.

    Args:
        rows: a table of figures; perturbed settings are left out.
        keys: what else tells rows apart.
        value: the figure.

    Returns:
        The rows that are no control, each with ``no_stem`` and ``other_stem``, None where that was
        not asked, and its setting in words.
    """
    found: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        asked = Setting.parse(row["setting"])
        if not asked.perturbation:
            plain = replace(asked, control=PLAIN).name
            key = (row["model"], plain, *(row[name] for name in keys))
            found.setdefault(key, {})[asked.control] = row
    return [
        group[PLAIN]
        | {"setting": setting_words(key[1])}
        | {
            name: group[name][value] if name in group else None
            for name in CONTROLS
            if name != PLAIN
        }
        for key, group in sorted(found.items())
        if PLAIN in group
    ]


def best_first(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The order of a leaderboard; what rests on too few patients to be told comes last."""
    few = row["patients"] < LEAST
    return few, 0.0 if few else -row["accuracy"], row["model"], row["setting"]


def patients_of(scores: pa.Table, keys: Sequence[str]) -> dict[tuple[Any, ...], int]:
    """How many patients the scores of each group rest on, by the values of ``keys``."""
    counted = scores.group_by(list(keys)).aggregate([("cluster", "count_distinct")]).to_pylist()
    return {tuple(row[name] for name in keys): row["cluster_count_distinct"] for row in counted}
