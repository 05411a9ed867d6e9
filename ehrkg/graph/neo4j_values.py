"""Columns as parameters of a Cypher statement, and lists of rows as tables again.

A batch goes as one list a column, not as one map a row: no name is sent twice, and packing it
takes a third of the time. Times and dates go as text and times come back as seconds since 1970,
which the server turns into its own types and back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import InputError

KEY = "ehrkg_key"
"""The property that holds ``"<build>|<id>"`` on every node that ehrkg wrote, and on no other."""

UNFINISHED = "unfinished"
"""True on the node of a build that neo4j-admin loaded, until it is first opened for writing."""

LISTS = "ehrkg_lists"
"""On a node that neo4j-admin loaded: the lists that are empty, and, with "=", those of one ""."""

BATCH = 10_000
"""Rows a transaction at most."""

BATCH_BYTES = 16 << 20
"""Bytes a transaction at most, unless a single row has more."""

LONGEST_KEY = 4_000
"""Bytes of a node's key at most: the server's indexes hold no longer texts than about twice it."""

_EPOCH = "localdatetime('1970-01-01T00:00:00')"


def check_carried(table: pa.Table, what: str) -> None:
    """Refuse what Neo4j has no value for.

    Raises:
        InputError: a list holds a null; it names the column and the row.
    """
    for field in table.schema:
        if not pa.types.is_list(field.type):
            continue
        column = table.column(field.name).combine_chunks()
        items = column.flatten()
        if items.null_count:
            at = pc.list_parent_indices(column).filter(pc.is_null(items))[0].as_py()
            who = {
                name: table.column(name)[at].as_py()
                for name in table.column_names
                if name in ("id", "from", "to")
            }
            raise InputError(
                f"{what}: a list holds a null, which Neo4j can't keep",
                column=field.name,
                found=who,
                todo="leave the null out of the list, or use a graph file",
            )


def check_keys(build: str, ids: pa.ChunkedArray, what: str) -> None:
    """Refuse ids that are too long to be found by an index.

    Raises:
        InputError: it shows how one begins.
    """
    longest = pc.max(pc.binary_length(ids)).as_py() or 0
    if len(build.encode()) + 1 + longest > LONGEST_KEY:
        at = pc.index(pc.binary_length(ids), longest).as_py()
        raise InputError(
            f"{what}: an id is too long for an index of Neo4j",
            column="id",
            found=f"{longest} bytes: {ids[at].as_py()[:40]}…",
            expected=f"{LONGEST_KEY} bytes",
            todo="shorten it, or use a graph file",
        )


def batches(table: pa.Table) -> Iterator[pa.Table]:
    """The table in pieces that a transaction can take."""
    for at in range(0, table.num_rows, BATCH):
        yield from _small(table.slice(at, BATCH))


def _small(piece: pa.Table) -> Iterator[pa.Table]:
    if piece.num_rows < 2 or piece.nbytes <= BATCH_BYTES:
        yield piece
        return
    half = piece.num_rows // 2
    yield from _small(piece.slice(0, half))
    yield from _small(piece.slice(half))


def columns(table: pa.Table) -> dict[str, list[Any]]:
    """The columns as parameters ``$c_NAME``; columns of nothing but nulls are sent too."""
    found = {}
    for field in table.schema:
        column = table.column(field.name)
        if pa.types.is_timestamp(field.type):
            column = pc.strftime(column.cast(pa.timestamp("s")), "%Y-%m-%dT%H:%M:%S")
        elif pa.types.is_date(field.type):
            column = column.cast(pa.string())
        found[f"c_{field.name}"] = column.to_pylist()
    return found


def _sent(field: pa.Field) -> str:
    """Row ``i`` of a column as a value of the server's."""
    one = f"$c_{field.name}[i]"
    if pa.types.is_timestamp(field.type):
        return f"localdatetime({one})"
    if pa.types.is_date(field.type):
        return f"date({one})"
    return one


def literal(table: pa.Table) -> str:
    """The inside of ``{…}`` that gives a new edge its properties."""
    return ", ".join(f"`{field.name}`: {_sent(field)}" for field in table.schema)


def settings(table: pa.Table, name: str) -> list[str]:
    """``n.x = …`` for each column; an assignment in SET, a comparison in WHERE."""
    return [f"{name}.`{field.name}` = {_sent(field)}" for field in table.schema]


def readable(schema: pa.Schema, name: str) -> list[str]:
    """The properties of a map as values that ``table`` takes.

    A map, ``properties(n)``, since the server walks a node's properties anew for each ``n.x``.
    """
    found = []
    for field in schema:
        one = f"{name}.`{field.name}`"
        if pa.types.is_timestamp(field.type):
            one = f"duration.inSeconds({_EPOCH}, {one}).seconds"
        elif pa.types.is_date(field.type):
            one = f"toString({one})"
        found.append(one)
    return found


def table(records: list[list[Any]], schema: pa.Schema) -> pa.Table:
    """Rows of ``readable`` values as a table of the schema.

    Raises:
        InputError: somebody changed a property to another type.
    """
    arrays = []
    by_column = list(zip(*records, strict=True)) or [()] * len(schema)
    for field, given in zip(schema, by_column, strict=True):
        plain = field.type
        if pa.types.is_timestamp(plain):
            plain = pa.int64()
        elif pa.types.is_date(plain):
            plain = pa.string()
        try:
            arrays.append(pa.array(given, plain).cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputError(
                f"a property was changed by another program: {error}",
                column=field.name,
                expected=str(field.type),
                todo="build the graph again",
            ) from error
    return pa.table(arrays, schema=schema)
