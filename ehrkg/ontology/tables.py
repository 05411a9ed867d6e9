"""Small helpers that give every knowledge table its schema, its keys and its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from ehrkg.ontology.schema import (
    CODE_ATTRIBUTES,
    CONCEPTS,
    EDGES,
    MAPPINGS,
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
}
SCHEMAS: Mapping[str, pa.Schema] = {
    "concepts": CONCEPTS,
    "synonyms": SYNONYMS,
    "edges": EDGES,
    "mappings": MAPPINGS,
    "attributes": CODE_ATTRIBUTES,
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


def knowledge(
    *,
    concepts: pa.Table | None = None,
    synonyms: pa.Table | None = None,
    edges: pa.Table | None = None,
    mappings: pa.Table | None = None,
    attributes: pa.Table | None = None,
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
    }
    full = {name: SCHEMAS[name].empty_table() if t is None else t for name, t in given.items()}
    return Knowledge(**full)


def with_edge_ids(rows: pa.Table) -> pa.Table:
    """Edges with an id out of their content: "e" and 16 hexadecimal digits of its MD5.

    Args:
        rows: the columns of EDGES but ``id``, in any order.
    """
    names = [name for name in EDGES.names if name != "id"]
    parts = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
    return run(
        f"SELECT 'e' || substr(md5(concat_ws(chr(31), {parts})), 1, 16) AS id, "  # noqa: S608
        f"{', '.join(names)} FROM given",
        given=rows,
    ).cast(EDGES)
