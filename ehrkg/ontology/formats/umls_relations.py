"""MRREL, RXNREL and MRHIER: relations between concepts, as edges.

Both REL files are read from the second concept to the first: ``CUI2 RELA CUI1`` (UMLS Reference
Manual: REL is the relationship of the second concept or atom to the first). So a row with
``C1 | REL=CHD | C2 | RELA=isa`` says that C2 is a C1. Nearly every relation stands there twice,
once from each end under the name's inverse; both become one edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ontology.formats import rrf
from ehrkg.ontology.formats.archives import Entry
from ehrkg.ontology.formats.folded import relations, take
from ehrkg.ontology.sources import Source
from ehrkg.ontology.tables import SCHEMAS

if TYPE_CHECKING:
    import duckdb

COLUMNS = ("CUI1", "REL", "CUI2", "RELA", "SAB", "SUPPRESS", "DIR")
STATED = (
    "CREATE TABLE stated (subject VARCHAR, object VARCHAR, sab VARCHAR, word VARCHAR, "
    "rel VARCHAR, suppress VARCHAR, dir VARCHAR)"
)
"""What is said of whom by which vocabulary, before it is judged."""


@dataclass
class Stated:
    """Edges, and the account of the rows they came from (see ``Parts``)."""

    edges: pa.Table
    rows: list[tuple[str, int, dict[str, int]]] = field(default_factory=list)
    quarantine: dict[str, pa.Table] = field(default_factory=dict)


def read(bench: duckdb.DuckDBPyConnection, found: Mapping[str, Entry], source: Source) -> Stated:
    """Edges out of MRREL and MRHIER.

    Args:
        bench: has ``sources`` (by SAB) and, where MRHIER is there, ``names`` with atoms.
        found: the release's files.
        source: whose file it is.
    """
    versions(bench, found.get("MRSAB"), "MRSAB")
    bench.execute(STATED)
    count, dropped = 0, dict[str, int]()
    quarantine: dict[str, pa.Table] = {}
    if "MRREL" in found:
        count += rrf.load(bench, "rel", found["MRREL"], "MRREL", COLUMNS)
        bench.execute(FROM_SECOND_TO_FIRST)
    if "MRHIER" in found:
        more, lost = _hierarchy(bench, found["MRHIER"], dropped)
        count += more
        if lost.num_rows:
            quarantine["hierarchy"] = lost
    relations(bench, "relations", "umls_relations.yaml", WORDS)
    if not count:
        return Stated(SCHEMAS["edges"].empty_table())
    edges = judged(bench, source, "UMLS:", dropped)
    return Stated(edges, [("edges", count, dropped)], quarantine)


WORDS = "SELECT word FROM stated UNION ALL SELECT rel FROM stated"
"""Every name of a relation: RELA, and REL, which may be a reason to leave a row out."""

FROM_SECOND_TO_FIRST = """
    INSERT INTO stated
    SELECT CUI2, CUI1, SAB, coalesce(nullif(RELA, ''), REL), REL, SUPPRESS, DIR FROM rel"""


def judged(
    bench: duckdb.DuckDBPyConnection, source: Source, prefix: str, dropped: dict[str, int]
) -> pa.Table:
    """Edges out of ``stated``; what becomes of its other rows is added to ``dropped``."""
    bench.execute(
        """
        CREATE VIEW judged AS
        SELECT s.*, r.predicate, r.forward, r.turned, r.negated,
               CASE WHEN s.suppress NOT IN ('N', '') THEN 'suppressed'
                    WHEN r.dropped <> '' THEN r.dropped
                    WHEN g.dropped <> '' THEN g.dropped
                    WHEN s.subject = '' OR s.object = '' THEN 'no_concept'
                    WHEN s.subject = s.object THEN 'same_concept'
                    WHEN NOT r.listed AND s.dir = 'N' THEN 'inverse'
                    ELSE '' END AS reason
        FROM stated s JOIN relations r ON s.word = r.stated
                      JOIN relations g ON s.rel = g.stated"""
    )
    counts = bench.execute("SELECT reason, count(*) FROM judged GROUP BY reason").fetchall()
    kept = 0
    for reason, number in counts:
        if reason:
            dropped[reason] = dropped.get(reason, 0) + number
        else:
            kept = number
    edges = take(
        bench,
        "edges",
        """
        SELECT $prefix || CASE WHEN turned THEN object ELSE subject END AS subject,
               predicate,
               $prefix || CASE WHEN turned THEN subject ELSE object END AS object,
               negated, '' AS route, $source AS source,
               coalesce(k.origin, 'infores:umls-' || lower(replace(j.sab, '_', '-'))) AS origin,
               coalesce(k.licence, $licence) AS licence,
               trim(j.sab || ' ' || coalesce(v.version, ''))
                 || CASE WHEN predicate = 'SUBCLASS_OF' THEN ''
                         ELSE ', ' || forward END AS provenance,
               CASE WHEN predicate = 'RELATED_TO' THEN forward ELSE '' END AS original_predicate
        FROM judged j LEFT JOIN sources k ON j.sab = k.sab LEFT JOIN versions v ON j.sab = v.sab
        WHERE reason = ''""",
        {"prefix": prefix, "source": source.infores, "licence": source.licence},
    )
    dropped["duplicate"] = kept - edges.num_rows
    return edges


def versions(bench: duckdb.DuckDBPyConnection, entry: Entry | None, kind: str) -> None:
    """Table ``versions``: the edition of each vocabulary, as MRSAB or RXNSAB has it."""
    if entry is None:
        bench.execute("CREATE TABLE versions (sab VARCHAR, version VARCHAR)")
        return
    rrf.load(bench, "vocabularies", entry, kind, ("RSAB", "SVER"))
    bench.execute(
        "CREATE TABLE versions AS SELECT RSAB AS sab, max(SVER) AS version FROM vocabularies "
        "GROUP BY RSAB"
    )


def _hierarchy(
    bench: duckdb.DuckDBPyConnection, entry: Entry, dropped: dict[str, int]
) -> tuple[int, pa.Table]:
    """Each atom's immediate parent, as a relation of their concepts: ``child RELA parent``."""
    count = rrf.load(bench, "hier", entry, "MRHIER", ("CUI", "AUI", "PAUI", "SAB", "RELA"))
    bench.execute(
        """
        INSERT INTO stated
        SELECT h.CUI, p.CUI, h.SAB, coalesce(nullif(h.RELA, ''), 'CHD'), 'CHD', 'N', ''
        FROM hier h JOIN names p ON h.PAUI = p.AUI WHERE h.PAUI <> ''"""
    )
    lost = bench.sql(
        """SELECT CUI, AUI, PAUI, SAB FROM hier WHERE PAUI <> ''
           AND PAUI NOT IN (SELECT AUI FROM names) ORDER BY ALL"""
    ).to_arrow_table()
    roots = bench.execute("SELECT count(*) FROM hier WHERE PAUI = ''").fetchall()[0][0]
    dropped.update(root=roots, absent_parent=lost.num_rows)
    return count, lost
