"""What a Neo4j database needs before a build is read or written in it, and keys by the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.graph.neo4j_session import Session
from ehrkg.graph.neo4j_values import KEY, LISTS, UNFINISHED
from ehrkg.graph.schema import NODES

PAGE = 5_000
"""Nodes that are read, whose edges are read, or that are deleted, at a time."""


def refuse_foreign(session: Session) -> None:
    """Refuse a database in which our labels are somebody else's too.

    Raises:
        InputError: it names the labels, and what to say.
    """
    parts = [
        f"MATCH (n:{label}) WHERE n.{KEY} IS NULL WITH n LIMIT 1 RETURN '{label}' AS label"
        for label in NODES
    ]
    found = [row[0] for row in session.read(" UNION ALL ".join(parts))]
    if found:
        raise InputError(
            f"the database at {session.address} holds nodes that ehrkg did not write, under "
            "labels that it uses",
            found=", ".join(found),
            todo="use another database, or say beside_foreign=True (--beside-foreign): they "
            "stay untouched, but a query for a label finds them too",
        )


def refuse_another(session: Session, build: str, found: str | None, wanted: str | None) -> None:
    """Refuse a build that is made of something else than what is to be written.

    Raises:
        UsageError: it names the build; nothing is refused where nothing particular is ``wanted``.
    """
    if wanted is not None and found != wanted:
        raise UsageError(
            f"the build {build!r} at {session.address} is of another hospital, other settings or "
            "another ehrkg",
            todo=f"name another build, or drop it first: ehrkg graph drop --build {build} "
            f"--graph {session.address}",
        )


def edge_totals(session: Session, names: Iterable[str]) -> dict[str, int]:
    """How many edges of each type the database holds, whoever wrote them; a look-up."""
    parts = [f"MATCH ()-[r:{name}]->() RETURN '{name}' AS name, count(r) AS n" for name in names]
    return dict(session.read(" UNION ALL ".join(parts)))


def make_indexes(session: Session) -> None:
    """Constraints and indexes that are not there yet; waits until they work."""
    there = {
        row[0]
        for kind in ("CONSTRAINTS", "INDEXES")
        for row in session.read(f"SHOW {kind} YIELD name RETURN name")
    }
    wanted = {
        f"ehrkg_{label}_key": f"CREATE CONSTRAINT ehrkg_{label}_key IF NOT EXISTS "
        f"FOR (n:{label}) REQUIRE n.{KEY} IS UNIQUE"
        for label in NODES
    } | {
        f"ehrkg_{label}_id": f"CREATE INDEX ehrkg_{label}_id IF NOT EXISTS "
        f"FOR (n:{label}) ON (n.id)"
        for label in NODES
    }
    missing = [statement for name, statement in wanted.items() if name not in there]
    if missing:
        session.write(lambda tx: [tx.run(one).consume() for one in missing])
        session.run("CALL db.awaitIndexes(600)")


def finish_import(session: Session, build: str) -> None:
    """Give lists that neo4j-admin read as null their value; cut off, it goes on next time."""
    for label, node in NODES.items():
        lists = [f.name for f in node.properties if pa.types.is_list(f.type)]
        sets = ", ".join(
            f"n.{name} = CASE WHEN '{name}' IN n.{LISTS} THEN [] "
            f"WHEN '{name}=' IN n.{LISTS} THEN [''] ELSE n.{name} END"
            for name in lists
        )
        for keys in pages(all_keys(session, label, build) if lists else []):
            session.run(
                f"MATCH (n:{label}) WHERE n.{KEY} IN $keys AND n.{LISTS} IS NOT NULL "
                f"SET {sets} REMOVE n.{LISTS}",
                {"keys": keys},
            )
    session.run(
        f"MATCH (b:Build {{{KEY}: $key}}) REMOVE b.{UNFINISHED}", {"key": f"{build}|{build}"}
    )


def all_keys(session: Session, label: str, build: str) -> list[str]:
    """The keys of all nodes of a label that a build holds, sorted."""
    found: list[str] = session.read(
        f"MATCH (n:{label}) WHERE n.{KEY} STARTS WITH $prefix RETURN collect(n.{KEY})",
        {"prefix": f"{build}|"},
    )[0][0]
    return sorted(found)


def leaving(edge_type: str, end: str) -> str:
    """A type's edges from ``a`` to the build's nodes of a label, as MATCH takes it.

    What is asked of ``b`` is said so that no index can answer it: else the planner may look up both
    ends and try every pair.
    """
    return (
        f"(a)-[r:{edge_type}]->(b) WHERE '{end}' IN labels(b) "
        f"AND left(b.{KEY}, size($prefix)) = $prefix"
    )


def pages(keys: list[str], size: int = PAGE) -> Iterator[list[str]]:
    """Keys in pieces that one statement can take."""
    for at in range(0, len(keys), size):
        yield keys[at : at + size]
