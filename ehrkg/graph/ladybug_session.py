"""One connection to a Ladybug file: running, reading, and answering queries that only read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg.foundation.errors import EhrkgError, UsageError
from ehrkg.graph import answers, guard, ladybug_file
from ehrkg.graph.schema import EDGES, NODES

_READ_CHUNK = 100_000
"""Rows a chunk of an answer."""

TYPES: Mapping[pa.DataType, str] = {
    pa.string(): "STRING",
    pa.int32(): "INT32",
    pa.int64(): "INT64",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOL",
    pa.date32(): "DATE",
    pa.timestamp("s"): "TIMESTAMP",
    pa.list_(pa.string()): "STRING[]",
}


def ddl() -> list[str]:
    """The statements that make the schema's tables."""
    statements = []
    for node in NODES.values():
        columns = ", ".join(f"{f.name} {TYPES[f.type]}" for f in node.properties)
        statements.append(
            f"CREATE NODE TABLE {node.label}(key STRING PRIMARY KEY, build STRING, {columns})"
        )
    for edge in EDGES.values():
        joins = ", ".join(f"FROM {a} TO {b}" for a, b in edge.joins)
        columns = "".join(f", {f.name} {TYPES[f.type]}" for f in edge.properties)
        statements.append(f"CREATE REL TABLE {edge.type}({joins}{columns})")
    return statements


def held(table: pa.Table, *aside: str) -> tuple[list[dict[str, Any]], str]:
    """Rows to bind, and the property list that takes them over; columns of nulls are left out.

    A bound value has the type of what it holds (a small number is a byte, an empty list a list of
    nothing), so each is cast to its property's type.
    """
    names = [f.name for f in table.schema if table.column(f.name).null_count < table.num_rows]
    values = ", ".join(
        f"{name}: CAST(x.{name} AS {TYPES[table.schema.field(name).type]})"
        for name in names
        if name not in aside
    )
    return table.select(names).to_pylist(), values


class Session:
    """A connection; what it does goes one at a time, whichever thread asks.

    Args:
        path: the file.
        read_only: refuse to write.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        import ladybug

        self.path, self.read_only = path, read_only
        self.busy = threading.RLock()
        self._file: ladybug_file.OpenFile | None = ladybug_file.acquire(path, read_only=read_only)
        self._connection = ladybug.Connection(self._file.database)

    def close(self) -> None:
        """Let go of the file; the last session on it in this process closes it."""
        opened, self._file = self._file, None
        if opened is not None:
            self._connection.close()
            ladybug_file.release(opened)

    def check_open(self) -> None:
        """Refuse when closed."""
        if self._file is None:
            raise UsageError("this graph store is closed", todo="open it again")

    def check_writable(self) -> None:
        """Refuse when closed or opened for reading."""
        self.check_open()
        if self.read_only:
            raise UsageError("this graph is open for reading only", todo="open it for writing")

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Run a statement of our own that changes something."""
        with self.busy:
            self.check_open()
            try:
                self._connection.execute(statement, dict(parameters or {}))
            except RuntimeError as error:
                raise ladybug_file.failure(self.path, str(error)) from error

    @contextmanager
    def together(self) -> Iterator[None]:
        """All that is run within happens, or, where something fails or kills us, nothing."""
        with self.busy:
            self.run("BEGIN TRANSACTION")
            try:
                yield
            except BaseException:
                with suppress(EhrkgError):
                    self.run("ROLLBACK")
                raise
            self.run("COMMIT")

    def read(self, statement: str, parameters: Mapping[str, Any] | None = None) -> pa.Table:
        """The answer of a statement of our own, in a read-only transaction.

        Raises:
            InputError: the engine can't read the file.
            ServiceError: it has not the memory for it.
        """
        try:
            return self._read(statement, parameters)
        except RuntimeError as error:
            raise ladybug_file.failure(self.path, str(error)) from error

    def _read(self, statement: str, parameters: Mapping[str, Any] | None = None) -> pa.Table:
        with self.busy:
            self.check_open()
            self._connection.execute("BEGIN TRANSACTION READ ONLY")
            try:
                return self._fetch(statement, parameters or {})
            finally:
                # A statement that fails ends the transaction itself.
                with suppress(RuntimeError):
                    self._connection.execute("ROLLBACK")

    def _fetch(self, statement: str, parameters: Mapping[str, Any]) -> pa.Table:
        from ladybug.prepared_statement import PreparedStatement

        # Prepared by hand: given a text, the client would rewrite what looks like a scan in it.
        prepared = PreparedStatement(self._connection, statement, dict(parameters))
        if not prepared.is_success():
            raise RuntimeError(prepared.get_error_message())
        with self._connection.execute(prepared, dict(parameters)) as answer:
            return answer.get_as_arrow(_READ_CHUNK)

    def complaint(self, text: str, parameters: Mapping[str, Any]) -> str:
        """See ``guard.Engine``."""
        from ladybug.prepared_statement import PreparedStatement

        prepared = PreparedStatement(self._connection, text, dict(parameters))
        return "" if prepared.is_success() else str(prepared.get_error_message())

    def plan(self, text: str, parameters: Mapping[str, Any]) -> str:
        """See ``guard.Engine``."""
        return str(self._read(f"EXPLAIN LOGICAL {text}", parameters).column(0)[0].as_py())

    def query(self, cypher: str, parameters: Mapping[str, Any]) -> pa.Table:
        """The answer of somebody's query, once it is known to only read."""
        with self.busy:
            self.check_open()
            statement = guard.judge(cypher, self, parameters)
            try:
                return _as_typed(answers.widened(self._read(statement, parameters)))
            except RuntimeError as error:
                raise guard.explained(str(error), statement) from error


def _as_typed(table: pa.Table) -> pa.Table:
    """An answer whose columns do not show the engine's inner id: COUNT(t), not COUNT(t._ID)."""
    return table.rename_columns([name.replace("._ID", "") for name in table.column_names])
