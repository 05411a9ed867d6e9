"""Tables in a database, or anything else that Ibis speaks to, worked on where they lie.

A database's rows have no order, so a row's number is its place among the table's rows sorted by
what was read of them: the same in every engine. Rows equal in all that was read are alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ehrkg.ehr.sources import RawTable
from ehrkg.foundation.closing import Closing
from ehrkg.foundation.errors import InputError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.backends import BaseBackend
    from ibis.expr.types import Table

ENGINES = ("bigquery", "duckdb", "postgres", "pyspark", "snowflake")
"""The engines whose ways of holding a table are known here."""

_HOLD = {
    "duckdb": "CREATE TEMPORARY TABLE {} AS {}",
    "postgres": "CREATE TEMPORARY TABLE {} AS {}",
    "snowflake": 'CREATE TEMPORARY TABLE "{}" AS {}',
}
"""How an engine computes rows now and holds them; Ibis knows a way of its own for the others."""

_LET_GO = {"pyspark": "DROP VIEW {}", "snowflake": 'DROP TABLE "{}"'}
"""How it lets go."""

Database = str | tuple[str, str] | None


class ConnectionTables(Closing):
    """Tables behind an Ibis connection as a ``Source``; what it holds there is let go at the end.

    Args:
        con: the connection; it stays the caller's.
        database: the schema or data set that holds the tables, as Ibis names it.
        keys: by table, the column by which the numbering of its rows is spread over workers: the
            patient's. Without one a single worker counts them all.

    Raises:
        UsageError: no engine of ``ENGINES``.
    """

    def __init__(
        self, con: BaseBackend, *, database: Database = None, keys: Mapping[str, str] | None = None
    ) -> None:
        if con.name not in ENGINES:
            raise UsageError(
                f"tables can't be read through a connection to {con.name!r}",
                todo="connect with Ibis to one of " + ", ".join(ENGINES),
            )
        self._con, self._database, self._keys = con, database, dict(keys or {})
        self._names = {name.lower(): name for name in sorted(_tables(con, database))}
        self._held: dict[str, str] = {}

    def close(self) -> None:
        """Let go of what was held on the engine; the connection stays its owner's."""
        for name in list(self._held):
            self.release(name)

    def tables(self) -> Collection[str]:
        """See ``Source.tables``."""
        return self._names.keys()

    def columns(self, table: str) -> Sequence[str]:
        """See ``Source.columns``."""
        return tuple(self._table(table).columns)

    def open(self, table: str, columns: Collection[str], *, name: str) -> RawTable:
        """See ``Source.open``; ``source`` is the table's name.

        Raises:
            InputError: two columns differ in nothing but upper and lower case.
        """
        written = {column.strip().lower(): column for column in self.columns(table)}
        if len(written) < len(self.columns(table)):
            raise InputError(
                "two columns have the same name", file=self._names[table], todo="rename one of them"
            )
        wanted = {column: written[column] for column in sorted(set(columns) & set(written))}
        text = self.keep(_numbered(self._text(table, wanted), table, self._keys.get(table)), name)
        rows = int(text.count().to_pyarrow().as_py())
        return RawTable(table, written, rows, text, name=self._names[table])

    def keep(self, rows: Table, name: str) -> Table:
        """See ``Source.keep``: a temporary table, or whatever the engine has for it."""
        self._held[name] = held = f"ehrkg_{uuid4().hex}"
        if self._con.name == "pyspark":
            # a cached table would keep the plan of all that it was made from, and every later
            # query would be planned from the first table on; a checkpoint's plan begins with it
            rows_there: Any = self._con.raw_sql(self._con.compile(rows))
            rows_there.localCheckpoint().createTempView(held)
            return self._con.table(held)
        if self._con.name in _HOLD:
            _execute(self._con, _HOLD[self._con.name].format(held, self._con.compile(rows)))
            return self._con.table(held)
        return self._con.create_table(held, rows, temp=True)

    def fetch(self, rows: Table) -> Iterator[pa.RecordBatch]:
        """See ``Source.fetch``; an engine's answer comes as a whole."""
        yield from rows.to_pyarrow().to_batches()

    def release(self, name: str) -> None:
        """See ``Source.release``."""
        held = self._held.pop(name, None)
        if held is not None:
            _execute(self._con, _LET_GO.get(self._con.name, "DROP TABLE {}").format(held))

    def _table(self, table: str) -> Table:
        return self._con.table(self._names[table], database=self._database)

    def _text(self, table: str, columns: Mapping[str, str]) -> Table:
        """Columns as text under other names."""
        rows = self._table(table)
        text = rows.select(**{name: rows[own].cast("string") for name, own in columns.items()})
        if self._con.name != "postgres":
            return text
        # sorted and compared by its bytes, as everywhere else, whatever the database's own rules
        own = ", ".join(f'"{name}" COLLATE "C" AS "{name}"' for name in columns)
        return self._con.sql(
            f"SELECT {own} FROM ({self._con.compile(text)}) AS rows",  # noqa: S608
            schema=text.schema(),
        )


def _execute(con: Any, statement: str) -> None:
    if con.name == "postgres":
        with con.begin() as cursor:
            cursor.execute(statement)
        return
    con.raw_sql(statement)


def _tables(con: Any, database: Database) -> list[str]:
    if con.name != "duckdb":
        return list(con.list_tables(database=database))
    # Ibis 12 lists DuckDB's tables by a method that DuckDB 2 no longer has
    schema = database[-1] if isinstance(database, tuple) else database or "main"
    found = con.con.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", [schema]
    )
    return [name for (name,) in found.fetchall()]


def _numbered(text: Table, table: str, key: str | None) -> Table:
    """The rows with ``source`` and ``row``, their place in the order of all their columns.

    Where there is a key, the rows of each are numbered apart, after the rows of all lesser ones.
    """
    import ibis

    names = list(text.columns)
    order = [text[name].asc(nulls_first=True) for name in names]
    source = ibis.literal(table)
    if key is None or key not in names:
        return text.mutate(
            source=source, row=(ibis.row_number().over(order_by=order) + 1).cast("int64")
        )
    text = text.mutate(numbering_key=text[key].fill_null(""))
    order = [text[name].asc(nulls_first=True) for name in names]
    sizes = text.group_by("numbering_key").agg(size=text.count())
    before = sizes["size"].sum().over(ibis.cumulative_window(order_by=sizes.numbering_key))
    starts = sizes.select(starting_key="numbering_key", start=before - sizes["size"])
    place = ibis.row_number().over(group_by=text.numbering_key, order_by=order)
    placed = text.mutate(place=place)
    joined = placed.join(starts, placed.numbering_key == starts.starting_key)
    row = (joined.start + joined.place + 1).cast("int64")
    return joined.select(*names, source=source, row=row)
