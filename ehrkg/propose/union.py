"""Several proposers as one, keeping who said what."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress
from ehrkg.propose.proposer import Proposer, keeping_answers
from ehrkg.propose.schema import CANDIDATES


class Union:
    """What any of several proposers proposes.

    A candidate that several propose stands once, with all their names and tasks; its lift and p are
    those of the first that names it.

    Args:
        proposers: two or more.

    Raises:
        UsageError: fewer than two, or two of one name.

    >>> from ehrkg.propose import Cooccurrence
    >>> Union(Cooccurrence(), Cooccurrence())
    Traceback (most recent call last):
    ehrkg.foundation.errors.UsageError: a union needs two proposers or more, of different names
      do: ...
    """

    def __init__(self, *proposers: Proposer) -> None:
        if len(proposers) < 2 or len({one.name for one in proposers}) < len(proposers):
            raise UsageError(
                "a union needs two proposers or more, of different names",
                todo="give Union(Cooccurrence(), Anthropic(...))",
            )
        self.proposers = proposers
        self.name = "+".join(one.name for one in proposers)

    def __repr__(self) -> str:
        return f"Union({', '.join(map(repr, self.proposers))})"

    def settings(self) -> dict[str, object]:
        """See ``Proposer.settings``."""
        return {"proposer": self.name, "union": [one.settings() for one in self.proposers]}

    def recording(self, folder: Path) -> Union:
        """The same union, each keeping its answers in the folder."""
        return Union(*(keeping_answers(one, folder) for one in self.proposers))

    def propose(
        self,
        hospital: Hospital,
        *,
        tasks: Iterable[str] | None = None,
        ledger: Ledger | None = None,
        progress: Progress | None = None,
    ) -> pa.Table:
        """See ``Proposer.propose``."""
        wanted = None if tasks is None else tuple(tasks)
        parts = [
            one.propose(hospital, tasks=wanted, ledger=ledger, progress=progress)
            for one in self.proposers
        ]
        merged = _merge(parts)
        if ledger is not None:
            named = sum(part.num_rows for part in parts)
            ledger.record(
                "propose",
                "candidate",
                rows_in=named,
                rows_out=merged.num_rows,
                dropped={"named_by_another_too": named - merged.num_rows},
            )
        return merged


def _merge(parts: list[pa.Table]) -> pa.Table:
    rows: dict[str, dict[str, object]] = {}
    for part in parts:
        for row in part.to_pylist():
            held = rows.setdefault(row["id"], row)
            if held is not row:
                for column in ("tasks", "proposers"):
                    held[column] = sorted({*held[column], *row[column]})  # type: ignore[misc]
    return pa.Table.from_pylist([rows[key] for key in sorted(rows)], schema=CANDIDATES)
