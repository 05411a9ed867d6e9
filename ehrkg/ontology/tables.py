"""Small helpers that give every knowledge table its schema, its keys and its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ontology.schema import (
    CODE_ATTRIBUTES,
    CONCEPTS,
    EDGES,
    MAPPINGS,
    PASSAGES,
    SYNONYMS,
    Knowledge,
)
from ehrkg.ontology.sql import run

SORT_KEYS: Mapping[str, tuple[str, ...]] = {
    "concepts": ("id",),
    "synonyms": ("concept", "text", "source", "scope"),
    "edges": ("predicate", "subject", "object", "source", "id"),
    "mappings": ("subject", "predicate", "object", "source", "confidence"),
    "attributes": ("code",),
    "passages": ("concept", "kind", "id"),
}
SCHEMAS: Mapping[str, pa.Schema] = {
    "concepts": CONCEPTS,
    "synonyms": SYNONYMS,
    "edges": EDGES,
    "mappings": MAPPINGS,
    "attributes": CODE_ATTRIBUTES,
    "passages": PASSAGES,
}


def build(table: str, rows: Sequence[Sequence[object]]) -> pa.Table:
    """A sorted table out of rows in the schema's column order."""
    schema = SCHEMAS[table]
    columns: list[Sequence[object]] = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [
        pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)
    ]
    return ordered(table, pa.Table.from_arrays(arrays, schema=schema))


def ordered(table: str, rows: pa.Table) -> pa.Table:
    """The rows sorted by the table's key, in one chunk."""
    keys = [(name, "ascending") for name in SORT_KEYS[table]]
    return rows.sort_by(keys).combine_chunks()


def is_folded(table: str, rows: pa.Table) -> bool:
    """Whether rows ascend strictly by the table's key: sorted already, and no two alike.

    Costs a look at each row, where sorting a large table again costs minutes and its size twice.
    """
    if rows.num_rows < 2:
        return True
    before, after = rows.slice(0, rows.num_rows - 1), rows.slice(1)
    ascends: pa.ChunkedArray | None = None
    for name in reversed(SORT_KEYS[table]):
        one, two = before[name], after[name]
        less = pc.less(one, two)
        ascends = less if ascends is None else pc.or_(less, pc.and_(pc.equal(one, two), ascends))
    return bool(pc.all(ascends).as_py())


def distinct(table: str, rows: pa.Table) -> pa.Table:
    """The distinct rows sorted by the table's key."""
    if is_folded(table, rows):
        return rows
    keys = ", ".join(SORT_KEYS[table])
    found = run(f"SELECT DISTINCT * FROM rows ORDER BY {keys}", rows=rows)  # noqa: S608
    return found.cast(SCHEMAS[table])


def knowledge(
    *,
    concepts: pa.Table | None = None,
    synonyms: pa.Table | None = None,
    edges: pa.Table | None = None,
    mappings: pa.Table | None = None,
    attributes: pa.Table | None = None,
    passages: pa.Table | None = None,
) -> Knowledge:
    """A Knowledge whose missing tables are empty.

    >>> knowledge().edges.num_rows
    0
    """
    given = {
        "concepts": concepts,
        "synonyms": synonyms,
        "edges": edges,
        "mappings": mappings,
        "attributes": attributes,
        "passages": passages,
    }
    full = {name: SCHEMAS[name].empty_table() if t is None else t for name, t in given.items()}
    return Knowledge(**full)


def with_edge_ids(rows: pa.Table) -> pa.Table:
    """Edges with an id out of their content: "e" and 16 hexadecimal digits of its MD5.

    Args:
        rows: the columns of EDGES but ``id``, in any order; ``original_predicate`` may be left out
            where every predicate was known.
    """
    if "original_predicate" not in rows.column_names:
        none = pa.repeat(pa.scalar("", pa.string()), rows.num_rows)
        rows = rows.append_column("original_predicate", none)
    return _with_ids("e", rows, EDGES)


def with_passage_ids(rows: pa.Table) -> pa.Table:
    """Passages with an id out of their content: "p" and 16 hexadecimal digits of its MD5.

    Args:
        rows: the columns of PASSAGES but ``id``, in any order.
    """
    return _with_ids("p", rows, PASSAGES)


def _with_ids(letter: str, rows: pa.Table, schema: pa.Schema) -> pa.Table:
    names = ", ".join(name for name in schema.names if name != "id")
    query = f"SELECT {id_sql(letter, schema)} AS id, {names} FROM given"  # noqa: S608
    return run(query, given=rows).cast(schema)


def id_sql(letter: str, schema: pa.Schema) -> str:
    """SQL for a row's id: a letter and 16 hexadecimal digits of the MD5 of its other columns.

    An empty ``original_predicate`` is left out, so that edges from before it keep their ids.
    """
    parts = ", ".join(
        "nullif(original_predicate, '')"
        if name == "original_predicate"
        else f"CAST({name} AS VARCHAR)"
        for name in schema.names
        if name != "id"
    )
    return f"'{letter}' || substr(md5(concat_ws(chr(31), {parts})), 1, 16)"


FIELDS: tuple[str, ...] = tuple(SCHEMAS)
"""The tables of knowledge, by name."""
