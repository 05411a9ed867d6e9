"""What a graph store can do, and the one door to every engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa

from ehrkg.foundation.errors import InputError, UsageError


class GraphStore(Protocol):
    """A property graph of the schema in ``ehrkg.graph.schema``, in whatever engine.

    Everything reads and writes one build: what other builds wrote beside it stays as it is.
    Nodes go by their ``id``; how an engine tells two builds' nodes apart is its own affair.

    Attributes:
        build: the id of the build that is read and written.
    """

    build: str

    def write_nodes(self, label: str, table: pa.Table) -> int:
        """Make sure that these nodes are there, with these properties.

        A node that is there already takes over the columns given; other properties stay. So
        writing twice changes nothing.

        Args:
            label: a label of ``schema.NODES``.
            table: a column ``id`` and any of the label's properties.

        Returns:
            How many nodes were new.

        Raises:
            InputError: an id is null, or stands twice with different properties.
            UsageError: no such label or property; the store is read-only.
        """
        ...

    def write_edges(self, edge_type: str, table: pa.Table) -> int:
        """Make sure that these edges are there, with these properties.

        Args:
            edge_type: a type of ``schema.EDGES``.
            table: columns ``from`` and ``to`` (node ids), the type's properties, and
                ``from_label`` / ``to_label`` where the type joins several pairs of labels.

        Returns:
            How many edges were new. One that is there with other properties is replaced.

        Raises:
            InputError: an end is not there, or one key stands twice with different properties.
            UsageError: no such type or property; the store is read-only.
        """
        ...

    def write_edge_pieces(self, edge_type: str, pieces: Iterable[pa.Table]) -> int:
        """``write_edges`` of a table too large to hold.

        Args:
            edge_type: a type of ``schema.EDGES``.
            pieces: tables as for ``write_edges``; no two hold edges that leave one node.
        """
        ...

    def check_carried(self, name: str, table: pa.Table) -> None:
        """Refuse what the engine has no value for, before anything is written.

        Args:
            name: a label or an edge type.
            table: as for ``write_nodes`` or ``write_edges``.

        Raises:
            InputError: it names the column, the row and the reason.
        """
        ...

    def delete_nodes(self, label: str, ids: Iterable[str]) -> None:
        """Delete nodes with all their edges; ids that are not there are passed over."""
        ...

    def delete_edges(self, edge_type: str, sources: Iterable[str]) -> None:
        """Delete the edges of a type that leave the nodes with these ids."""
        ...

    def read_nodes(self, label: str) -> pa.Table:
        """All nodes of a label: the properties in the schema's order, sorted by id."""
        ...

    def read_edges(self, edge_type: str) -> pa.Table:
        """All edges of a type: from, to, (labels,) properties; sorted by the ends and the key."""
        ...

    def scan_nodes(self, label: str) -> Iterator[pa.Table]:
        """All nodes of a label in pieces, columns as ``read_nodes`` gives them, in any order."""
        ...

    def scan_edges(self, edge_type: str) -> Iterator[pa.Table]:
        """All edges of a type in pieces, columns as ``read_edges`` gives them, in any order."""
        ...

    def query(self, cypher: str, /, **parameters: Any) -> pa.Table:
        """The answer of one read-only Cypher statement; parameters are bound, never pasted in.

        Whole numbers come as int64, others as double, times as timestamps of microseconds.

        Raises:
            UsageError: it is no reading statement, or the engine does not accept it.
        """
        ...

    def counts(self) -> dict[str, int]:
        """How many nodes by label and edges by type, those that are there."""
        ...

    def content_hash(self) -> str:
        """A fingerprint of the build's nodes and edges, equal on every engine."""
        ...

    def builds(self) -> list[str]:
        """The ids of the builds that lie in the graph, sorted."""
        ...

    def drop_build(self, build: str) -> None:
        """Delete what this build wrote, and nothing else."""
        ...

    def close(self) -> None:
        """Let go of the engine; closing twice is harmless."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


@dataclass(frozen=True)
class Options:
    """How a graph is to be opened; see ``open_store``."""

    build: str = "default"
    read_only: bool = False
    auth: tuple[str, str] | None = field(default=None, repr=False)
    database: str | None = None
    beside_foreign: bool = False
    identity: str | None = None


Opener = Callable[[str, Options], GraphStore]
"""Opens a target."""


def _open_ladybug(target: str, options: Options) -> GraphStore:
    from ehrkg.graph.ladybug import LadybugStore

    if options.auth or options.database or options.beside_foreign or options.identity:
        raise UsageError(
            "auth, database, beside_foreign and identity are for servers, and this is a file",
            todo="leave them out, or give an address such as neo4j://localhost:7687",
        )
    return LadybugStore(Path(target), build=options.build, read_only=options.read_only)


def _open_neo4j(target: str, options: Options) -> GraphStore:
    from ehrkg.graph.neo4j import Neo4jStore

    return Neo4jStore(target, options)


OPENERS: Mapping[str, Opener] = {
    "": _open_ladybug,
    "neo4j": _open_neo4j,
    "neo4j+s": _open_neo4j,
    "neo4j+ssc": _open_neo4j,
    "bolt": _open_neo4j,
    "bolt+s": _open_neo4j,
    "bolt+ssc": _open_neo4j,
}
"""Which engine opens which scheme; a target without a scheme is a file. One row an engine."""

_FOLDED = re.compile(r"^([a-z0-9+]+):/(?!/)")
"""What ``Path`` makes of an address: it folds two slashes into one."""


def is_address(target: str | Path) -> bool:
    """Whether a target is the address of a server, not a file.

    >>> is_address("neo4j://localhost"), is_address("out/graph.lbug")
    (True, False)
    """
    return "://" in _text(target)


def _text(target: str | Path) -> str:
    return _FOLDED.sub(r"\1://", str(target)) if isinstance(target, Path) else target


def check_there(target: str | Path) -> None:
    """Refuse a path at which no graph lies, before opening it for writing would make one.

    Raises:
        InputError: there is no such file. An address is let through: its server answers for it.

    >>> check_there("no/such/graph.lbug")
    Traceback (most recent call last):
    ehrkg.foundation.errors.InputError: no/such/graph.lbug: no graph there
      do: build one first, or mend the path
    """
    if not is_address(target) and not Path(target).is_file():
        raise InputError("no graph there", file=target, todo="build one first, or mend the path")


def open_store(
    target: str | Path,
    *,
    build: str = "default",
    read_only: bool = False,
    auth: tuple[str, str] | None = None,
    database: str | None = None,
    beside_foreign: bool = False,
    identity: str | None = None,
) -> GraphStore:
    """Open a graph, making it if it is not there.

    Args:
        target: a file ("out/graph.lbug"), or the address of a server; "neo4j://host:7687#BUILD"
            names the build too.
        build: which build to read and write; one graph can hold several side by side. Reading a
            server that holds a single build needs no name.
        read_only: open what is there, write nothing.
        auth: user and password of a server; NEO4J_USERNAME and NEO4J_PASSWORD of the environment
            for ``None``.
        database: which database of the server; NEO4J_DATABASE, else the user's own, for ``None``.
        beside_foreign: write into a database that holds somebody else's nodes of the same labels.
            Said once for a build; those nodes stay untouched and uncounted.
        identity: of what the server's build is made; kept with it. A build of that name which is
            made of something else is refused.

    Raises:
        UsageError: no engine knows the scheme, an option does not fit the engine, or the build has
            another identity.
        InputError: this is no graph of ehrkg of this schema version, or it is damaged, or foreign
            nodes lie there.
        ServiceError: the server is not there or refuses, or another process holds the file.

    >>> import tempfile, pyarrow as pa
    >>> folder = tempfile.TemporaryDirectory()
    >>> with open_store(folder.name + "/graph.lbug") as store:
    ...     store.write_nodes("Concept", pa.table({"id": ["MONDO:1"], "name": ["O'Brien's"]}))
    ...     store.query("MATCH (c:Concept) WHERE c.id = $id RETURN c.name AS name", id="MONDO:1")[0]
    1
    <pyarrow.lib.ChunkedArray object at ...>
    [
      [
        "O'Brien's"
      ]
    ]
    """
    text = _text(target)
    scheme, separator, _ = text.partition("://")
    opener = OPENERS.get(scheme if separator else "")
    if opener is None:
        raise UsageError(
            f"no engine opens {scheme}://…",
            todo=f"use a file path or one of {', '.join(name for name in OPENERS if name)}",
        )
    if separator:
        text, _, named = text.partition("#")
        build = named or build
    return opener(text, Options(build, read_only, auth, database, beside_foreign, identity))
