"""Scores in, the tables of a report out."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ehrkg.evaluation.metrics import clustered_mean

ACCURACY = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("setting", pa.string()),
        ("task", pa.string()),
        ("n_options", pa.int32()),
        ("items", pa.int32()),
        ("patients", pa.int32()),
        ("accuracy", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("chance", pa.float64()),
    ]
)
OPEN_ENDED = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("task", pa.string()),
        ("items", pa.int32()),
        ("patients", pa.int32()),
        ("coverage", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("rouge1", pa.float64()),
        ("rouge_l", pa.float64()),
    ]
)


ROUGE = ("rouge1", "rouge_l")


def accuracy_by(scores: pa.Table, *, seed: int = 7) -> pa.Table:
    """Multiple-choice accuracy by model, setting, task and number of options.

    Args:
        scores: the schema ``SCORES``.
        seed: of the bootstrap.

    Returns:
        The schema ``ACCURACY``: means with 95 % intervals clustered by patient, rounded to 4.
    """
    keys = ("model", "key_source", "setting", "task", "n_options")
    rows = [
        _mean_row(keys, key, group, "correct", "accuracy", seed) | {"chance": round(1 / key[-1], 4)}
        for key, group in _groups(scores, "mcq", keys)
    ]
    return pa.Table.from_pylist(rows, ACCURACY)


def open_ended_by(scores: pa.Table, *, seed: int = 7) -> pa.Table:
    """Open-ended relation coverage and ROUGE by model and task, with clustered intervals.

    Returns:
        The schema ``OPEN_ENDED``, rounded to 4.
    """
    keys = ("model", "key_source", "task")
    rows = [
        _mean_row(keys, key, group, "coverage", "coverage", seed)
        | {name: round(sum(row[name] for row in group) / len(group), 4) for name in ROUGE}
        for key, group in _groups(scores, "oeq", keys)
    ]
    return pa.Table.from_pylist(rows, OPEN_ENDED)


def _mean_row(
    keys: tuple[str, ...],
    key: tuple[Any, ...],
    group: list[dict[str, Any]],
    column: str,
    called: str,
    seed: int,
) -> dict[str, Any]:
    """A group's row: what it is, how large, and the mean of a column with its interval."""
    interval = clustered_mean(
        [row[column] for row in group], [row["cluster"] for row in group], seed=seed
    )
    return dict(zip(keys, key, strict=True)) | {
        "items": interval.n,
        "patients": interval.clusters,
        called: round(interval.mean, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
    }


def _groups(
    scores: pa.Table, form: str, keys: tuple[str, ...]
) -> list[tuple[tuple[Any, ...], list[dict[str, Any]]]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in scores.to_pylist():
        if row["format"] == form:
            groups.setdefault(tuple(row[name] for name in keys), []).append(row)
    return sorted(groups.items())
