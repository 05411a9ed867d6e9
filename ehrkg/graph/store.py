"""What a graph store can do, and the one door to every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa

from ehrkg.foundation.errors import UsageError


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

    def query(self, cypher: str, /, **parameters: Any) -> pa.Table:
        """The answer of one read-only Cypher statement; parameters are bound, never pasted in.

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


Opener = Callable[[str, str, bool], GraphStore]
"""Opens a target for a build: ``opener(target, build, read_only)``."""


def _open_ladybug(target: str, build: str, read_only: bool) -> GraphStore:
    from ehrkg.graph.ladybug import LadybugStore

    return LadybugStore(Path(target), build=build, read_only=read_only)


def _not_yet(target: str, build: str, read_only: bool) -> GraphStore:  # noqa: ARG001
    raise UsageError(
        f"Neo4j is not supported yet: {target.split('://', 1)[0]}://…",
        todo="give the path of a graph file, such as out/graph.lbug; Neo4j comes behind this call",
    )


OPENERS: Mapping[str, Opener] = {
    "": _open_ladybug,
    "neo4j": _not_yet,
    "neo4j+s": _not_yet,
    "neo4j+ssc": _not_yet,
    "bolt": _not_yet,
    "bolt+s": _not_yet,
    "bolt+ssc": _not_yet,
}
"""Which engine opens which scheme; a target without a scheme is a file. One row an engine."""


def open_store(
    target: str | Path, *, build: str = "default", read_only: bool = False
) -> GraphStore:
    """Open a graph, making it if it is not there.

    Args:
        target: a file ("out/graph.lbug"), or the address of a server.
        build: which build to read and write; one graph can hold several side by side.
        read_only: open what is there, write nothing.

    Raises:
        UsageError: no engine knows the scheme.
        InputError: the file is not a graph of ehrkg, is damaged, or is held by another process.

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
    scheme, separator, _ = str(target).partition("://")
    opener = OPENERS.get(scheme if separator else "")
    if opener is None:
        raise UsageError(
            f"no engine opens {scheme}://…",
            todo=f"use a file path or one of {', '.join(name for name in OPENERS if name)}",
        )
    return opener(str(target), build, read_only)
