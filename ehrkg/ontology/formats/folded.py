"""From tables on the bench to tables of knowledge: distinct, sorted, with ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ehrkg.ontology.categories import read_yaml
from ehrkg.ontology.predicates import UNKNOWN, reading
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
    reader = found.to_arrow_reader(BATCH)  # a batch at a time: the whole result never stands twice
    return pa.Table.from_batches(reader, reader.schema).cast(schema)


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


def relations(bench: duckdb.DuckDBPyConnection, name: str, file: str, query: str) -> None:
    """How the words of a file for relations are understood, as a table on the bench.

    What a word means is in predicate_aliases.yaml. A file beside this module pairs words that say
    the same from either end (``name`` and ``inverse``), so that both become one edge; it may say
    ``drop`` (the reason for leaving such rows out) or ``mapping`` (the SSSOM predicate it is
    instead of an edge).

    Args:
        bench: gets the table: stated, forward (the pair's first word), turned, negated, predicate,
            listed (whether anybody knows the word), dropped, mapping.
        name: the table's name.
        file: the file of pairs.
        query: gives every word, in one column.
    """
    pairs: dict[str, tuple[str, bool, str, str]] = {}
    for row in read_yaml(f"formats/{file}"):
        rest = (str(row.get("drop", "")), str(row.get("mapping", "")))
        pairs.setdefault(str(row["name"]), (str(row["name"]), False, *rest))
        pairs.setdefault(str(row["inverse"]), (str(row["name"]), True, *rest))
    rows = []
    for (word,) in bench.execute(f"SELECT DISTINCT * FROM ({query}) ORDER BY 1").fetchall():  # noqa: S608
        forward, turned, dropped, mapping = pairs.get(word, (word, False, "", ""))
        read = None if mapping else reading(forward)
        rows.append(
            {
                "stated": word,
                "forward": forward,
                "turned": turned != (read is not None and read.turned),
                "negated": read is not None and read.negated,
                "predicate": UNKNOWN if read is None else read.predicate,
                "listed": word in pairs or read is not None,
                "dropped": dropped,
                "mapping": mapping,
            }
        )
    put(bench, name, pa.Table.from_pylist(rows, schema=_RELATIONS))


_RELATIONS = pa.schema(
    [
        ("stated", TEXT),
        ("forward", TEXT),
        ("turned", pa.bool_()),
        ("negated", pa.bool_()),
        ("predicate", TEXT),
        ("listed", pa.bool_()),
        ("dropped", TEXT),
        ("mapping", TEXT),
    ]
)
