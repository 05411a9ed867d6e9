"""What a benchmark holds, in the order that is honest: templates first, items last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from ehrkg.benchmark.opened.columns import Rows
from ehrkg.benchmark.opened.source import Source

COLUMNS = ("templates", "relations", "patients", "effective", "items")
"""The counts in the order in which they are shown."""


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
    """

    total: Counts
    by_task: tuple[Counts, ...]
    formats: tuple[tuple[str, int], ...]

    def as_text(self) -> str:
        """A table in plain text."""
        lines = [f"{'':<12}" + "".join(f"{name:>10}" for name in COLUMNS)]
        lines += [
            f"{row.task:<12}{row.templates:>10,}{row.relations:>10,}{row.patients:>10,}"
            f"{row.effective:>10,.1f}{row.items:>10,}"
            for row in (*self.by_task, self.total)
        ]
        formats = ", ".join(f"{name} {count:,}" for name, count in self.formats)
        return "\n".join([*lines, f"items by format: {formats or 'none'}"])

    def __str__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("", *COLUMNS))
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

    Args:
        clusters: of each template.

    >>> effective_size(["a", "a", "b", "b"]), effective_size(["a"] * 9 + ["b"])
    (2.0, 1.22)
    """
    sizes = Counter(clusters).values()
    return _effective(sum(sizes), sum(size * size for size in sizes))


def _effective(total: int, squares: int) -> float:
    return round(total * total / squares, 2) if squares else 0.0


_TEMPLATES = (
    "WITH t AS (SELECT i.task AS task, i.template_id AS template, min(i.relation_id) AS relation, "
    "min(i.cluster) AS cluster, count(*) AS n {source} GROUP BY i.task, i.template_id) "
)
_COUNTS = _TEMPLATES + (
    "SELECT task, count(*) AS templates, count(DISTINCT relation) AS relations, "
    "count(DISTINCT cluster) AS patients, sum(n)::BIGINT AS items "
    "FROM t GROUP BY GROUPING SETS ((task), ())"
)
_SIZES = _TEMPLATES + (  # noqa: S608
    ", c AS (SELECT task, cluster, count(*) AS n FROM t "
    "GROUP BY GROUPING SETS ((task, cluster), (cluster))) "
    "SELECT task, sum(n)::BIGINT AS total, sum(n * n)::BIGINT AS squares FROM c GROUP BY task"
)
_FORMATS = "SELECT i.format AS format, i.n_options AS n, count(*) AS items {source} GROUP BY ALL"


def describe(source: Source, rows: Rows | None) -> Description:
    """Count a benchmark.

    Args:
        source: the tables it lies on.
        rows: its rows; all for ``None``.
    """

    def ask(sql: str) -> list[dict[str, object]]:
        answer: list[dict[str, object]] = source.ask(
            sql.replace("{source}", source.tables_of((), rows)), rows=rows
        ).to_pylist()
        return answer

    effective = {row["task"]: _effective(row["total"], row["squares"]) for row in ask(_SIZES)}  # type: ignore[arg-type]
    counted = {
        row["task"]: Counts(
            task="all" if row["task"] is None else str(row["task"]),
            templates=_int(row["templates"]),
            relations=_int(row["relations"]),
            patients=_int(row["patients"]),
            effective=effective.get(row["task"], 0.0),
            items=_int(row["items"]),
        )
        for row in ask(_COUNTS)
    }
    formats = {f"{row['format']}{row['n'] or ''}": _int(row["items"]) for row in ask(_FORMATS)}
    return Description(
        total=counted.pop(None, Counts("all", 0, 0, 0, 0.0, 0)),
        by_task=tuple(counted[task] for task in sorted(counted, key=str)),
        formats=tuple(sorted(formats.items())),
    )


def _int(value: object) -> int:
    return int(value or 0)  # type: ignore[call-overload, no-any-return]
