"""What a benchmark lies on: its tables, and the SQL engine that answers questions about them.

Files stay where they are. DuckDB reads of them the columns that a question names; Arrow reads
single columns and pages of rows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.opened.columns import Columns, Rows
from ehrkg.benchmark.opened.conditions import Condition, bounded_column, condition
from ehrkg.benchmark.schema import ITEMS, TEMPLATES
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.storage import read_parquet

_WHOLE = "items"


@dataclass(frozen=True)
class Beside:
    """A table whose columns count as the items' own, one row of it for each item.

    Attributes:
        columns: the table.
        key: its column that names its rows, once each.
        on: the column, of the items or of an earlier table, that holds the same.
    """

    columns: Columns
    key: str
    on: str


class Source:
    """Items with the tables beside them; never changed.

    Args:
        items: ITEMS, or its file.
        templates: TEMPLATES, or its file.
        beside: further tables of the build by name (relations, events, pool), or their files.
        joined: further columns, by the name of their table.

    Raises:
        InputError: a file can't be read, or a column is missing.

    >>> source = Source(ITEMS.empty_table(), TEMPLATES.empty_table(), {})
    >>> source.where("age"), source.where("stem"), source.num_rows
    ('templates', 'items', 0)
    """

    def __init__(
        self,
        items: pa.Table | str | Path,
        templates: pa.Table | str | Path,
        beside: Mapping[str, pa.Table | Path | None],
        joined: Mapping[str, Beside] | None = None,
    ) -> None:
        self.items = Columns(items, ITEMS, "item_id")
        self.templates = Columns(templates, TEMPLATES, "id")
        self.beside = dict(beside)
        self.joined = dict(joined or {})
        self._lock = threading.Lock()
        self._connection: Any = None
        self.tables: dict[str, Beside] = {
            "templates": Beside(self.templates, "id", "template_id"),
        }
        relations = self.beside.get("relations")
        if relations is not None:
            held = Columns(relations, pa.schema([("id", pa.string())]), "id")
            self.tables["relations"] = Beside(held, "id", "relation_id")
        self.tables |= self.joined

    @property
    def num_rows(self) -> int:
        """How many items there are."""
        return int(self.items.num_rows)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None, "_connection": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def with_joined(self, name: str, beside: Beside) -> Source:
        """The same with one more table of columns."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__getstate__(), _lock=threading.Lock())
        made.joined = {**self.joined, name: beside}
        made.tables = {**self.tables, name: beside}
        return made

    # Columns

    @property
    def names(self) -> list[str]:
        """Every column that can be asked for, sorted."""
        inside = [name for one in self.tables.values() for name in one.columns.names]
        return sorted({*self.items.names, *inside} - {"id"})

    def where(self, name: str) -> str:
        """The table in which a column stands; the items' own comes first.

        Raises:
            UsageError: none has a column of that name.
        """
        if name in self.items.names:
            return _WHOLE
        for table, beside in self.tables.items():
            if name in beside.columns.names and name != "id":
                return table
        near = get_close_matches(str(name), self.names, n=3, cutoff=0.6)
        raise UsageError(
            f"no such column: {name!r}" + (f"; near it: {', '.join(near)}" if near else ""),
            todo=f"use one of {', '.join(self.names)}",
        )

    def type(self, name: str) -> pa.DataType:
        """The type of a column; see ``where``."""
        table = self.where(name)
        columns = self.items if table == _WHOLE else self.tables[table].columns
        return columns.schema.field(name).type

    def column(self, name: str, rows: Rows | None) -> pa.ChunkedArray:
        """A column, one value an item of the rows; see ``where``."""
        table = self.where(name)
        if table == _WHOLE:
            column = self.items[name]
            return column if rows is None else column.take(pa.array(rows))
        beside = self.tables[table]
        at = pc.index_in(self.column(beside.on, rows), value_set=beside.columns[beside.key])
        return beside.columns[name].take(at)

    def held(self, name: str) -> pa.Table | None:
        """A table beside the items, read; ``None`` where there is none of that name."""
        found = self.beside.get(name)
        return read_parquet(found) if isinstance(found, Path) else found

    # Questions in SQL

    def rows_where(self, conditions: Mapping[str, Any]) -> Rows:
        """The positions of the items for which every condition holds.

        Args:
            conditions: as ``Benchmark.filter`` takes them.

        Raises:
            UsageError: a column is unknown, or a value does not fit it.
        """
        found, used = [], set()
        for name in sorted(conditions):
            bounded = bounded_column(name)
            bounds = bounded is not None and name not in self.names
            column = str(bounded) if bounds else name
            used.add(column)
            made = condition(
                self.place(column), self.type(column), name, conditions[name], bounds=bounds
            )
            found.append(made)
        return self.rows_of(used, found)

    def rows_of(self, names: Iterable[str], conditions: Sequence[Condition]) -> Rows:
        """The positions of the items for which conditions on some columns hold."""
        where = " AND ".join(f"({one.sql})" for one in conditions) or "true"
        values = [value for one in conditions for value in one.values]
        answer = self.ask(f"SELECT i.at AS at {self.tables_of(names)} WHERE {where}", values)
        return np.sort(answer["at"].to_numpy().astype(np.int64))

    def place(self, name: str) -> str:
        """A column as SQL, for a query over ``tables_of`` a set of names with it."""
        table = self.where(name)
        return f'{"i" if table == _WHOLE else table}."{name}"'

    def tables_of(self, names: Iterable[str], rows: Rows | None = None) -> str:
        """A FROM clause over the items (as ``i``, with their position ``at``) and what is beside.

        Args:
            names: the columns that the query names; other tables stay out.
            rows: only these items; ``ask`` must be given the same.
        """
        text = f"FROM {_WHOLE} i"
        if rows is not None:
            text += " JOIN chosen ON chosen.at = i.at"
        wanted = {self.where(name) for name in names} - {_WHOLE}
        for table in list(wanted):
            on = self.where(self.tables[table].on)
            wanted |= {on} - {_WHOLE}
        for table, beside in self.tables.items():
            if table in wanted:
                text += f' LEFT JOIN {table} ON {table}."{beside.key}" = {self.place(beside.on)}'
        return text

    def ask(self, sql: str, values: Sequence[Any] = (), rows: Rows | None = None) -> pa.Table:
        """The answer of a query over ``items``, the tables beside them, and ``chosen`` rows."""
        with self._lock:
            connection = self._open()
            if rows is not None:
                connection.register("chosen", pa.table({"at": rows}))
            try:
                return connection.sql(sql, params=list(values)).to_arrow_table()
            finally:
                if rows is not None:
                    connection.unregister("chosen")

    def _open(self) -> Any:
        if self._connection is None:
            import duckdb

            made = duckdb.connect(config={"autoinstall_known_extensions": "false"})
            _show(made, _WHOLE, self.items)
            for name, beside in self.tables.items():
                _show(made, name, beside.columns)
            self._connection = made
        return self._connection


def _show(connection: Any, name: str, columns: Columns) -> None:
    """Let a connection see a table, with the position of each row as ``at``."""
    if columns.path is None:
        table = columns.table()
        at = pa.array(np.arange(table.num_rows, dtype=np.int64))
        connection.register(name, table.append_column("at", at))
        return
    pattern = "".join(f"[{sign}]" if sign in "[*?" else sign for sign in str(columns.path))
    quoted = pattern.replace("'", "''")
    connection.execute(
        f"CREATE VIEW {name} AS SELECT * EXCLUDE (file_row_number), file_row_number AS at "  # noqa: S608
        f"FROM read_parquet('{quoted}', file_row_number = true)"
    )
