"""A benchmark in the hand: immutable, read from Parquet column by column, cut and counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.columns import Columns
from ehrkg.benchmark.conditions import BOUNDS, holds
from ehrkg.benchmark.describe import Description, describe
from ehrkg.benchmark.schema import ITEMS, TEMPLATES
from ehrkg.benchmark.selection import rows_of, select
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.hashing import hash64, hash_strings, unit
from ehrkg.foundation.storage import content_hash, read_parquet

if TYPE_CHECKING:
    import pandas as pd

Rows = npt.NDArray[np.int64]

SPLITS = {"patient": ("cluster",), "relation": ("relation_id",), "both": ("cluster", "relation_id")}
"""What the two parts of a split do not share, by the word for it."""

EVALUATION = "ehrkg.evaluation"
"""The package that evaluates."""

_IDS = ("item_id", "template_id", "relation_id")


class Split(NamedTuple):
    """Two parts of a benchmark that share no patient, no relation, or neither.

    Attributes:
        train, test: the parts.
        set_aside: how many items fit in neither (only with "both": their patient fell to one
            part and their relation to the other).
    """

    train: Benchmark
    test: Benchmark
    set_aside: int


class Benchmark:
    """Questions with their templates. Every method gives a new benchmark; none changes this one.

    Args:
        items: a table with the schema ITEMS, or the Parquet file that holds it.
        templates: a table with the schema TEMPLATES, or its file.
        relations: RELATIONS, or its file; only some checks and reports look at it.
        events: EVENTS, or its file; likewise.
        pool: POOL, or its file; likewise.
        store: what answers the queries of ``subset``.

    Raises:
        InputError: a column is missing, or an item's template is not there.

    >>> bench = Benchmark(ITEMS.empty_table(), TEMPLATES.empty_table())
    >>> len(bench), bench.describe().total.templates
    (0, 0)
    """

    def __init__(
        self,
        items: pa.Table | str | Path,
        templates: pa.Table | str | Path,
        *,
        relations: pa.Table | Path | None = None,
        events: pa.Table | Path | None = None,
        pool: pa.Table | Path | None = None,
        store: Any = None,
    ) -> None:
        self._items = Columns(items, ITEMS, "item_id")
        self._templates = Columns(templates, TEMPLATES, "id")
        self._beside = {"relations": relations, "events": events, "pool": pool}
        self.store = store
        self._rows: Rows | None = None
        self.recipe: tuple[str, ...] = ()
        """The steps that cut this benchmark out of the whole one, in words, oldest first."""

    @classmethod
    def open(cls, path: str | Path) -> Benchmark:
        """The benchmark of a build's folder; columns are read when they are asked for.

        Args:
            path: a folder with items.parquet and templates.parquet.

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
        beside = {name: folder / f"{name}.parquet" for name in ("relations", "events", "pool")}
        return cls(
            folder / "items.parquet",
            folder / "templates.parquet",
            **{name: path for name, path in beside.items() if path.is_file()},
        )

    @classmethod
    def from_tables(
        cls,
        *,
        templates: pa.Table,
        items: pa.Table,
        relations: pa.Table | None = None,
        events: pa.Table | None = None,
        pool: pa.Table | None = None,
        store: Any = None,
    ) -> Benchmark:
        """The benchmark of tables in memory; see the class for what they are."""
        return cls(items, templates, relations=relations, events=events, pool=pool, store=store)

    # Looking at it

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of the items, or of their templates (one value an item).

        Raises:
            UsageError: neither has a column of that name.
        """
        if name in self._items.names:
            column = self._items[name]
            return column if self._rows is None else column.take(pa.array(self._rows))
        if name in self._templates.names:
            at = pc.index_in(self.column("template_id"), value_set=self._templates["id"])
            return self._templates[name].take(at)
        known = sorted({*self._items.names, *self._templates.names})
        raise UsageError(f"no such column: {name!r}", todo=f"use one of {', '.join(known)}")

    def __len__(self) -> int:
        return self._items.num_rows if self._rows is None else len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.to_arrow().to_batches(max_chunksize=1024):
            yield from batch.to_pylist()

    def to_arrow(self) -> pa.Table:
        """The items as a table with the schema ITEMS, sorted by item_id."""
        table = self._items.table()
        return table if self._rows is None else table.take(pa.array(self._rows))

    def templates(self) -> pa.Table:
        """The templates of these items, with the schema TEMPLATES, sorted by id."""
        table = self._templates.table()
        wanted = pc.unique(self.column("template_id"))
        return table.filter(pc.is_in(table["id"], value_set=wanted))

    def beside(self, name: str) -> pa.Table | None:
        """A table of the build that lies beside this one: relations, events or pool.

        Returns:
            The table, or ``None`` where this benchmark was made without it.
        """
        held = self._beside[name]
        return read_parquet(held) if isinstance(held, Path) else held

    def to_pandas(self) -> pd.DataFrame:
        """The items as a pandas DataFrame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    @property
    def fingerprint(self) -> str:
        """The content hash of items and templates: what makes two benchmarks the same."""
        both = content_hash(self.to_arrow()) + content_hash(self.templates())
        return f"{hash64(both):016x}{hash64(both, 'second half'):016x}"

    def describe(self) -> Description:
        """Templates, relations, patients and effective size, then items, in all and by task."""
        names = ("template_id", "relation_id", "cluster", "task", "format", "n_options")
        table = pa.table({name: self.column(name) for name in names})
        return describe(table, self.fingerprint)

    # Cutting it

    def filter(self, **columns: Any) -> Benchmark:
        """The items for which every condition holds.

        Args:
            columns: ``column=value`` or ``column=[one, of, these]`` over the columns of items and
                templates; ``min_x=`` and ``max_x=`` bound a column of numbers from below and above
                (``min_score=0.9``; the score is the relation's). For a column of lists, an item
                stays if any member of its list is among the values.

        Raises:
            UsageError: there is no such column.
        """
        keep = np.ones(len(self), dtype=bool)
        for name in sorted(columns):
            keep &= self._holds(name, columns[name])
        return self._cut(
            keep, "filter " + ", ".join(f"{name}={columns[name]!r}" for name in sorted(columns))
        )

    def subset(self, ids: Sequence[str] | str, *, store: Any = None, **params: Any) -> Benchmark:
        """The items of the templates, relations or items that are named.

        Args:
            ids: template, relation or item ids; or a Cypher query whose first column holds such,
                or the name of one that ships ("cardiology"), or of a file of yours.
            store: what runs the query: an object with ``query(cypher, **params) -> pa.Table``;
                the benchmark's own ``store`` by default.
            params: the query's parameters.

        Raises:
            UsageError: a query without a store, a result without ids, or an id that is not here.
        """
        if isinstance(ids, str):
            selected = select(ids, store if store is not None else self.store, params)
            if selected.places is not None:
                raise UsageError(
                    "the query names places to ask at, not questions",
                    todo="kg.instantiate(query=...) makes questions of places; a subset needs ids",
                )
            step = f"subset by query {selected.recipe['query']} {params or ''}".rstrip()
            wanted = selected.ids
        else:
            step, wanted = f"subset of {len(ids)} ids", pa.array(sorted(set(ids)), pa.string())
        keep = rows_of(wanted, [self.column(name) for name in _IDS], also_known=self._all_ids())
        return self._cut(keep, step)

    def _all_ids(self) -> list[pa.ChunkedArray]:
        """Ids that may be named though no question here has them: of what was cut away."""
        whole = [self._templates["id"], self._templates["relation"]]
        relations = self.beside("relations")
        return whole if relations is None else [*whole, relations["id"]]

    def sample(self, n: int, *, by: str | Sequence[str] | None = None, seed: int = 7) -> Benchmark:
        """A random part of n items, the same for the same seed whatever else is in the benchmark.

        Args:
            n: how many; all, where there are no more.
            by: a column, or several: each combination of values gets its share of n.
            seed: names the draw.

        Raises:
            UsageError: n is negative or a column is unknown.
        """
        if n < 0:
            raise UsageError(f"a sample of {n} items", todo="ask for none or more")
        names = [by] if isinstance(by, str) else list(by or ())
        strata: dict[tuple[str, ...], list[int]] = {}
        values = [list(map(str, self.column(name).to_pylist())) for name in names]
        for at in range(len(self)):
            strata.setdefault(tuple(column[at] for column in values), []).append(at)
        order = hash_strings(seed, self.column("item_id").to_pylist())
        keep = np.zeros(len(self), dtype=bool)
        shares = _shares({key: len(rows) for key, rows in strata.items()}, min(n, len(self)))
        for key, rows in strata.items():
            keep[sorted(rows, key=lambda at: (order[at], at))[: shares[key]]] = True
        return self._cut(keep, f"sample n={n} by={names} seed={seed}")

    def split(self, by: str, *, test: float = 0.5, seed: int = 7) -> Split:
        """Two parts that share no patient, no relation, or neither.

        Args:
            by: "patient", "relation" or "both".
            test: the share of patients (or relations) that falls to the test part.
            seed: names the draw.

        Raises:
            UsageError: an unknown word, a share outside (0, 1), or a part that would be empty.
        """
        if by not in SPLITS:
            raise UsageError(f"no such split: {by!r}", todo=f"use {', '.join(SPLITS)}")
        if not 0 < test < 1:
            raise UsageError(f"a test share of {test}", todo="take one between 0 and 1")
        into = [self._falls_to_test(name, test, seed) for name in SPLITS[by]]
        in_test, in_train = np.logical_and.reduce(into), ~np.logical_or.reduce(into)
        if not in_test.any() or not in_train.any():
            raise UsageError(
                f"a split by {by} leaves one part without items",
                todo="take another seed or share, or a larger benchmark",
            )
        step = f"split by={by} test={test} seed={seed}: "
        return Split(
            self._cut(in_train, step + "train"),
            self._cut(in_test, step + "test"),
            int((~in_train & ~in_test).sum()),
        )

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

    def _cut(self, keep: npt.NDArray[np.bool_], step: str) -> Benchmark:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        at = np.flatnonzero(keep).astype(np.int64)
        made._rows = at if self._rows is None else self._rows[at]
        made.recipe = (*self.recipe, step)
        return made

    def _holds(self, name: str, value: Any) -> npt.NDArray[np.bool_]:
        known = {*self._items.names, *self._templates.names}
        bounded = name[:4] in BOUNDS and name not in known
        return holds(self.column(name[4:] if bounded else name), name, value, bounded=bounded)

    def _falls_to_test(self, name: str, share: float, seed: int) -> npt.NDArray[np.bool_]:
        encoded = pc.dictionary_encode(self.column(name)).combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):
            encoded = encoded.chunk(0)
        falls = np.array([unit(seed, name, key) < share for key in encoded.dictionary.to_pylist()])
        indices = np.asarray(encoded.indices, dtype=np.int64)
        return falls[indices] if len(indices) else np.zeros(0, dtype=bool)

    def __repr__(self) -> str:
        total = self.describe().total
        return (
            f"<Benchmark: {total.templates:,} templates, {total.relations:,} relations, "
            f"{total.patients:,} patients, effective size {total.effective:,.1f}; "
            f"{total.items:,} items>"
        )

    def _repr_html_(self) -> str:
        shown = self.describe()._repr_html_()
        for item in self.filter(format="mcq").sample(1):
            options = "".join(f"<li>{escape(option)}</li>" for option in item["options"])
            shown += (
                f"<p>{escape(item['stem'])}</p><ol type='A'>{options}</ol>"
                f"<p>Answer: {escape(item['answer'][0])}</p>"
            )
        return shown


def _shares(sizes: Mapping[tuple[str, ...], int], n: int) -> dict[tuple[str, ...], int]:
    """Share n out in proportion to the sizes, by largest remainder.

    >>> _shares({("a",): 6, ("b",): 3}, 4)
    {('a',): 3, ('b',): 1}
    """
    total = sum(sizes.values())
    if not total:
        return {}
    shares = {key: n * size // total for key, size in sorted(sizes.items())}
    rest = sorted(shares, key=lambda key: (-(n * sizes[key] % total), key))
    for key in rest[: n - sum(shares.values())]:
        shares[key] += 1
    return shares
