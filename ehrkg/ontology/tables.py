"""Small helpers that give every knowledge table its schema, its keys and its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

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
    """An empty ``original_predicate`` is left out, so that edges from before keep their ids."""
    names = [name for name in schema.names if name != "id"]
    parts = ", ".join(
        "nullif(original_predicate, '')"
        if name == "original_predicate"
        else f"CAST({name} AS VARCHAR)"
        for name in names
    )
    return run(
        f"SELECT '{letter}' || substr(md5(concat_ws(chr(31), {parts})), 1, 16) AS id, "  # noqa: S608
        f"{', '.join(names)} FROM given",
        given=rows,
    ).cast(schema)
