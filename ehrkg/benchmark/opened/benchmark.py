"""A benchmark in the hand: immutable, read from Parquet column by column, cut and counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.benchmark.opened import concatenation
from ehrkg.benchmark.opened.cuts import Split, sample_rows, split_rows
from ehrkg.benchmark.opened.differences import Difference, differences
from ehrkg.benchmark.opened.joins import as_table, beside_of
from ehrkg.benchmark.opened.reading import Reading
from ehrkg.benchmark.opened.recipes import Recipe, Step, as_said, digest_of
from ehrkg.benchmark.opened.replay import replay
from ehrkg.benchmark.opened.reviews import kept
from ehrkg.benchmark.opened.selection import ask, rows_of, select
from ehrkg.benchmark.opened.source import Source
from ehrkg.foundation.errors import InputError, UsageError

EVALUATION = "ehrkg.evaluation"
"""The package that evaluates."""

BESIDE = ("relations", "evidence", "events", "pool")
"""Tables of a build that may lie beside its questions."""

_IDS = ("item_id", "template_id", "relation_id")


class Benchmark(Reading):
    """Questions with their templates. Every method gives a new benchmark; none changes this one.

    Args:
        items: a table with the schema ITEMS, or the Parquet file that holds it.
        templates: a table with the schema TEMPLATES, or its file.
        relations: RELATIONS, or its file; their columns can be filtered by.
        evidence: EVIDENCE, or its file; exports name its sources.
        events: EVENTS, or its file; only some checks look at it.
        pool: POOL, or its file; likewise.
        store: what answers the queries of ``subset`` and ``join``.

    Raises:
        InputError: a column is missing, or an item's template is not there.

    >>> from ehrkg.benchmark.schema import ITEMS, TEMPLATES
    >>> bench = Benchmark(ITEMS.empty_table(), TEMPLATES.empty_table())
    >>> len(bench), bench.describe().total.templates, bench.cluster_column
    (0, 0, 'cluster')
    """

    def __init__(
        self,
        items: pa.Table | str | Path,
        templates: pa.Table | str | Path,
        *,
        relations: pa.Table | Path | None = None,
        evidence: pa.Table | Path | None = None,
        events: pa.Table | Path | None = None,
        pool: pa.Table | Path | None = None,
        store: Any = None,
    ) -> None:
        beside = {"relations": relations, "evidence": evidence, "events": events, "pool": pool}
        self._source = Source(items, templates, beside)
        self._store = store
        self._rows = None
        self._steps: tuple[Step, ...] = ()
        self._folder: Path | None = None
        self._whole: Benchmark = self
        self._made_by: Mapping[str, Any] = {}

    @classmethod
    def open(cls, path: str | Path, *, store: Any = None) -> Benchmark:
        """The benchmark of a build's folder; columns are read when they are asked for.

        Args:
            path: a folder with items.parquet and templates.parquet.
            store: what answers queries (a knowledge graph of ``ehrkg.open``); by default the
                graph.lbug of the folder, opened for the time of a query.

        Raises:
            InputError: one of the files is not there or can't be read.
        """
        folder = Path(path)
        for name in ("items.parquet", "templates.parquet"):
            if not (folder / name).is_file():
                raise InputError(
                    "this folder holds no finished benchmark",
                    file=folder / name,
                    todo="run ehrkg build, or name another folder",
                )
        beside = {name: folder / f"{name}.parquet" for name in BESIDE}
        made = cls(
            folder / "items.parquet",
            folder / "templates.parquet",
            store=store,
            **{name: path for name, path in beside.items() if path.is_file()},
        )
        made._folder = folder
        return made

    @classmethod
    def from_tables(
        cls,
        *,
        templates: pa.Table,
        items: pa.Table,
        relations: pa.Table | None = None,
        evidence: pa.Table | None = None,
        events: pa.Table | None = None,
        pool: pa.Table | None = None,
        store: Any = None,
        made_by: Mapping[str, Any] | None = None,
    ) -> Benchmark:
        """The benchmark of tables in memory; see the class for what they are, and ``made_by``."""
        made = cls(
            items,
            templates,
            relations=relations,
            evidence=evidence,
            events=events,
            pool=pool,
            store=store,
        )
        made._made_by = dict(made_by or {})
        return made

    @property
    def made_by(self) -> dict[str, Any]:
        """The arguments of ``kg.instantiate`` that make the whole again; {} where it did not."""
        return dict(self._made_by)

    @classmethod
    def from_recipe(
        cls,
        recipe: Recipe | str | Path | Mapping[str, Any],
        *sources: Benchmark | str | Path,
        store: Any = None,
    ) -> Benchmark:
        """Cut a benchmark out of the whole again, as a recipe says.

        Args:
            recipe: ``bench.recipe``, the file it was written to, or what that file holds.
            sources: the wholes that it names, by their fingerprints: one, or several where
                benchmarks were put together; benchmarks, or the folders of their builds.
            store: what answers the recipe's queries; by default what each source has.

        Returns:
            A benchmark with the same questions, and the same fingerprint.

        Raises:
            InputError: the recipe can't be read, is of another benchmark, or gives other questions
                than it did (a graph that was built anew, say).

        >>> from ehrkg.benchmark import example
        >>> part = example().filter(format="mcq").sample(5, seed=3)
        >>> Benchmark.from_recipe(part.recipe, example()).fingerprint == part.fingerprint
        True
        """
        if isinstance(recipe, str | Path):
            recipe = Recipe.read(recipe)
        elif not isinstance(recipe, Recipe):
            recipe = Recipe.of(recipe)
        wholes = [one if isinstance(one, Benchmark) else cls.open(one) for one in sources]
        return replay(recipe, wholes, store=store)

    # Cutting it

    def filter(self, **columns: Any) -> Benchmark:
        """The items for which every condition holds.

        Args:
            columns: ``column=value`` or ``column=[one, of, these]`` over the columns of items,
                templates, relations and what was joined; ``min_x=`` and ``max_x=`` bound a column
                of numbers from below and above (``min_score=0.9``; the score is the relation's).
                For a column of lists, an item stays if any member of its list is among the
                values; ``None`` stands for what is missing. ``reviewed=`` takes what readers of
                ``ehrkg view`` said: True, False, "twice", "sound" or "unsound".

        Raises:
            UsageError: there is no such column, or a value does not fit it.

        >>> from ehrkg.benchmark import example
        >>> len(example().filter(format="mcq", min_score=0.9, sex="M"))
        6
        """
        if "reviewed" in columns and "reviewed" not in self._source.names:
            reviewed = columns.pop("reviewed")
            return (self.filter(**columns) if columns else self)._cut_reviewed(reviewed)
        said = {name: as_said(value) for name, value in sorted(columns.items())}
        return self._cut_rows(self._source.rows_where(columns), {"do": "filter", **said})

    def subset(
        self, ids: Iterable[str] | str | Path, *, store: Any = None, **params: Any
    ) -> Benchmark:
        """The items of the templates, relations or items that are named.

        Args:
            ids: template, relation or item ids; or a Cypher query that returns such, or the name
                of one that ships ("cardiology"), or a file of yours.
            store: what runs the query: an object with ``query(cypher, **params) -> pa.Table``;
                the benchmark's own ``store`` by default, else the graph in its folder.
            params: the query's parameters.

        Raises:
            UsageError: a query without a store, a result without ids, or an id that is not here.

        >>> from ehrkg.benchmark import example
        >>> example().subset(["t03", "r1"]).count("template_id")["template_id"].to_pylist()
        ['t01', 't03', 't05', 't09']
        """
        if isinstance(ids, str | Path):
            with self.asking(store) as asked:
                selected = select(ids, asked, params)
            if selected.places is not None:
                raise UsageError(
                    "the query names places to ask at, not questions",
                    todo="kg.instantiate(query=...) makes questions of places; a subset needs ids",
                )
            wanted = selected.ids
            found = {"found": digest_of(wanted.to_pylist())}
            step: Step = {"do": "subset", **selected.recipe, **found}
        else:
            wanted = pa.array(sorted(set(ids)), pa.string())
            step = {"do": "subset", "ids": wanted.to_pylist()}
        keep = rows_of(wanted, [self.column(name) for name in _IDS], also_known=self._all_ids())
        return self._cut(keep, step)

    def sample(self, n: int, *, by: str | Sequence[str] | None = None, seed: int = 7) -> Benchmark:
        """A random part of n items, the same for the same seed whatever else is in the benchmark.

        Args:
            n: how many; all, where there are no more.
            by: a column, or several: each combination of values gets its share of n.
            seed: names the draw.

        Raises:
            UsageError: n is negative or a column is unknown.

        >>> from ehrkg.benchmark import example
        >>> example().sample(8, by="format").count("format").to_pydict()
        {'format': ['mcq', 'oeq'], 'items': [4, 4]}
        """
        if n < 0:
            raise UsageError(f"a sample of {n} items", todo="ask for none or more")
        names = [by] if isinstance(by, str) else list(by or ())
        rows = sample_rows(self._source, self._rows, n, names, seed=seed)
        return self._with(rows, {"do": "sample", "n": n, "by": names, "seed": seed})

    def split(self, by: str, *, test: float = 0.5, seed: int = 7) -> Split:
        """Two parts that share no patient, no relation, or neither.

        Args:
            by: "patient", "relation" or "both".
            test: the share of patients (or relations) that falls to the test part.
            seed: names the draw.

        Raises:
            UsageError: an unknown word, a share outside (0, 1), or a part that would be empty.

        >>> from ehrkg.benchmark import example
        >>> train, test, set_aside = example().split("patient")
        >>> set(train.column("cluster").to_pylist()) & set(test.column("cluster").to_pylist())
        set()
        """
        in_train, in_test = split_rows(self._source, self._rows, by, test=test, seed=seed)
        step = {"do": "split", "by": by, "test": test, "seed": seed}
        return Split(
            self._cut(in_train, {**step, "part": "train"}),
            self._cut(in_test, {**step, "part": "test"}),
            int((~in_train & ~in_test).sum()),
        )

    # Putting it together

    def join(
        self, properties: Any, *, on: str | None = None, store: Any = None, **params: Any
    ) -> Benchmark:
        """The same items with further columns, out of the graph or of a table of yours.

        Args:
            properties: a Cypher query, the name of one that ships, a file of yours; or a table
                (Arrow, pandas, polars, a list of dicts). One column says to which items a row
                belongs (``RETURN t.id AS template_id, ...``); the others are added.
            on: that column; by default the first that is named like a column of the items.
            store: what runs the query; see ``subset``.
            params: the query's parameters.

        Returns:
            A benchmark with the same fingerprint; what a row is lacking for is null.

        Raises:
            UsageError: no column says to which items a row belongs, a name is taken, or two rows
                belong to the same.

        >>> from ehrkg.benchmark import example
        >>> more = example().join([{"relation_id": "r2", "ward": "rheumatology"}])
        >>> len(more.filter(ward="rheumatology"))
        6
        """
        if isinstance(properties, str | Path):
            with self.asking(store) as asked:
                answer, recipe = ask(properties, asked, params)
            step: Step = {"do": "join", **recipe, "on": on}
        else:
            answer = as_table(properties)
            step = {"do": "join", "rows": answer.to_pylist(), "on": on}
        made = self._with(self._rows, step)
        name = f"joined_{len(self._source.joined) + 1}"
        made._source = self._source.with_joined(name, beside_of(self._source, answer, on))
        return made

    def concat(self, *others: Benchmark) -> Benchmark:
        """This benchmark and others as one; an item that several hold stands once.

        Args:
            others: cuts of the same whole, or benchmarks of other builds.

        Raises:
            UsageError: two hold different questions under one id, or the same admissions under
                other ids (MIMIC-III beside MIMIC-IV).

        >>> from ehrkg.benchmark import example
        >>> bench = example()
        >>> women, men = bench.filter(sex="F"), bench.filter(sex="M")
        >>> women.concat(men).fingerprint == bench.fingerprint
        True
        """
        return concatenation.concat(self, others)

    def diff(self, newer: Benchmark) -> Difference:
        """What a newer version adds, lacks and says otherwise.

        Args:
            newer: another build of the same tables, say.

        >>> from ehrkg.benchmark import example
        >>> bench = example()
        >>> print(bench.diff(bench.filter(split="test")))
        8 items are the same, 0 were added, 16 removed, 0 changed
        """
        return differences(self, newer)

    # Evaluating it

    def evaluate(self, *models: Any, query: str | None = None, **settings: Any) -> Any:
        """Score models on these items; see ``ehrkg.evaluation``.

        Args:
            models: what ``ehrkg.evaluation`` takes.
            query: score the ``subset`` of this Cypher query only (needs ``store=``).
            settings: passed on.

        Raises:
            UsageError: a model lacks the methods to answer with.
        """
        if query is not None:
            bench = self.subset(query, store=settings.pop("store", None))
            return bench.evaluate(*models, **settings)
        # Asked for by name and only here: what evaluates is built on benchmarks, not they on it.
        return import_module(EVALUATION).evaluate(self, *models, **settings)

    # Inside

    def _cut(self, keep: npt.NDArray[np.bool_], step: Step) -> Benchmark:
        """The items at which there is a truth."""
        at = np.flatnonzero(keep).astype(np.int64)
        return self._with(at if self._rows is None else self._rows[at], step)

    def _cut_rows(self, found: npt.NDArray[np.int64], step: Step) -> Benchmark:
        """The items of this benchmark among some rows of the whole."""
        if self._rows is not None:
            found = np.intersect1d(self._rows, found, assume_unique=True)
        return self._with(found, step)

    def _cut_reviewed(self, reviewed: bool | str, size: int | None = None) -> Benchmark:
        return self._cut(*kept(self._folder, self.column("item_id"), reviewed, size=size))

    def _with(self, rows: npt.NDArray[np.int64] | None, step: Step | None) -> Benchmark:
        made = object.__new__(type(self))
        kept = {name: value for name, value in self.__dict__.items() if name != "fingerprint"}
        made.__dict__.update(kept)
        made._rows = rows
        made._steps = self._steps if step is None else (*self._steps, step)
        return made

    def _all_ids(self) -> list[pa.ChunkedArray]:
        """Ids that may be named though no question here has them: of what was cut away."""
        templates = self._source.templates
        whole = [templates["id"], templates["relation"]]
        relations = self._source.tables.get("relations")
        return whole if relations is None else [*whole, relations.columns["id"]]

    def _whole_fingerprint(self) -> str:
        return self._whole.fingerprint
