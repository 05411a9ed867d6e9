"""Files that ``neo4j-admin database import full`` loads: the fast way for large graphs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from ehrkg.foundation.errors import InputError
from ehrkg.graph import tables
from ehrkg.graph.folders import new_folder
from ehrkg.graph.neo4j_values import KEY, LISTS, UNFINISHED, check_carried, check_keys
from ehrkg.graph.schema import EDGES, NODES
from ehrkg.graph.store import GraphStore

PARTS = "\x1f"
"""What parts the items of a list: a control character that no text of a hospital should hold."""

TYPES = {
    pa.string(): "string",
    pa.int32(): "long",
    pa.int64(): "long",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("s"): "localdatetime",
    pa.list_(pa.string()): "string[]",
}
"""The importer's words for the schema's types."""

OPTIONS = (
    "--multiline-fields=true",
    "--legacy-style-quoting=false",
    "--ignore-empty-strings=false",
    "--trim-strings=false",
    "--array-delimiter=U+001F",
    "--bad-tolerance=0",
)


def export_for_neo4j_admin(store: GraphStore, folder: Path, *, database: str = "neo4j") -> str:
    """Write a graph's build as CSV files with typed headers, and say how to load them.

    Constraints and indexes are made, and empty lists (which the importer can't tell from none) get
    their value, when the loaded build is first opened for writing.

    Args:
        store: the graph.
        folder: where the files go; a new folder, or an empty one.
        database: the database to load; it must be new or empty, and the server stopped.

    Returns:
        The command line that loads them.

    Raises:
        UsageError: the folder holds something.
        InputError: a value that the files can't carry, by name; the folder is then not made.

    >>> import tempfile
    >>> from ehrkg.graph.store import open_store
    >>> folder = Path(tempfile.mkdtemp())
    >>> with open_store(folder / "graph.lbug") as store:
    ...     _ = store.write_nodes("Concept", pa.table({"id": ["MONDO:1"], "name": ["gout"]}))
    ...     line = export_for_neo4j_admin(store, folder / "files")
    >>> line.split(" --")[0]
    'neo4j-admin database import full neo4j'
    """
    folder = folder.expanduser().resolve()
    with new_folder(folder) as part:
        words = [*_write_nodes(store, part), *_write_edges(store, part)]
    named = [word.replace("{}", str(folder)) for word in words]
    return shlex.join(["neo4j-admin", "database", "import", "full", database, *OPTIONS, *named])


def _write_nodes(store: GraphStore, folder: Path) -> Iterator[str]:
    for label, node in NODES.items():
        header = [
            f"{KEY}:ID({label})",
            "build:string",
            f"{LISTS}:string[]",
            *_typed(node.properties),
        ]
        if label == "Build":
            header.append(f"{UNFINISHED}:boolean")
        pieces = (_node_columns(store, label, piece) for piece in store.scan_nodes(label))
        if _write(folder / f"{label}.csv", header, pieces):
            yield f"--nodes={label}={{}}/{label}.csv"


def _node_columns(store: GraphStore, label: str, piece: pa.Table) -> pa.Table:
    check_keys(store.build, piece.column("id"), label)
    ids = piece.column("id")
    keys = pc.binary_join_element_wise(f"{store.build}|", ids, "")
    build = pa.repeat(pa.scalar(store.build), piece.num_rows)
    whole = pa.table(
        [keys, build, _odd_lists(piece), *_as_text(piece, label).columns],
        names=["key", "build", "lists", *piece.column_names],
    )
    if label == "Build":
        whole = whole.append_column("unfinished", pa.array([True] * piece.num_rows))
    return whole


def _odd_lists(piece: pa.Table) -> pa.Array:
    """The names of the lists that the importer reads as null: empty ones, and those of one "".

    The store gives them their value when the build is first opened for writing.
    """
    words = pa.repeat(pa.scalar(""), piece.num_rows)
    for field in piece.schema:
        if pa.types.is_list(field.type):
            column = piece.column(field.name)
            length = pc.fill_null(pc.list_value_length(column), -1)
            blank = pc.and_(pc.equal(length, 1), pc.equal(pc.binary_join(column, PARTS), ""))
            odd = pc.if_else(pc.fill_null(blank, False), f"{field.name}={PARTS}", "")
            odd = pc.if_else(pc.equal(length, 0), f"{field.name}{PARTS}", odd)
            words = pc.binary_join_element_wise(words, odd, "")
    words = pc.utf8_rtrim(words, PARTS)
    return pc.if_else(pc.equal(words, ""), pa.scalar(None, pa.string()), words)


def _write_edges(store: GraphStore, folder: Path) -> Iterator[str]:
    for edge in EDGES.values():
        for start, end in edge.joins:
            header = [f":START_ID({start})", f":END_ID({end})", *_typed(edge.properties)]
            pieces = (
                _edge_columns(store, edge.type, part.select(["from", "to", *edge.properties.names]))
                for piece in store.scan_edges(edge.type)
                for a, b, part in tables.by_join(edge, piece)
                if (a, b) == (start, end)
            )
            name = f"{edge.type}-{start}-{end}.csv"
            if _write(folder / name, header, pieces):
                yield f"--relationships={edge.type}={{}}/{name}"


def _edge_columns(store: GraphStore, name: str, piece: pa.Table) -> pa.Table:
    ends = [
        pc.binary_join_element_wise(f"{store.build}|", piece.column(side), "")
        for side in ("from", "to")
    ]
    owned = piece.drop_columns(["from", "to"])
    return pa.table(
        [*ends, *_as_text(owned, name).columns], names=["from", "to", *owned.column_names]
    )


def _typed(schema: pa.Schema) -> list[str]:
    return [f"{field.name}:{TYPES[field.type]}" for field in schema]


def _as_text(piece: pa.Table, what: str) -> pa.Table:
    """Columns as the importer reads them: a null is an empty field, an empty text is quoted."""
    check_carried(piece, what)
    for at, field in enumerate(piece.schema):
        column = piece.column(at)
        if pa.types.is_timestamp(field.type):
            column = pc.strftime(column, "%Y-%m-%dT%H:%M:%S")
        elif pa.types.is_floating(field.type):
            column = _doubles(column)
        elif pa.types.is_list(field.type):
            column = _joined(column, field.name, what)
        piece = piece.set_column(at, field.name, column)
    return piece


def _doubles(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers as Java reads them."""
    texts = column.cast(pa.string())
    for ours, javas in (("nan", "NaN"), ("inf", "Infinity"), ("-inf", "-Infinity")):
        texts = pc.if_else(pc.equal(texts, ours), javas, texts)
    return texts


def _joined(column: pa.ChunkedArray, name: str, what: str) -> pa.ChunkedArray:
    items = pc.list_flatten(column)
    if pc.any(pc.match_substring(items, PARTS)).as_py():
        raise InputError(
            f"{what}: an item of a list holds the control character U+001F",
            column=name,
            todo="take it out, or copy the graph with ehrkg graph copy",
        )
    return pc.binary_join(column, PARTS)


def _write(path: Path, header: list[str], pieces: Iterator[pa.Table]) -> bool:
    """Write a file; none where there is no row."""
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="needed")
    written = False
    with path.open("wb") as handle:
        handle.write((",".join(header) + "\n").encode())
        for piece in pieces:
            if piece.num_rows:
                arrow_csv.write_csv(piece, handle, options)
                written = True
    if not written:
        path.unlink()
    return written
