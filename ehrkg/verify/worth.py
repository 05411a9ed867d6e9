"""What each proposer's word was worth: its proposals, their verdicts, what it alone found."""

from __future__ import annotations

import pyarrow as pa

from ehrkg.foundation.errors import UsageError

VERDICTS = ("supported", "contradicted", "ambiguous", "unsupported")

BY_PROPOSER = pa.schema(
    [
        ("proposer", pa.string()),
        ("proposed", pa.int64()),
        *((verdict, pa.int64()) for verdict in VERDICTS),
        ("unlinked", pa.int64()),  # of the unsupported: an end is no known concept
        ("alone", pa.int64()),  # proposed by no other
        ("alone_supported", pa.int64()),
    ]
)
"""Sorted by proposer."""


def by_proposer(relations: pa.Table) -> pa.Table:
    """Count proposals and verdicts by proposer.

    Args:
        relations: RELATIONS; one that several proposed counts for each of them.

    Returns:
        A table of the schema ``BY_PROPOSER``.

    Raises:
        UsageError: the table lacks a column.

    >>> table = pa.table({"proposers": [["a"], ["a", "b"]], "verdict": ["supported"] * 2,
    ...                   "reasons": [[], []]})
    >>> by_proposer(table).select(["proposer", "supported", "alone_supported"]).to_pylist()
    [{'proposer': 'a', 'supported': 2, 'alone_supported': 1},
     {'proposer': 'b', 'supported': 1, 'alone_supported': 0}]
    """
    lacking = {"proposers", "verdict", "reasons"} - set(relations.column_names)
    if lacking:
        raise UsageError(
            f"no column {', '.join(sorted(lacking))}", todo="give the relations of a build"
        )
    counts: dict[str, dict[str, int]] = {}
    for row in relations.select(["proposers", "verdict", "reasons"]).to_pylist():
        alone = len(row["proposers"]) == 1
        for proposer in row["proposers"]:
            held = counts.setdefault(proposer, dict.fromkeys(BY_PROPOSER.names[1:], 0))
            held["proposed"] += 1
            held[row["verdict"]] += 1
            held["unlinked"] += any(reason.startswith("unlinked") for reason in row["reasons"])
            held["alone"] += alone
            held["alone_supported"] += alone and row["verdict"] == "supported"
    rows = [{"proposer": name, **counts[name]} for name in sorted(counts)]
    return pa.Table.from_pylist(rows, schema=BY_PROPOSER)
