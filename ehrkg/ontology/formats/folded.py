"""From tables on the bench to tables of knowledge: distinct, sorted, with ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ehrkg.ontology.categories import read_yaml
from ehrkg.ontology.predicates import UNKNOWN
from ehrkg.ontology.sources import SOURCES, Source, read_source
from ehrkg.ontology.tables import SCHEMAS, SORT_KEYS, id_sql

if TYPE_CHECKING:
    import duckdb

BATCH = 100_000
"""Values that pass through Python at a time."""
TEXT = pa.string()


def described(place: Path, usual: str) -> Source:
    """What is known of a file's source: the source.yaml beside it, else the known one.

    Args:
        place: the folder or file that is read.
        usual: the infores id of the source that such files come from.
    """
    beside = (place if place.is_dir() else place.parent) / "source.yaml"
    return read_source(beside) if beside.is_file() else SOURCES[usual]


def take(
    bench: duckdb.DuckDBPyConnection,
    field: str,
    query: str,
    parameters: Mapping[str, object] | None = None,
) -> pa.Table:
    """The distinct rows of a query as a sorted table of knowledge.

    Args:
        bench: a connection of ``workbench()``.
        field: concepts, synonyms, edges or mappings.
        query: gives its columns, in any order; edges without ``id``.
        parameters: values for the query's ``$names``.
    """
    schema = SCHEMAS[field]
    columns = ", ".join(schema.names)
    if field == "edges":
        identity = id_sql("e", schema)
        query = f"SELECT {identity} AS id, * FROM ({query})"  # noqa: S608 (names of our schema)
    keys = ", ".join(SORT_KEYS[field])
    found = bench.sql(
        f"SELECT DISTINCT {columns} FROM ({query}) ORDER BY {keys}",  # noqa: S608
        params=dict(parameters or {}),
    )
    return found.to_arrow_table().cast(schema)


def spelt(
    bench: duckdb.DuckDBPyConnection,
    name: str,
    queries: Sequence[str],
    function: Callable[[str], str],
) -> None:
    """A table (raw, word) of the distinct values of queries that a text function changes.

    Most values are spelt well already: what is joined on afterwards is small.
    """
    values = f"SELECT DISTINCT * FROM ({' UNION ALL '.join(queries)})"  # noqa: S608
    raws: list[str] = []
    words: list[str] = []
    for batch in bench.sql(values).to_arrow_reader(BATCH):
        for raw in batch.column(0).to_pylist():
            word = function(raw)
            if word != raw:
                raws.append(raw)
                words.append(word)
    put(bench, name, pa.table({"raw": pa.array(raws, TEXT), "word": pa.array(words, TEXT)}))


def put(bench: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    """A small table of ours (rules, kinds) on the bench."""
    bench.register("given_rows", rows)
    bench.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given_rows')  # noqa: S608
    bench.unregister("given_rows")


def rules(bench: duckdb.DuckDBPyConnection, name: str, file: str) -> None:
    """A YAML list of mappings beside this module, as a table on the bench.

    Missing keys are ""; ``row`` is the place in the list.
    """
    rows: Sequence[Mapping[str, Any]] = read_yaml(f"formats/{file}")
    keys = sorted({key for row in rows for key in row})
    texts = {key: pa.array([str(row.get(key, "")) for row in rows], pa.string()) for key in keys}
    put(bench, name, pa.table({"row": pa.array(range(len(rows)), pa.int64()), **texts}))


def relations(bench: duckdb.DuckDBPyConnection, name: str, file: str) -> None:
    """Names of relations in both directions, as a table on the bench.

    The file has a row a relation: ``name``, and ``inverse`` (the same said from the other end),
    with the ``predicate`` it becomes, or with ``drop`` (the reason for leaving such rows out), or
    with ``mapping`` (the SSSOM predicate it is instead). The table has stated, forward, turned,
    predicate, dropped, mapping.
    """
    rows = [
        (
            str(row[key]),
            str(row["name"]),
            key == "inverse",
            str(row.get("predicate", UNKNOWN)),
            str(row.get("drop", "")),
            str(row.get("mapping", "")),
        )
        for row in read_yaml(f"formats/{file}")
        for key in ("name", "inverse")
        if row.get(key) and not (key == "inverse" and row["inverse"] == row["name"])
    ]
    names = ("stated", "forward", "turned", "predicate", "dropped", "mapping")
    columns = map(list, zip(*rows, strict=True))
    put(bench, name, pa.table(dict(zip(names, columns, strict=True))))
