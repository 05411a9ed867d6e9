"""What a person sees in the terminal: a bar a stage, and a closing summary."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from ehrkg.benchmark.opened.identity import manifest_of
from ehrkg.evaluation.measures.summary import accuracy_by
from ehrkg.evaluation.metrics import effective_size
from ehrkg.evaluation.scoring.planted import PlantedShare
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.workspace import read_final
from ehrkg.graph.place import place_of
from ehrkg.verify import by_proposer


class StageBars:
    """One line a stage, in the order in which stages begin; a bar shows real steps or nothing.

    A stage that reports steps shows how many are done; one that reports none shows only the time it
    takes. A bar is full when its stage says so, never before.
    """

    def __init__(self, console: Console) -> None:
        self._bars = Bars(
            TextColumn("{task.description:<44}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        )
        self._open: TaskID | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._finish()
        self._bars.stop()

    def __call__(self, stage: str) -> StageBar:
        """Begin the line of a stage, which ends the line before."""
        self._finish()
        self._open = self._bars.add_task(stage, total=None)
        return StageBar(self._bars, self._open, stage)

    def _finish(self) -> None:
        if self._open is not None:
            for task in self._bars.tasks:
                if task.id == self._open:
                    total = task.total or 1
                    self._bars.update(self._open, total=total, completed=total)
            self._bars.stop_task(self._open)


class StageBar:
    """A stage's line; the ``Progress`` that the stage is given."""

    def __init__(self, bars: Bars, task: TaskID, stage: str) -> None:
        self._bars, self._task, self._stage = bars, task, stage

    def start(self, description: str, total: int) -> None:
        """A step of the stage begins that consists of ``total`` units."""
        self._bars.reset(
            self._task, total=max(total, 1), description=f"{self._stage}: {description}"
        )

    def advance(self, units: int = 1) -> None:
        """So many of them are done."""
        self._bars.advance(self._task, units)


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def seconds(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self._began


def text_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> Table:
    """A table for the terminal: the first column to the left, others to the right."""
    table = Table(title=Text(title), title_justify="left", title_style="bold", show_edge=False)
    for place, name in enumerate(columns):
        table.add_column(Text(name), justify="left" if place == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(f"{x:,}" if isinstance(x, int) else str(x)) for x in row))
    return table


def show_build(
    console: Console,
    out: Path,
    ledger: Ledger,
    *,
    planted: Iterable[PlantedShare] = (),
    seconds: float | None = None,
) -> None:
    """Print the closing summary of a build.

    Args:
        console: where to.
        out: the build's folder.
        ledger: its ledger.
        planted: on synthetic tables, how what was planted fared.
        seconds: how long it took.
    """
    relations = read_final(out, "relations")
    templates = read_final(out, "templates")
    items = read_final(out, "items")
    scores = read_final(out, "scores")
    console.print()
    console.print(_read_table(ledger))
    console.print(_verdict_table(relations))
    console.print(_proposer_table(by_proposer(relations)))
    console.print(_task_table(templates, items))
    console.print(_baseline_table(scores))
    shares = list(planted)
    if shares:
        rows = [
            (
                "true relations" if share.kind == "planted" else "noise",
                share.planted,
                share.proposed,
                share.supported,
                f"{100 * share.supported / max(share.planted, 1):.0f} %",
            )
            for share in shares
        ]
        console.print(
            text_table(
                "What was planted in the synthetic tables",
                ("kind of rule", "planted", "proposed", "supported", "share"),
                rows,
            )
        )
    if seconds is not None:
        console.print(f"Done in {seconds:.0f} s.")
    console.print(f"Report: [bold]{out / 'report.html'}[/bold]")
    for line in next_steps(out, templates, items):
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)


def _read_table(ledger: Ledger) -> Table:
    rows = [
        (
            entry.unit,
            entry.rows_in,
            entry.rows_out,
            "; ".join(f"{reason} {count:,}" for reason, count in sorted(entry.dropped.items())),
        )
        for entry in ledger
        if entry.stage == "read"
    ]
    return text_table("What came in", ("table", "rows", "used", "left out, and why"), rows)


def _verdict_table(relations: pa.Table) -> Table:
    pairs = zip(relations["predicate"].to_pylist(), relations["verdict"].to_pylist(), strict=True)
    counts = Counter(pairs)
    verdicts = ("supported", "contradicted", "ambiguous", "unsupported")
    rows = [
        (predicate, *(counts[predicate, verdict] for verdict in verdicts))
        for predicate in sorted({predicate for predicate, _ in counts})
    ]
    return text_table("What was proposed, and the verdicts", ("predicate", *verdicts), rows)


def _proposer_table(worth: pa.Table) -> Table:
    names = [name.replace("_", " ") for name in worth.column_names]
    rows = [["" if x is None else x for x in row.values()] for row in worth.to_pylist()]
    return text_table("By proposer", names, rows)


def _task_table(templates: pa.Table, items: pa.Table) -> Table:
    rows: list[tuple[object, ...]] = []
    everything = templates.select(["task", "relation", "cluster"]).to_pylist()
    asked = Counter(items["task"].to_pylist())
    for task in (*sorted({row["task"] for row in everything}), "all"):
        own = [row for row in everything if task in ("all", row["task"])]
        clusters = [row["cluster"] for row in own]
        rows.append(
            (
                task,
                len(own),
                len({row["relation"] for row in own}),
                len(set(clusters)),
                f"{effective_size(clusters):.0f}",
                asked[task] if task != "all" else items.num_rows,
            )
        )
    columns = ("task", "templates", "relations", "patients", "effective size", "questions")
    return text_table("Templates and questions", columns, rows)


def _baseline_table(scores: pa.Table) -> Table:
    rows = [
        (
            row["model"] + (" (key source)" if row["key_source"] else ""),
            row["task"],
            f"{100 * row['accuracy']:.1f} %",
            f"{100 * row['low']:.1f} to {100 * row['high']:.1f}",
            f"{100 * row['chance']:.0f} %",
        )
        for row in accuracy_by(scores).to_pylist()
        if row["setting"] == "plain" and row["n_options"] == 4
    ]
    return text_table(
        "Baselines, four options", ("model", "task", "accuracy", "95 % interval", "chance"), rows
    )


def next_steps(out: Path, templates: pa.Table, items: pa.Table) -> list[str]:
    """The two or three things worth trying next, as command lines.

    Args:
        out: the build's folder.
        templates: its templates.
        items: its items.
    """
    if not templates.num_rows:
        return [f"no question came out: see {out / 'ledger.json'} for what each rule dropped"]
    first: str = items["item_id"][0].as_py()
    return [
        f"Open the report in a browser: {out / 'report.html'}",
        f"Trace a question to its rows: ehrkg explain {first} --graph {_graph(out)}",
        "Use your own tables: ehrkg build FOLDER --out OUT",
    ]


def _graph(out: Path) -> str:
    """Where a build's graph lies, as a shell takes it."""
    place = place_of(out, manifest_of(out))
    return f"'{place}'" if isinstance(place, str) else str(place)


def show_rows(console: Console, table: pa.Table, title: str = "") -> None:
    """Print a query's table."""
    rows: list[Mapping[str, Any]] = table.to_pylist()
    console.print(
        text_table(title, table.column_names, [[_plain(row[c]) for c in row] for row in rows])
    )
    console.print(f"{table.num_rows:,} rows")


def _plain(value: object) -> object:
    return "" if value is None else value
