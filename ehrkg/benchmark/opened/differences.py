"""What two versions of a benchmark have in common, and what not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

CHANGED = pa.schema([("item_id", pa.string()), ("columns", pa.list_(pa.string()))])
"""Items that are in both but not alike, with the columns that differ. Sorted by item_id."""

VERDICTS = pa.schema([("relation_id", pa.string()), ("old", pa.string()), ("new", pa.string())])
"""Relations whose verdict is another one; "" where a side lacks the relation."""

_SHOWN = 5


@dataclass(frozen=True)
class Difference:
    """What ``Benchmark.diff`` gives; prints as text.

    Attributes:
        added: the questions of the newer one that the older one lacks.
        removed: those of the older one that the newer one lacks.
        changed: CHANGED.
        verdicts: VERDICTS; ``None`` where a side came without its relations.
        same: how many questions are alike in all columns.

    >>> from ehrkg.benchmark import example
    >>> bench = example()
    >>> found = bench.diff(bench.filter(sex="F"))
    >>> bool(found), len(found.removed), found.same
    (True, 12, 12)
    """

    added: Benchmark
    removed: Benchmark
    changed: pa.Table
    verdicts: pa.Table | None
    same: int

    def __bool__(self) -> bool:
        verdicts = self.verdicts is not None and self.verdicts.num_rows
        return bool(len(self.added) or len(self.removed) or self.changed.num_rows or verdicts)

    def as_text(self) -> str:
        """The difference, a line a fact."""
        lines = [
            f"{self.same:,} items are the same, {len(self.added):,} were added, "
            f"{len(self.removed):,} removed, {self.changed.num_rows:,} changed"
        ]
        lines += [
            f"  changed {row['item_id']}: {', '.join(row['columns'])}"
            for row in self.changed.slice(0, _SHOWN).to_pylist()
        ]
        if self.verdicts is not None:
            lines.append(f"{self.verdicts.num_rows:,} relations have another verdict")
            lines += [
                f"  {row['relation_id']}: {row['old'] or 'not there'} -> "
                f"{row['new'] or 'not there'}"
                for row in self.verdicts.slice(0, _SHOWN).to_pylist()
            ]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values; items by their ids."""
        return {
            "same": self.same,
            "added": self.added.column("item_id").to_pylist(),
            "removed": self.removed.column("item_id").to_pylist(),
            "changed": self.changed.to_pylist(),
            "verdicts": self.verdicts.to_pylist() if self.verdicts is not None else None,
        }

    def __str__(self) -> str:
        return self.as_text()


def differences(old: Benchmark, new: Benchmark) -> Difference:
    """Compare two benchmarks, by item id and column by column."""
    before, after = old.column("item_id"), new.column("item_id")
    added = ~np.asarray(pc.is_in(after, value_set=before), dtype=bool)
    removed = ~np.asarray(pc.is_in(before, value_set=after), dtype=bool)
    changed: dict[str, list[str]] = {}
    if not removed.all():
        ids = before.filter(pa.array(~removed)).to_pylist()
        at = [pc.index_in(pa.array(ids), value_set=side) for side in (before, after)]
        for name in sorted({*old.columns, *new.columns} - {"item_id"}):
            for position in _unlike(old, new, name, at):
                changed.setdefault(ids[position], []).append(name)
    rows = [{"item_id": item, "columns": names} for item, names in sorted(changed.items())]
    return Difference(
        added=new._cut(added, {"do": "added since", "other": old.fingerprint}),
        removed=old._cut(removed, {"do": "removed since", "other": new.fingerprint}),
        changed=pa.Table.from_pylist(rows, CHANGED),
        verdicts=_verdicts(old.beside("relations"), new.beside("relations")),
        same=int((~removed).sum()) - len(rows),
    )


def _unlike(old: Benchmark, new: Benchmark, name: str, at: list[pa.Array]) -> list[int]:
    """Positions, among the items of both, at which a column differs."""
    if name not in old.columns or name not in new.columns:
        return list(range(len(at[0])))
    values = [side.column(name).take(where) for side, where in zip((old, new), at, strict=True)]
    if values[0].equals(values[1]):
        return []
    pairs = zip(*(side.to_pylist() for side in values), strict=True)
    return [position for position, (one, other) in enumerate(pairs) if one != other]


def _verdicts(old: pa.Table | None, new: pa.Table | None) -> pa.Table | None:
    if old is None or new is None:
        return None
    before, after = (
        dict(zip(side["id"].to_pylist(), side["verdict"].to_pylist(), strict=True))
        for side in (old, new)
    )
    rows = [
        {"relation_id": one, "old": before.get(one, ""), "new": after.get(one, "")}
        for one in sorted({*before, *after})
        if before.get(one, "") != after.get(one, "")
    ]
    return pa.Table.from_pylist(rows, VERDICTS)
