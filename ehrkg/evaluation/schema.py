"""The table that evaluating gives: one row a (model, setting, item)."""

from __future__ import annotations

import pyarrow as pa

SCORES = pa.schema(
    [
        ("model", pa.string()),
        ("setting", pa.string()),  # plain; no_stem and other_stem are the controls
        ("item_id", pa.string()),
        ("template_id", pa.string()),
        ("cluster", pa.string()),
        ("task", pa.string()),
        ("format", pa.string()),
        ("n_options", pa.int32()),
        ("choice", pa.int32()),  # the option chosen, -1 where the text could not be read
        ("text", pa.string()),  # an open answer
        ("correct", pa.float64()),  # 1 or 0; a tie among k best options counts 1/k
        ("coverage", pa.float64()),  # open-ended: 1 if an accepted answer is named; null for mcq
        ("rouge1", pa.float64()),
        ("rouge_l", pa.float64()),
        ("key_source", pa.bool_()),  # the model is the knowledge that wrote the key: never ranked
    ]
)
"""scores.parquet. Sorted by model, setting, item_id."""
