"""What a benchmark holds, in the order that is honest: templates first, items last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class Counts:
    """Counts of one benchmark, or of one task of it.

    Attributes:
        templates: distinct templates.
        relations: distinct relations that answers rest on.
        patients: distinct clusters (a keyed hash of the patient each).
        effective: effective sample size, see ``effective_size``.
        items: questions of any format.
    """

    task: str
    templates: int
    relations: int
    patients: int
    effective: float
    items: int


@dataclass(frozen=True)
class Description:
    """What ``Benchmark.describe`` returns; prints as a table.

    Attributes:
        total: counts over everything.
        by_task: counts a task, in alphabetical order.
        formats: number of items by format and number of options, as ("mcq4", 120).
        fingerprint: the content hash.
    """

    total: Counts
    by_task: tuple[Counts, ...]
    formats: tuple[tuple[str, int], ...]
    fingerprint: str

    def as_text(self) -> str:
        """A table in plain text."""
        lines = [
            f"{'':<12}{'templates':>10}{'relations':>10}{'patients':>10}"
            f"{'effective':>10}{'items':>10}"
        ]
        lines += [
            f"{row.task:<12}{row.templates:>10,}{row.relations:>10,}{row.patients:>10,}"
            f"{row.effective:>10,.1f}{row.items:>10,}"
            for row in (*self.by_task, self.total)
        ]
        lines.append(
            "items by format: "
            + (", ".join(f"{name} {count:,}" for name, count in self.formats) or "none")
        )
        return "\n".join([*lines, f"fingerprint: {self.fingerprint[:16]}"])

    def __str__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{name}</th>"
            for name in ("", "templates", "relations", "patients", "effective", "items")
        )
        body = "".join(
            f"<tr><th>{escape(row.task)}</th><td>{row.templates:,}</td><td>{row.relations:,}</td>"
            f"<td>{row.patients:,}</td><td>{row.effective:,.1f}</td><td>{row.items:,}</td></tr>"
            for row in (*self.by_task, self.total)
        )
        return f"<table><tr>{head}</tr>{body}</table>"


def effective_size(clusters: Iterable[str]) -> float:
    """How many independent templates so many clustered ones are worth at worst.

    (sum n)^2 / sum n^2 over the clusters (Kish 1965): what is left when the templates of one
    patient say the same thing.

    >>> effective_size(["a", "a", "b", "b"]), effective_size(["a"] * 9 + ["b"])
    (2.0, 1.22)
    """
    sizes = Counter(clusters).values()
    total = sum(sizes)
    return round(total * total / sum(size * size for size in sizes), 2) if total else 0.0


def describe(items: pa.Table, fingerprint: str) -> Description:
    """Count a benchmark.

    Args:
        items: columns template_id, relation_id, cluster, task, format, n_options of ITEMS.
        fingerprint: its content hash.
    """
    tasks = sorted(set(items["task"].to_pylist()))
    formats = Counter(
        f"{name}{n or ''}"
        for name, n in zip(items["format"].to_pylist(), items["n_options"].to_pylist(), strict=True)
    )
    return Description(
        total=_count("all", items),
        by_task=tuple(_count(task, items.filter(pc.equal(items["task"], task))) for task in tasks),
        formats=tuple(sorted(formats.items())),
        fingerprint=fingerprint,
    )


def _count(task: str, items: pa.Table) -> Counts:
    templates = items.group_by(["template_id"]).aggregate([("cluster", "min")])
    return Counts(
        task=task,
        templates=templates.num_rows,
        relations=pc.count_distinct(items["relation_id"]).as_py(),
        patients=pc.count_distinct(items["cluster"]).as_py(),
        effective=effective_size(templates["cluster_min"].to_pylist()),
        items=items.num_rows,
    )
