"""The table that proposing gives: candidate relations with the counts behind them."""

from __future__ import annotations

import pyarrow as pa

CANDIDATES = pa.schema(
    [
        ("id", pa.string()),  # short_id("r", head, route, predicate, tail)
        ("head", pa.string()),  # a Code id
        ("route", pa.string()),  # route class of the head where it is a drug, else ""
        ("predicate", pa.string()),
        ("tail", pa.string()),  # a Code id
        ("tasks", pa.list_(pa.string())),  # which tasks it was proposed for, sorted
        ("proposers", pa.list_(pa.string())),  # who proposed it, sorted
        ("n_within", pa.int32()),  # visits that hold both
        (
            "n_across",
            pa.int32(),
        ),  # visit pairs (v, next v) with the head in v, the tail in the next
        ("n_head", pa.int32()),  # visits that hold the head
        ("n_tail", pa.int32()),
        ("n_patients", pa.int32()),  # patients in whom it was seen (within or across)
        ("lift", pa.float64()),  # smoothed; of the span it passed in (smaller p); rounded to 4
        ("p_value", pa.float64()),  # one-sided hypergeometric, of the same span; rounded to 6
    ]
)
"""Sorted by id."""
