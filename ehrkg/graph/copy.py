"""Move a graph of the schema from one engine to another."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.graph.schema import EDGES, NODES
from ehrkg.graph.store import GraphStore


def copy_graph(
    source: GraphStore, target: GraphStore, *, progress: Progress | None = None
) -> dict[str, int]:
    """Copy the source's build into the target's, which then has the same content hash.

    Args:
        source: read from.
        target: written to; its build is empty, or what an earlier copy, cut off, left of the same
            graph.
        progress: shows how many labels and types are done.

    Returns:
        How many nodes by label and edges by type the target holds.

    Raises:
        InputError: the target's engine can't carry a value (before anything is written), or the
            copy differs from the source in the end.
        UsageError: the target's build holds nodes that the source does not have.

    >>> import tempfile
    >>> from ehrkg.graph.store import open_store
    >>> folder = tempfile.TemporaryDirectory()
    >>> with open_store(folder.name + "/a.lbug") as one, open_store(folder.name + "/b.lbug") as two:
    ...     _ = one.write_nodes("Concept", pa.table({"id": ["MONDO:1"], "name": ["O'Brien's"]}))
    ...     copy_graph(one, two), one.content_hash() == two.content_hash()
    ({'Concept': 1}, True)
    """
    bar = progress or Silent()
    counts = source.counts()
    bar.start("copying", 2 * len(counts))
    for name in counts:
        _check(source, target, name)
        bar.advance()
    _copy_build(source, target)
    for name in counts:
        if name in NODES:
            target.write_nodes(name, source.read_nodes(name))
        else:
            target.write_edges(name, source.read_edges(name))
        bar.advance()
    if source.content_hash() != target.content_hash():
        raise InputError(
            "the copy differs from its source",
            found=_difference(counts, target.counts()),
            todo="drop the target's build and copy again; something else wrote there",
        )
    return target.counts()


def _check(source: GraphStore, target: GraphStore, name: str) -> None:
    """Refuse, before anything is written, what the target can't carry or already mixes."""
    table = source.read_nodes(name) if name in NODES else source.read_edges(name)
    target.check_carried(name, table)
    if name in EDGES:
        return
    there = target.read_nodes(name).column("id")
    strange = there.filter(pc.invert(pc.is_in(there, value_set=_array(table.column("id")))))
    if len(strange):
        raise UsageError(
            f"the target's build {target.build!r} holds {name} nodes that the source does not "
            f"have: {', '.join(strange[:3].to_pylist())}",
            todo="name a new build for the target, or drop this one first",
        )


def _copy_build(source: GraphStore, target: GraphStore) -> None:
    """The build's own node goes under the target's name for it."""
    table = source.read_nodes("Build")
    if table.num_rows:
        at = table.column_names.index("id")
        target.write_nodes("Build", table.set_column(at, "id", pa.array([target.build])))


def _array(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)


def _difference(wanted: dict[str, int], found: dict[str, int]) -> str:
    names = [name for name in (*NODES, *EDGES) if wanted.get(name, 0) != found.get(name, 0)]
    shown = [f"{found.get(name, 0)} {name} instead of {wanted.get(name, 0)}" for name in names[:5]]
    return "; ".join(shown) or "other properties"
