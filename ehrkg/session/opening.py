"""Opening a graph as the object that notebooks hold."""

from __future__ import annotations

from pathlib import Path

from ehrkg.graph import open_store
from ehrkg.session.kg import KnowledgeGraph


def open_graph(
    target: str | Path,
    *,
    build: str = "default",
    read_only: bool = False,
    auth: tuple[str, str] | None = None,
    database: str | None = None,
    beside_foreign: bool = False,
) -> KnowledgeGraph:
    """Open a knowledge graph, or begin one.

    Args:
        target: a file (``out/graph.lbug``) for the embedded engine, or the address of a server
            (``neo4j://host:7687``).
        build: names the build that what is written belongs to.
        read_only: refuse writes; several processes may then read one file.
        auth: user and password of a server; from NEO4J_USERNAME and NEO4J_PASSWORD for ``None``.
        database: the server's database; NEO4J_DATABASE, else the user's own, for ``None``.
        beside_foreign: write beside somebody else's nodes of the same labels.

    Raises:
        InputError: the file is damaged, or foreign nodes lie in the database.
        ServiceError: the server is not there or refuses; another process holds the file.
        UsageError: no engine speaks that address.

    >>> import tempfile
    >>> with open_graph(tempfile.mkdtemp() + "/graph.lbug") as kg:
    ...     kg
    KnowledgeGraph(...)
    """
    store = open_store(
        target,
        build=build,
        read_only=read_only,
        auth=auth,
        database=database,
        beside_foreign=beside_foreign,
    )
    events = None if "://" in str(target) else Path(target).with_name("events.parquet")
    return KnowledgeGraph(store, events=events if events and events.is_file() else None)
