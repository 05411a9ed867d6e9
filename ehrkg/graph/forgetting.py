"""Nodes taken out of a graph, so that their bytes are not left behind either."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.graph.schema import EDGES, NODES
from ehrkg.graph.store import GraphStore

Gone = Mapping[str, Collection[str]]
"""By label, the ids of the nodes that shall be no more.

A Code that a code system describes stays, as one that no hospital recorded."""


def copy_without(source: GraphStore, target: GraphStore, gone: Gone) -> None:
    """Copy a graph, save for some nodes and their edges.

    A file keeps the bytes of what is deleted in it until something else is written over them; a
    new file never held them.

    Args:
        source: read from.
        target: a new graph, of the same build id.
        gone: what is left out.

    >>> import tempfile
    >>> from ehrkg.graph.store import open_store
    >>> folder = tempfile.TemporaryDirectory()
    >>> with open_store(folder.name + "/a.lbug") as one, open_store(folder.name + "/b.lbug") as two:
    ...     _ = one.write_nodes("Patient", pa.table({"id": ["p1", "p2"]}))
    ...     copy_without(one, two, {"Patient": ["p1"]})
    ...     two.counts()
    {'Patient': 1}
    """
    kept: dict[str, pa.Array] = {}
    for label in NODES:
        table = source.read_nodes(label)
        if label == "Code":
            table = _unrecorded(table, gone.get(label, ()))
            table = table.filter(_survives(table, gone.get(label, ())))
        else:
            table = table.filter(pc.invert(_among(table.column("id"), gone.get(label, ()))))
        kept[label] = pc.unique(table.column("id"))
        target.write_nodes(label, table)
    for name, edge in EDGES.items():
        table = source.read_edges(name)
        if not table.num_rows:
            continue
        several = len(edge.joins) > 1
        mask = pa.array([False] * table.num_rows, pa.bool_())
        for start, end in edge.joins:
            ends = pc.and_(
                pc.is_in(table.column("from"), value_set=kept[start]),
                pc.is_in(table.column("to"), value_set=kept[end]),
            )
            if several:
                labels = pc.and_(
                    pc.equal(table.column("from_label"), start),
                    pc.equal(table.column("to_label"), end),
                )
                ends = pc.and_(ends, labels)
            mask = pc.or_(mask, ends)
        target.write_edges(name, table.filter(mask))


def delete(store: GraphStore, gone: Gone) -> None:
    """Delete nodes and their edges where they lie: on a server, which is not ours to copy."""
    codes = store.read_nodes("Code")
    here = codes.filter(_among(codes.column("id"), gone.get("Code", ())))
    stay = here.filter(_survives(here, gone.get("Code", ())))
    if stay.num_rows:
        left = _unrecorded(stay, gone["Code"])
        store.write_nodes("Code", left.select(["id", "recorded", "name"]))
    for label in NODES:
        ids = set(gone.get(label, ())) - set(stay["id"].to_pylist() if label == "Code" else ())
        if ids:
            store.delete_nodes(label, sorted(ids))


def _among(column: pa.ChunkedArray, ids: Collection[str]) -> pa.ChunkedArray:
    return pc.is_in(column, value_set=pa.array(sorted(ids), pa.string()))


def _survives(codes: pa.Table, ids: Collection[str]) -> pa.ChunkedArray:
    described = pc.fill_null(codes.column("described"), False)
    return pc.or_(described, pc.invert(_among(codes.column("id"), ids)))


def _unrecorded(codes: pa.Table, ids: Collection[str]) -> pa.Table:
    """The codes, those with these ids as ones that no hospital recorded, under no name of its."""
    here = _among(codes.column("id"), ids)
    for name in ("recorded", "name"):
        column = codes.column(name)
        emptied = pc.if_else(here, pa.scalar(None, column.type), column)
        codes = codes.set_column(codes.schema.get_field_index(name), name, emptied)
    return codes
