"""Several pieces of knowledge become one: duplicates folded, conflicts settled by rule."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sources import reliability
from ehrkg.ontology.sql import run
from ehrkg.ontology.tables import FIELDS, SCHEMAS, distinct, is_folded, ordered


def merge(*parts: Knowledge, ledger: Ledger | None = None) -> Knowledge:
    """Join pieces of knowledge; the order in which they are given decides nothing.

    Rows that say the same are folded into one; edges of different sources stay parallel. Where an
    id comes with several names, the row that has a name, a definition and a known kind, of the
    most reliable source, wins (then the alphabet decides), and the other names become synonyms.

    Args:
        parts: any number of them.
        ledger: gets a line a table.

    >>> from ehrkg.ontology.tables import build, knowledge
    >>> one = knowledge(concepts=build("concepts", [("X:1", "gout", "disease", "", "infores:a")]))
    >>> two = knowledge(concepts=build("concepts", [("X:1", "Gout", "disease", "", "infores:b")]))
    >>> merge(one, two) == merge(two, one)
    True
    """
    joined = {
        field: pa.concat_tables(
            [SCHEMAS[field].empty_table(), *(getattr(part, field) for part in parts)]
        )
        for field in FIELDS
    }
    concepts, losers = _fold_concepts(joined["concepts"])
    merged = Knowledge(
        concepts=concepts,
        synonyms=_fold_synonyms(pa.concat_tables([joined["synonyms"], losers]), concepts),
        edges=distinct("edges", joined["edges"]),
        mappings=distinct("mappings", joined["mappings"]),
        attributes=_fold_attributes(joined["attributes"]),
        passages=distinct("passages", joined["passages"]),
    )
    if ledger is not None:
        for field in FIELDS:
            before, after = joined[field].num_rows, getattr(merged, field).num_rows
            added = losers.num_rows if field == "synonyms" else 0
            ledger.record(
                "merge",
                field,
                rows_in=before + added,
                rows_out=after,
                dropped={"duplicate": before + added - after},
            )
    return merged


def _fold_synonyms(rows: pa.Table, concepts: pa.Table) -> pa.Table:
    """One row a concept, text, scope and source, without those that repeat the concept's name."""
    repeats = "c.id IS NOT NULL AND s.scope = 'exact' AND lower(s.text) = lower(c.name)"
    joined = "FROM rows s LEFT JOIN concepts c ON s.concept = c.id"
    if is_folded("synonyms", rows):
        query = f"SELECT count(*) AS n {joined} WHERE {repeats}"
        if not run(query, rows=rows, concepts=concepts)["n"][0].as_py():
            return rows
    query = f"SELECT s.* {joined} WHERE NOT ({repeats})"
    kept = run(query, rows=rows, concepts=concepts)
    return distinct("synonyms", kept.cast(SCHEMAS["synonyms"]))


def ranks(rows: pa.Table) -> pa.Table:
    """Source and reliability of every source named in the rows."""
    sources: list[Any] = sorted(set(rows["source"].unique().to_pylist()))
    return pa.table(
        {
            "source": pa.array(sources, pa.string()),
            "trust": pa.array([reliability(source) for source in sources], pa.float64()),
        }
    )


def _fold_concepts(rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """One row an id, and the names that lost as synonyms."""
    if is_folded("concepts", rows):
        return rows, SCHEMAS["synonyms"].empty_table()
    placed = run(
        """
        SELECT c.*, row_number() OVER (
            PARTITION BY id
            ORDER BY name = '', definition = '', kind = 'grouping', trust DESC, source, name,
                     definition, kind) AS place
        FROM rows c JOIN ranks USING (source)""",
        rows=rows,
        ranks=ranks(rows),
    )
    best = run(
        "SELECT id, name, kind, definition, source FROM placed WHERE place = 1", placed=placed
    ).cast(SCHEMAS["concepts"])
    losers = run(
        """
        SELECT DISTINCT l.id AS concept, l.name AS text, 'exact' AS scope, l.source
        FROM placed l JOIN placed w ON l.id = w.id AND w.place = 1
        WHERE l.place > 1 AND l.name <> '' AND l.name <> w.name""",
        placed=placed,
    ).cast(SCHEMAS["synonyms"])
    return ordered("concepts", best), losers


def _fold_attributes(rows: pa.Table) -> pa.Table:
    """One row a code: attributes are facts of the code systems, so any full row will do."""
    best = run(
        """
        SELECT * EXCLUDE (place) FROM (
          SELECT *, row_number() OVER (
            PARTITION BY code
            ORDER BY name = '', len(ccsr) DESC, len(equivalents) DESC, chronic IS NULL, name,
                     parent, category, chapter, chapter_name, ccsr::VARCHAR, equivalents::VARCHAR,
                     chronic) AS place
          FROM rows)
        WHERE place = 1""",
        rows=rows,
    )
    return ordered("attributes", best.cast(SCHEMAS["attributes"]))
