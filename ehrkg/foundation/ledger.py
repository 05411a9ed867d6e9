"""The ledger: each stage says what came in, what went out, and why the rest did not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg.foundation.storage import write_atomically


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: ``rows_in == rows_out + sum(dropped.values())``, always.

    ``example`` says where the first such row stands, for what was mended; it holds no value of it.
    """

    stage: str
    unit: str
    rows_in: int
    rows_out: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    example: str = ""

    def as_json(self) -> dict[str, Any]:
        """The entry under the names of ledger.json, reasons in alphabetical order."""
        row: dict[str, Any] = {
            "stage": self.stage,
            "unit": self.unit,
            "in": self.rows_in,
            "out": self.rows_out,
            "dropped": dict(sorted(self.dropped.items())),
        }
        return row | ({"example": self.example} if self.example else {})


class Ledger:
    """A balanced account of rows, stage by stage.

    >>> ledger = Ledger()
    >>> ledger.record("read", "diagnosis", rows_in=10, rows_out=8, dropped={"no_visit": 2})
    >>> ledger.record("read", "drug", rows_in=3, rows_out=2)
    Traceback (most recent call last):
    ValueError: ledger of read/drug does not balance: 3 in, 2 out, 0 dropped
    >>> [entry.unit for entry in ledger]
    ['diagnosis']
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self.quarantine: dict[str, pa.Table] = {}
        """The unusable rows themselves, a table a stage (written to OUT/quarantine)."""

    def record(
        self,
        stage: str,
        unit: str,
        *,
        rows_in: int,
        rows_out: int,
        dropped: Mapping[str, int] | None = None,
        example: str = "",
    ) -> None:
        """Add one balanced entry; reasons with a count of zero are left out.

        Raises:
            ValueError: the numbers do not balance. That is a fault of the program, not of the data.
        """
        kept = {reason: int(count) for reason, count in (dropped or {}).items() if count}
        if rows_in != rows_out + sum(kept.values()):
            raise ValueError(
                f"ledger of {stage}/{unit} does not balance: "
                f"{rows_in} in, {rows_out} out, {sum(kept.values())} dropped"
            )
        self._entries.append(Entry(stage, unit, int(rows_in), int(rows_out), kept, example))

    def extend(self, other: Ledger) -> None:
        """Take over all entries and quarantined rows of another ledger."""
        self._entries.extend(other)
        self.quarantine.update(other.quarantine)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def dropped(self, stage: str, unit: str | None = None) -> dict[str, int]:
        """Counts by reason over a stage (and unit)."""
        total: dict[str, int] = {}
        for entry in self._entries:
            if entry.stage == stage and unit in (None, entry.unit):
                for reason, count in entry.dropped.items():
                    total[reason] = total.get(reason, 0) + count
        return dict(sorted(total.items()))

    def as_json(self) -> list[dict[str, Any]]:
        """The entries as they stand in ledger.json."""
        return [entry.as_json() for entry in self._entries]

    def write(self, path: Path) -> None:
        """Write ledger.json, by rename."""
        text = json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n"
        write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Read a ledger.json back."""
        ledger = cls()
        for row in json.loads(path.read_text(encoding="utf-8")):
            ledger.record(
                row["stage"],
                row["unit"],
                rows_in=row["in"],
                rows_out=row["out"],
                dropped=row["dropped"],
                example=row.get("example", ""),
            )
        return ledger
