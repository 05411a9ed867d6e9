"""What every engine does with tables before it writes them and after it has read them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.graph import rows
from ehrkg.graph.schema import EDGES, NODES, SCHEMA_VERSION, EdgeType, NodeType

if TYPE_CHECKING:
    from ehrkg.graph.store import GraphStore

T = TypeVar("T")
TEXT = pa.string()


def node_type(label: str) -> NodeType:
    """The node type of a label.

    Raises:
        UsageError: the schema has no such label.
    """
    return _known(NODES, label, "label")


def edge_type(name: str) -> EdgeType:
    """The edge type of a name.

    Raises:
        UsageError: the schema has no such type.
    """
    return _known(EDGES, name, "edge type")


def _known(table: Mapping[str, T], name: str, what: str) -> T:
    if name not in table:
        raise UsageError(f"no {what} {name!r}", todo=f"use one of {', '.join(table)}")
    return table[name]


def edge_ends(edge: EdgeType) -> list[str]:
    """The columns that name an edge's ends; the labels too where the type joins several pairs."""
    return ["from", "to"] + (["from_label", "to_label"] if len(edge.joins) > 1 else [])


def edge_schema(edge: EdgeType) -> pa.Schema:
    """The columns of a table of edges: its ends, then its properties."""
    return pa.schema([pa.field(name, TEXT) for name in edge_ends(edge)] + list(edge.properties))


def edge_order(edge: EdgeType) -> list[tuple[str, str]]:
    """How a table of edges is sorted: by its ends and the properties of the key."""
    names = edge_schema(edge).names
    return [(name, "ascending") for name in names if name in ("from", "to", *edge.key)]


def nodes_to_write(node: NodeType, table: pa.Table) -> pa.Table:
    """A caller's table of nodes: known columns, right types, one row an id.

    Raises:
        UsageError: an unknown column, or none for the id.
        InputError: a value that does not fit, an id that is null or stands twice and differs.
    """
    given = rows.conform(table, node.properties, node.label)
    if "id" not in given.column_names:
        raise UsageError(f"the table for {node.label} lacks the column 'id'")
    return rows.fold(given, ["id"], node.label)


def edges_to_write(edge: EdgeType, table: pa.Table) -> pa.Table:
    """A caller's table of edges with every column of the schema, one row a key.

    Raises:
        UsageError: an unknown column, or an end's is missing.
        InputError: a value that does not fit, a key that is null or stands twice and differs.
    """
    ends = edge_ends(edge)
    given = rows.conform(table, edge.properties, edge.type, also=ends)
    return rows.fold(rows.complete(given, edge_schema(edge)), [*ends, *edge.key], edge.type)


def by_join(edge: EdgeType, table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    """The table's parts for each pair of labels that the type joins.

    Raises:
        InputError: rows that join other labels.
    """
    if len(edge.joins) == 1:
        start, end = edge.joins[0]
        if table.num_rows:
            yield start, end, table
        return
    left = table.num_rows
    for start, end in edge.joins:
        mask = pc.and_(
            pc.equal(table.column("from_label"), start), pc.equal(table.column("to_label"), end)
        )
        part = table.filter(mask)
        left -= part.num_rows
        if part.num_rows:
            yield start, end, part
    if left:
        raise InputError(
            f"{edge.type}: {left} rows join labels that it does not join",
            expected=" or ".join(f"{a} to {b}" for a, b in edge.joins),
        )


def check_known_ends(edge: EdgeType, side: str, label: str, part: pa.Table, ids: pa.Array) -> None:
    """Refuse edges whose end is not among the ids of a label.

    Raises:
        InputError: it names them.
    """
    known = pc.is_in(part.column(side), value_set=ids)
    if not pc.all(known).as_py():
        lost = pc.unique(part.column(side).filter(pc.invert(known)))
        raise InputError(
            f"{edge.type}: {len(lost)} of the {label} nodes it names are not there",
            column=side,
            found=", ".join(map(str, lost.to_pylist()[:5])),
            todo=f"write the {label} nodes first",
        )


def new_and_changed(
    edge: EdgeType, given: pa.Table, there: pa.Table
) -> tuple[pa.Table, pa.Table, int]:
    """What writing edges beside those that are there means.

    Returns:
        The edges to make, the edges to delete before (their properties differ), and how many keys
        are new.
    """
    key = [*edge_ends(edge), *edge.key]
    if not there.num_rows:
        return given, given.slice(0, 0), given.num_rows
    old = pc.is_in(rows.row_texts(given, key), value_set=rows.row_texts(there, key))
    same = pc.is_in(
        rows.row_texts(given, given.column_names),
        value_set=rows.row_texts(there, given.column_names),
    )
    fresh = given.filter(pc.invert(same))
    stale = given.filter(pc.and_(old, pc.invert(same)))
    return fresh, stale, int(given.num_rows - pc.sum(old).as_py())


def labelled(table: pa.Table, edge: EdgeType, start: str, end: str) -> pa.Table:
    """A table of edges with the columns of its labels, where the type has them."""
    if len(edge.joins) > 1:
        for name, label in (("from_label", start), ("to_label", end)):
            table = table.append_column(name, pa.array([label] * table.num_rows, TEXT))
    return rows.complete(table, edge_schema(edge))


def whole_nodes(node: NodeType, parts: list[pa.Table]) -> pa.Table:
    """Pieces of a label's nodes as one sorted table."""
    return pa.concat_tables([node.properties.empty_table(), *parts]).sort_by("id").combine_chunks()


def whole_edges(edge: EdgeType, parts: list[pa.Table]) -> pa.Table:
    """Pieces of a type's edges as one sorted table."""
    whole = pa.concat_tables([edge_schema(edge).empty_table(), *parts])
    return whole.sort_by(edge_order(edge)).combine_chunks()


def graph_hash(store: GraphStore) -> str:
    """The fingerprint of a build's nodes and edges, whatever the engine."""
    digest = hashlib.sha256(f"ehrkg graph {SCHEMA_VERSION}".encode())
    for name in store.counts():
        table = store.read_nodes(name) if name in NODES else store.read_edges(name)
        digest.update(f"\n{name}\t{rows.content_hash(table)}".encode())
    return digest.hexdigest()


def check_schema_versions(found: Iterable[int | None], where: object) -> None:
    """Refuse a graph that another version of the schema was written by.

    Raises:
        InputError: it says which, and what to do.
    """
    others = {version for version in found if version != SCHEMA_VERSION}
    if not others:
        return
    other = max(version or 0 for version in others)
    raise InputError(
        "the graph has another schema",
        file=str(where),
        found=f"version {other}",
        expected=f"version {SCHEMA_VERSION}",
        todo="build it again with this ehrkg: nothing turns an older graph into this version"
        if other < SCHEMA_VERSION
        else "install the newer ehrkg that wrote it",
    )


def check_build_name(build: str) -> str:
    """A build's name that keys can be made of.

    Raises:
        UsageError: it is empty, or holds what parts build and id in a key.
    """
    if not build or "|" in build or "\n" in build:
        raise UsageError(
            f"no name for a build: {build!r}", todo="use letters, digits, - and _; never |"
        )
    return build
