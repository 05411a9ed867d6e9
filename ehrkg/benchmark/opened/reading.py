"""What reads a benchmark and cuts nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.opened import views
from ehrkg.benchmark.opened.columns import Rows
from ehrkg.benchmark.opened.describe import Description, describe
from ehrkg.benchmark.opened.identity import fingerprint_of, fingerprint_said, maker, manifest_of
from ehrkg.benchmark.opened.recipes import Recipe, Step, digest_of
from ehrkg.benchmark.opened.source import Source
from ehrkg.foundation.errors import UsageError
from ehrkg.graph import open_store
from ehrkg.graph.place import place_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from ehrkg.benchmark.opened.benchmark import Benchmark


class Reading:
    """Rows of a source, read when they are asked for.

    Attributes:
        cluster_column: the column by which intervals and splits cluster: a keyed hash of the
            patient.
    """

    cluster_column = "cluster"
    _source: Source
    _rows: Rows | None
    _steps: tuple[Step, ...]
    _store: Any
    _folder: Path | None
    _whole: Benchmark

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"a benchmark can't be changed: {name} stays as it is")
        object.__setattr__(self, name, value)

    @property
    def store(self) -> Any:
        """What answers the queries of ``subset`` and ``join``; ``None`` if nothing was given."""
        return self._store

    @property
    def folder(self) -> Path | None:
        """The folder of the build; ``None`` for tables in memory."""
        return self._folder

    @property
    def whole(self) -> Benchmark:
        """The benchmark that this one was cut from; itself where nothing was cut.

        >>> from ehrkg.benchmark import example
        >>> len(example().filter(split="test").whole) == len(example())
        True
        """
        return self._whole

    @property
    def columns(self) -> list[str]:
        """The columns that an item has here, in order; those that were joined come last."""
        joined = (
            name
            for beside in self._source.joined.values()
            for name in beside.columns.names
            if name != beside.key
        )
        return [*self._source.items.names, *joined]

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of the items, of their templates, their relations, or what was joined.

        Returns:
            One value an item.

        Raises:
            UsageError: nothing has a column of that name; it says which are near.

        >>> from ehrkg.benchmark import example
        >>> example().column("score").unique().to_pylist()
        [0.8, 0.85, 0.9, 0.95]
        """
        return self._source.column(name, self._rows)

    def count(self, *by: str) -> pa.Table:
        """How many items there are of each combination of values.

        Args:
            by: columns, as in ``column``.

        Returns:
            The columns, and ``items``; sorted by the columns.

        Raises:
            UsageError: a column is unknown.

        >>> from ehrkg.benchmark import example
        >>> example().count("split", "format").to_pylist()[0]
        {'split': 'dev', 'format': 'mcq', 'items': 4}
        """
        places = [f'{self._source.place(name)} AS "{name}"' for name in by]
        return self._source.ask(
            f"SELECT {', '.join([*places, 'count(*) AS items'])} "
            f"{self._source.tables_of(by, self._rows)} "
            + (f"GROUP BY ALL ORDER BY {', '.join(str(n + 1) for n in range(len(by)))}" * bool(by)),
            rows=self._rows,
        )

    def __len__(self) -> int:
        return self._source.num_rows if self._rows is None else len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for page in self.pages():
            yield from page.to_pylist()

    def __getitem__(self, at: int) -> dict[str, Any]:
        """The item at a position (from 0; from the end below 0)."""
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(f"item {at} of {len(self):,}")
        row = place if self._rows is None else int(self._rows[place])
        found: dict[str, Any] = next(self._pages(pa.array([row]).to_numpy())).to_pylist()[0]
        return found

    def pages(self, *more: str) -> Iterator[pa.RecordBatch]:
        """The items in order, about a thousand at a time, without holding them all.

        Args:
            more: further columns, as in ``column``; only these are held whole.

        >>> from ehrkg.benchmark import example
        >>> [(page.num_rows, page.column_names[-1]) for page in example().pages("age")]
        [(24, 'age')]
        """
        yield from self._pages(self._rows, more)

    def _pages(self, rows: Rows | None, more: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        joined = [*self.columns[len(self._source.items.names) :], *more]
        at = 0
        held = [self._source.column(name, rows) for name in joined]
        for page in self._source.items.pages(rows):
            whole = page
            for name, column in zip(joined, held, strict=True):
                part = pa.concat_arrays(column.slice(at, page.num_rows).chunks)
                whole = whole.append_column(name, part)
            at += page.num_rows
            yield whole

    def to_arrow(self) -> pa.Table:
        """The items as a table with the schema ITEMS and what was joined, sorted by item_id.

        >>> from ehrkg.benchmark import example
        >>> example().to_arrow().num_rows, example().to_pandas().shape[0]
        (24, 24)
        """
        if self._rows is None and not self._source.joined:
            return self._source.items.table()
        pages = list(self.pages())
        if pages:
            return pa.Table.from_batches(pages).combine_chunks()
        return pa.table({name: pa.array([], self._source.type(name)) for name in self.columns})

    def to_pandas(self) -> pd.DataFrame:
        """The items as a pandas DataFrame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """The items as a polars DataFrame.

        Raises:
            UsageError: polars is not installed.
        """
        try:
            import polars
        except ImportError as error:
            raise UsageError(
                "polars is not installed", todo="pip install polars, or take to_arrow()"
            ) from error
        frame = polars.from_arrow(self.to_arrow())
        if not isinstance(frame, polars.DataFrame):
            raise TypeError(frame)
        return frame

    def templates(self) -> pa.Table:
        """The templates of these items, with the schema TEMPLATES, sorted by id."""
        table = self._source.templates.table()
        if self._rows is None and not len(self):
            return table.slice(0, 0)
        return table.filter(pc.is_in(table["id"], value_set=pc.unique(self.column("template_id"))))

    def beside(self, name: str) -> pa.Table | None:
        """A table of the build that lies beside this one: relations, evidence, events or pool.

        Returns:
            The table, or ``None`` where this benchmark was made without it.
        """
        return self._source.held(name)

    @contextmanager
    def asking(self, store: Any = None) -> Iterator[Any]:
        """What queries go to: what is given, the benchmark's own store, or the build's graph.

        Raises:
            InputError: the graph beside it is damaged.
            ServiceError: another process holds it, or the server that holds it is not there.
        """
        if store is not None or self._store is not None:
            yield store if store is not None else self._store
            return
        place = place_of(self._folder, manifest_of(self._folder)) if self._folder else None
        if place is None or (isinstance(place, Path) and not place.exists()):
            yield None
            return
        with open_store(place, read_only=True) as opened:
            yield opened

    def export(self, to: str, folder: str | Path, **options: Any) -> Path:
        """Write the items in the form of another tool, with a datasheet.

        Args:
            to: a format: ``ehrkg.benchmark.exports.EXPORTS`` lists them.
            folder: a new folder, or an empty one.
            options: the format's own.

        Returns:
            The folder.

        Raises:
            UsageError: there is no such format, or this benchmark can't be written in it.
            InputError: the folder holds something, or can't be written.

        >>> import tempfile
        >>> from ehrkg.benchmark import example
        >>> folder = example().export("jsonl", tempfile.mkdtemp())
        >>> sorted(path.name for path in folder.iterdir())
        ['DATASHEET.md', 'questions.jsonl']
        """
        from ehrkg.benchmark.exports import export

        return export(self, to, Path(folder), **options)  # type: ignore[arg-type]

    def perturbed(self, name: str, *, seed: int = 7, facts: Any = None) -> Any:
        """The items put otherwise, with their right answers what they were, each under its own id.

        Args:
            name: of a perturbation: ``ehrkg.evaluation.PERTURBATIONS`` lists them.
            seed: of its draws.
            facts: what the items were made from (``ehrkg.benchmark.Facts``); read out of the graph
                by default, where the perturbation needs them.

        Returns:
            A benchmark of the items that can be put so; ``ehrkg.evaluation.perturb`` also tells
            why the others can't.

        Raises:
            UsageError: there is no such perturbation, or no graph to read.

        >>> from ehrkg.benchmark import example
        >>> len(example().perturbed("option_order"))
        12
        """
        # Asked for by name and only here: what evaluates is built on benchmarks, not they on it.
        evaluation = import_module("ehrkg.evaluation")
        (found,) = evaluation.perturb(self, [name], seed=seed, facts=facts)
        return found.benchmark

    # What it is

    @cached_property
    def fingerprint(self) -> str:
        """The content hash of items and templates: what makes two benchmarks the same.

        Neither what was joined counts, nor how the files were written.
        """
        if self._rows is None:
            said = fingerprint_said(self._folder)
            if said is not None:
                return said
        return fingerprint_of(self.to_arrow().select(self._source.items.names), self.templates())

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the build; an empty one for tables in memory."""
        return manifest_of(self._folder)

    @property
    def version(self) -> str:
        """Which ehrkg made the whole, and the beginning of the whole's fingerprint."""
        return f"{maker(self.manifest)}-{self._whole_fingerprint()[:8]}"

    @property
    def recipe(self) -> Recipe:
        """The steps that cut this benchmark out of the whole one; ``from_recipe`` does them again.

        It holds the values that were filtered by and the texts of queries, and no question.
        """
        return Recipe(
            self._whole_fingerprint(),
            self._steps,
            len(self),
            digest_of(self.column("item_id").to_pylist()),
        )

    def describe(self) -> Description:
        """Templates, relations, patients and effective size, then items, in all and by task.

        >>> from ehrkg.benchmark import example
        >>> print(example().describe())
                     templates relations  patients effective     items
        treatment           12         4         6       6.0        24
        all                 12         4         6       6.0        24
        items by format: mcq4 12, oeq 12
        """
        return describe(self._source, self._rows)

    def _whole_fingerprint(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        total = self.describe().total
        return (
            f"<Benchmark: {total.templates:,} templates, {total.relations:,} relations, "
            f"{total.patients:,} patients, effective size {total.effective:,.1f}; "
            f"{total.items:,} items>"
        )

    def _repr_html_(self) -> str:
        return views.as_html(self)  # type: ignore[arg-type]
