"""What each proposer's word was worth: its proposals, their verdicts, what it alone found."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from ehrkg.foundation.errors import UsageError
from ehrkg.propose import Cooccurrence

VERDICTS = ("supported", "contradicted", "ambiguous", "unsupported")

BY_PROPOSER = pa.schema(
    [
        ("proposer", pa.string()),
        ("proposed", pa.int64()),
        *((verdict, pa.int64()) for verdict in VERDICTS),
        ("unlinked", pa.int64()),  # of the unsupported: an end is no known concept
        ("alone", pa.int64()),  # proposed by no other
        ("alone_supported", pa.int64()),
        ("beyond_cooccurrence", pa.int64()),  # co-occurrence did not propose it; null where it
        ("beyond_cooccurrence_supported", pa.int64()),  # was not asked, or is the proposer itself
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
    rows = relations.select(["proposers", "verdict", "reasons"]).to_pylist()
    counts: dict[str, Counter[str]] = {name: Counter() for row in rows for name in row["proposers"]}
    for row in rows:
        supported = row["verdict"] == "supported"
        unlinked = any(reason.startswith("unlinked") for reason in row["reasons"])
        alone = len(row["proposers"]) == 1
        beyond = Cooccurrence.name not in row["proposers"]
        held = {
            "proposed": True,
            row["verdict"]: True,
            "unlinked": unlinked,
            "alone": alone,
            "alone_supported": alone and supported,
            "beyond_cooccurrence": beyond,
            "beyond_cooccurrence_supported": beyond and supported,
        }
        for proposer in row["proposers"]:
            counts[proposer].update(held)
    told = []
    for name in sorted(counts):
        held = {column: int(counts[name][column]) for column in BY_PROPOSER.names[1:]}
        if name == Cooccurrence.name or Cooccurrence.name not in counts:
            held |= dict.fromkeys(("beyond_cooccurrence", "beyond_cooccurrence_supported"))
        told.append({"proposer": name, **held})
    return pa.Table.from_pylist(told, schema=BY_PROPOSER)


def found_beyond_cooccurrence(relations: pa.Table, proposer: str) -> pa.Table:
    """The supported relations that a proposer named and co-occurrence did not, best score first.

    Args:
        relations: RELATIONS.
        proposer: its name.

    Returns:
        Rows of ``relations``.

    >>> table = pa.table({"id": ["r1", "r2"], "proposers": [["a"], ["a", "cooccurrence"]],
    ...                   "verdict": ["supported"] * 2, "score": [0.9, 0.8]})
    >>> found_beyond_cooccurrence(table, "a")["id"].to_pylist()
    ['r1']
    """
    wanted = [
        proposer in names and Cooccurrence.name not in names and verdict == "supported"
        for names, verdict in zip(
            relations["proposers"].to_pylist(), relations["verdict"].to_pylist(), strict=True
        )
    ]
    found = relations.filter(pa.array(wanted, pa.bool_()))
    return found.sort_by([("score", "descending"), ("id", "ascending")])
