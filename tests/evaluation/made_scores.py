"""Scores by the thousand for tests of figures: models of known skill, patients who differ."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ehrkg.benchmark.schema import TEMPLATES
from ehrkg.evaluation.schema import SCORES

SKILLS = {"weak": 0.2, "middling": 0.35, "strong": 0.6}
TASKS = ("diagnosis", "treatment")
CODES = ("ICD10CM:I50.9", "ICD10CM:E11.9", "ICD9CM:486")


def table(columns: dict[str, object], n: int) -> pa.Table:
    """Scores with the columns given, null in the others."""
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(n, field.type)
        for field in SCORES
    ]
    return pa.Table.from_arrays(arrays, schema=SCORES)


def scores_of(n: int = 240, patients: int = 24, settings: tuple[str, ...] = ("plain",)) -> pa.Table:
    """Each model's answers to ``n`` questions in each setting; the graph's too, always right."""
    parts = []
    for number, (model, skill) in enumerate({**SKILLS, "graph": 1.0}.items()):
        for place, setting in enumerate(settings):
            rng = np.random.default_rng(100 * number + place)
            stem = 1.0 if setting == "plain" else 0.5
            right = rng.random(n) < skill * stem * (
                0.5 + rng.random(patients)[np.arange(n) % patients]
            )
            options = 4 + np.arange(n) % 3
            answer = np.arange(n) % 4
            parts.append(
                table(
                    {
                        "model": [model] * n,
                        "setting": [setting] * n,
                        "item_id": [f"t{at:05}.mcq{k}" for at, k in enumerate(options)],
                        "template_id": [f"t{at:05}" for at in range(n)],
                        "cluster": [f"p{at % patients:05}" for at in range(n)],
                        "task": [TASKS[at % 7 % 2] for at in range(n)],
                        "format": ["mcq"] * n,
                        "n_options": options,
                        "choice": np.where(right, answer, (answer + 1) % 4),
                        "answer_index": answer,
                        "parsed": rng.random(n) < 0.9,
                        "correct": right.astype(float),
                        "seconds": rng.random(n).round(6),
                        "tokens_in": rng.integers(10, 100, n),
                        "key_source": [model == "graph"] * n,
                    },
                    n,
                )
            )
    return pa.concat_tables(parts)


def templates_of(n: int = 240) -> pa.Table:
    """The templates of ``scores_of``."""
    rows = [
        dict.fromkeys(TEMPLATES.names)
        | {
            "id": f"t{at:05}",
            "answer": [CODES[at % 3] if at % 5 else "DRUGNAME:insulin"],
            "context": ["ICD10CM:N18.9", CODES[at % 2]],
            "anchor_position": 1,
            "age_band": ("18-39", "40-64")[at % 2],
            "sex": ("F", "M", "")[at % 3],
        }
        for at in range(n)
    ]
    return pa.Table.from_pylist(rows, TEMPLATES)


def pool_of(visits: dict[str, int]) -> pa.Table:
    """What a breakdown reads of a pool."""
    return pa.table({"code": list(visits), "n_visits": list(visits.values())})
