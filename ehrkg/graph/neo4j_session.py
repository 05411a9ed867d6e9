"""A connection to a Neo4j server: running, reading, and answering queries that only read.

The user's name and password are handed to the driver and kept nowhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import neo4j
import pyarrow as pa
from neo4j import exceptions

from ehrkg.foundation.errors import EhrkgError, InputError, ServiceError, UsageError
from ehrkg.graph import answers, neo4j_guard
from ehrkg.graph.neo4j_guard import Plan
from ehrkg.graph.neo4j_values import KEY

T = TypeVar("T")

PATIENCE = 30.0
"""Seconds for which the driver tries a transaction again while the server is away."""

CONNECT = 10.0
"""Seconds to wait for a server that does not answer."""


REMEMBERED = 1_000
"""Statements that are known to only read, of a session."""


class CommitUnknownError(ServiceError):
    """The connection broke while committing: whether it was done is not known."""


def address_of(target: str) -> str:
    """The address of a server, which must not hold a password.

    Raises:
        UsageError: it holds a user, a password, a path or a query; none of it is repeated.

    >>> address_of("neo4j://localhost:7687")
    'neo4j://localhost:7687'
    """
    parts = urlsplit(target)
    try:
        port = parts.port
    except ValueError as error:
        raise UsageError(
            "the server's port is no number", todo="write neo4j://host:7687"
        ) from error
    if "@" in parts.netloc:
        raise UsageError(
            "an address must not hold a password",
            todo="write neo4j://host:7687 and give auth=(user, password), or set NEO4J_USERNAME "
            "and NEO4J_PASSWORD",
        )
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise UsageError(
            f"no address of a server: {parts.scheme}://{parts.netloc}{parts.path}",
            todo="write neo4j://host:7687; name a database by database=…",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


def _credentials(auth: tuple[str, str] | None) -> tuple[str, str] | None:
    if auth is not None:
        if len(auth) != 2 or not all(isinstance(part, str) for part in auth):
            raise UsageError(
                "auth must be a user and a password", todo="write auth=(user, password)"
            )
        return auth
    password = os.environ.get("NEO4J_PASSWORD")
    return None if password is None else (os.environ.get("NEO4J_USERNAME", "neo4j"), password)


class Session:
    """A driver for one database of one server, with errors in the words of this package.

    Args:
        target: the server's address.
        auth: user and password; from NEO4J_USERNAME and NEO4J_PASSWORD for ``None``.
        database: from NEO4J_DATABASE, else the user's own database, for ``None``.
        read_only: refuse to write.

    Raises:
        ServiceError: the server is not there, or refuses user and password.
        UsageError: the address is none, or there is no such database.
    """

    def __init__(
        self,
        target: str,
        *,
        auth: tuple[str, str] | None,
        database: str | None,
        read_only: bool,
    ) -> None:
        self.address = address_of(target)
        self.read_only = read_only
        self.database = database or os.environ.get("NEO4J_DATABASE") or None
        self._closed = False
        self._plugins: Collection[str] | None = None
        self._judged: dict[str, str] = {}
        self._driver = neo4j.GraphDatabase.driver(
            self.address,
            auth=_credentials(auth),
            max_transaction_retry_time=PATIENCE,
            connection_timeout=CONNECT,
            connection_acquisition_timeout=CONNECT + 5,
            notifications_min_severity="OFF",
            user_agent="ehrkg",
        )
        try:
            self._driver.verify_connectivity()
        except (exceptions.Neo4jError, exceptions.DriverError) as error:
            self.close()
            raise self._failure(error) from None

    def __repr__(self) -> str:
        return f"Session({self.address!r}, database={self.database!r})"

    def close(self) -> None:
        """Let go of the server; closing twice is harmless."""
        if not self._closed:
            self._closed = True
            self._driver.close()

    def check_open(self) -> None:
        """Refuse when closed."""
        if self._closed:
            raise UsageError("this graph store is closed", todo="open it again")

    def check_writable(self) -> None:
        """Refuse when closed or opened for reading."""
        self.check_open()
        if self.read_only:
            raise UsageError("this graph is open for reading only", todo="open it for writing")

    def write(self, work: Callable[[neo4j.ManagedTransaction], T]) -> T:
        """What ``work`` gives in a transaction, begun again where the server was away for a while.

        Raises:
            CommitUnknownError: the connection broke while committing.
            ServiceError: the server stays away or can't go on.
        """
        self.check_writable()
        return self._managed(work, neo4j.WRITE_ACCESS)

    def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Run a statement of our own that changes something, in a transaction of its own."""
        self.write(lambda tx: tx.run(statement, dict(parameters or {})).consume())

    def read(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        """The answer of a statement of our own, row by row."""
        self.check_open()
        return self._managed(
            lambda tx: [record.values() for record in tx.run(statement, dict(parameters or {}))],
            neo4j.READ_ACCESS,
        )

    def _managed(self, work: Callable[[neo4j.ManagedTransaction], T], mode: str) -> T:
        try:
            with self._driver.session(
                database=self.database, default_access_mode=mode, fetch_size=-1
            ) as session:
                if mode == neo4j.WRITE_ACCESS:
                    return session.execute_write(work)
                return session.execute_read(work)
        except (exceptions.Neo4jError, exceptions.DriverError) as error:
            raise self._failure(error) from error

    def plan(self, text: str, parameters: Mapping[str, Any]) -> Plan:
        """See ``neo4j_guard.Engine``."""

        def explain(tx: neo4j.ManagedTransaction) -> neo4j.ResultSummary:
            return tx.run(f"EXPLAIN {text}", dict(parameters)).consume()

        summary = self._asked(explain, text)
        if summary.profile is not None or summary.plan is None:
            raise UsageError("a query is not to be explained here", todo="leave the first word out")
        return Plan(summary.query_type or "", list(_operators(summary.plan)))

    def plugin_functions(self) -> Collection[str]:
        """See ``neo4j_guard.Engine``; asked once."""
        if self._plugins is None:
            found = self.read("SHOW USER DEFINED FUNCTIONS YIELD name RETURN name")
            self._plugins = [str(row[0]) for row in found]
        return self._plugins

    def query(self, cypher: str, parameters: Mapping[str, Any]) -> pa.Table:
        """The answer of somebody's query, once it is known to only read."""
        self.check_open()
        statement = self._judgement(cypher, parameters)

        def answer(tx: neo4j.ManagedTransaction) -> tuple[list[str], list[list[Any]], Any]:
            result = tx.run(statement, dict(parameters))
            names = list(result.keys())
            found = [[_plain(value) for value in record.values()] for record in result]
            return names, found, result.consume().plan

        names, found, plan = self._asked(answer, statement)
        if plan is not None:
            raise UsageError("a query is not to be explained here", todo="leave the first word out")
        return answers.from_values(names, found)

    def _judgement(self, cypher: str, parameters: Mapping[str, Any]) -> str:
        """The statement to run; one that passed is not planned again, whatever its values."""
        if cypher not in self._judged:
            statement = neo4j_guard.judge(cypher, self, parameters)
            if len(self._judged) >= REMEMBERED:
                self._judged.clear()
            self._judged[cypher] = statement
        return self._judged[cypher]

    def _asked(self, work: Callable[[neo4j.ManagedTransaction], T], statement: str) -> T:
        """What a user's statement gives; the server's complaint is the user's to mend."""
        try:
            with self._driver.session(
                database=self.database, default_access_mode=neo4j.READ_ACCESS
            ) as session:
                return session.execute_read(work)
        except exceptions.ClientError as error:
            if _refuses_user(error):
                raise self._failure(error) from error
            raise neo4j_guard.explained(_message(error), statement) from error
        except (exceptions.Neo4jError, exceptions.DriverError) as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> EhrkgError:
        """What went wrong with the server, never with what it was told in confidence."""
        if isinstance(error, exceptions.IncompleteCommit):
            return CommitUnknownError(
                f"the connection to {self.address} broke while committing",
                todo="run it again: what is there is not written twice",
            )
        if isinstance(error, exceptions.ClientError | exceptions.ConfigurationError):
            return self._refusal(error)
        if isinstance(error, exceptions.Neo4jError):
            return ServiceError(
                f"the server at {self.address} can't go on: {_message(error)}",
                todo="see its log; run it again afterwards: what is there is not written twice",
            )
        return ServiceError(
            f"no Neo4j answers at {self.address}",
            todo="start the server, or mend host and port; a load that was cut off continues when "
            "run again",
        )

    def _refusal(self, error: Exception) -> EhrkgError:
        if _refuses_user(error):
            return ServiceError(
                f"the server at {self.address} refuses this user and password",
                todo="give auth=(user, password), or set NEO4J_USERNAME and NEO4J_PASSWORD",
            )
        if "DatabaseNotFound" in str(getattr(error, "code", "")):
            return UsageError(
                f"the server at {self.address} has no database {self.database!r}",
                todo="name one of SHOW DATABASES, or leave it out for the user's own",
            )
        if isinstance(error, exceptions.ConfigurationError):
            return UsageError(f"the address {self.address} can't be used: {error}")
        return InputError(f"the server at {self.address} refuses: {_message(error)}")


def _refuses_user(error: Exception) -> bool:
    return "Neo.ClientError.Security" in str(getattr(error, "code", ""))


def _message(error: Exception) -> str:
    """The server's own words; they name the line and show the place."""
    return str(getattr(error, "message", None) or error)


def _operators(plan: Any) -> list[tuple[str, str]]:
    name = re.sub(r"@\w+$", "", str(plan["operatorType"]))
    details = "\n".join(str(v) for v in plan.get("args", {}).values() if isinstance(v, str))
    if name == "ProcedureCall":
        details = str(plan.get("args", {}).get("Details", ""))
    found = [(name, details)]
    for child in plan.get("children", []):
        found += _operators(child)
    return found


def _plain(value: Any) -> Any:
    """A value of the driver as one that Arrow knows."""
    from neo4j import graph, time

    if isinstance(value, graph.Node):
        return {"_LABEL": ":".join(sorted(value.labels)), **_properties(value)}
    if isinstance(value, graph.Relationship):
        return {"_LABEL": value.type, **_properties(value)}
    if isinstance(value, graph.Path):
        return {
            "nodes": [_plain(node) for node in value.nodes],
            "rels": [_plain(edge) for edge in value.relationships],
        }
    if isinstance(value, time.DateTime | time.Date | time.Time):
        return value.to_native()
    if isinstance(value, time.Duration):
        return value.iso_format()
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return value


def _properties(entity: Any) -> dict[str, Any]:
    return {name: _plain(one) for name, one in sorted(entity.items()) if name != KEY}
