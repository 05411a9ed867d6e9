"""SemMedDB's PREDICATION table: statements that SemRep extracted from abstracts of PubMed.

One edge for each (subject, predicate, object), denied or not, with the citations behind it. The
export is MySQL's: no header, cells in quotes, backslashes as escapes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.ontology.formats.archives import Entry, entries
from ehrkg.ontology.formats.folded import described, relations, rules, take
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.streams import Dialect, Rows, fill, first_lines
from ehrkg.ontology.sql import workbench
from ehrkg.ontology.tables import knowledge

if TYPE_CHECKING:
    import duckdb

CITED = 10
"""PMIDs named in an edge's provenance; the rest are counted."""
COLUMNS = (
    "PREDICATION_ID",
    "SENTENCE_ID",
    "PMID",
    "PREDICATE",
    "SUBJECT_CUI",
    "SUBJECT_NAME",
    "SUBJECT_SEMTYPE",
    "SUBJECT_NOVELTY",
    "OBJECT_CUI",
    "OBJECT_NAME",
    "OBJECT_SEMTYPE",
    "OBJECT_NOVELTY",
    "FACT_VALUE",
    "MOD_SCALE",
    "MOD_VALUE",
)
"""Version 4.3; earlier ones end at OBJECT_NOVELTY."""
_WIDTHS = (12, 15)
_DIALECT = Dialect(",", quoted=True, escaped=True)


def _file(path: Path) -> Rows | None:
    """The PREDICATION file of a folder, an archive or a path, told by its first line."""
    for entry in entries(path):
        rows = _rows(entry)
        if rows is not None:
            return rows
    return None


def _rows(entry: Entry) -> Rows | None:
    lines = first_lines(entry, 1)
    if not lines or lines[0].count(",") < _WIDTHS[0] - 1:
        return None
    cells = _DIALECT.cells(lines[0])
    width = len(cells)
    if width not in _WIDTHS:
        return None
    header = [cell.strip().upper() for cell in cells[:4]] == list(COLUMNS[:4])
    if not header and not (all(cell.isdigit() for cell in cells[:2]) and cells[7] in ("0", "1")):
        return None
    return Rows(entry, _DIALECT, COLUMNS[:width], skip=int(header))


def detect(path: Path) -> bool:
    """Whether a file's first line (or one in a folder or zip) is a predication."""
    return _file(path) is not None


def read(path: Path) -> Parts:
    """Read predications.

    Left out, and counted: rows whose subject or object is no CUI (genes by number), is too general
    to say anything (novelty 0: "Patients", "Pharmaceutical Preparations"), or is the other end.

    Raises:
        InputError: the file is damaged, a line has another number of columns, a byte is not UTF-8.
    """
    rows = _file(path) or Rows(Entry(path), _DIALECT, COLUMNS)
    source = described(path, "infores:semmeddb")
    with workbench() as bench:
        rules(bench, "semantic_types", "umls_semantic_types.yaml")
        count = fill(bench, "said", rows, COLUMNS[2:12])
        dropped = _judge(bench)
        words = "SELECT word FROM split"
        relations(bench, "relations", "semmeddb_predicates.yaml", words)
        values = {
            "source": source.infores,
            "origin": source.origin,
            "licence": source.licence,
            "version": source.version,
        }
        edges = take(bench, "edges", _EDGES, values)
        dropped["duplicate"] = count - sum(dropped.values()) - edges.num_rows
        concepts = take(bench, "concepts", _CONCEPTS, {"source": source.infores})
    return Parts(knowledge(concepts=concepts, edges=edges), rows=[("edges", count, dropped)])


def _judge(bench: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Table ``judged``: what each row says, and a reason to leave it out, if any."""
    cui = "regexp_extract({0}, 'C[0-9]{{7}}')"
    bench.execute(
        f"""
        CREATE VIEW split AS
        SELECT {cui.format("SUBJECT_CUI")} AS subject, {cui.format("OBJECT_CUI")} AS object,
               split_part(SUBJECT_NAME, '|', 1) AS subject_name,
               split_part(OBJECT_NAME, '|', 1) AS object_name,
               SUBJECT_SEMTYPE AS subject_type, OBJECT_SEMTYPE AS object_type,
               regexp_extract(upper(PREDICATE), '^(NEG_)?([A-Z_]+)', 2) AS word,
               starts_with(upper(PREDICATE), 'NEG_') AS negated,
               try_cast(PMID AS BIGINT) AS pmid,
               SUBJECT_NOVELTY = '0' OR OBJECT_NOVELTY = '0' AS general
        FROM said"""  # noqa: S608 (names of our own)
    )
    bench.execute(
        """
        CREATE VIEW judged AS
        SELECT *, CASE WHEN subject = '' OR object = '' THEN 'no_cui'
                       WHEN general THEN 'too_general'
                       WHEN subject = object THEN 'same_concept' ELSE '' END AS reason
        FROM split"""
    )
    counts = bench.execute(
        "SELECT reason, count(*) FROM judged WHERE reason <> '' GROUP BY reason"
    ).fetchall()
    return dict(counts)


# distinct citations first: a sentence may say a thing twice, and an abstract in several sentences
_EDGES = f"""
    WITH cited AS (
      SELECT DISTINCT subject, word, object, negated, pmid FROM judged WHERE reason = ''),
    counted AS (
      SELECT subject, word, object, negated, count(pmid) AS citations, min(pmid, {CITED}) AS first
      FROM cited GROUP BY ALL)
    SELECT 'UMLS:' || CASE WHEN turned THEN object ELSE subject END AS subject,
           predicate,
           'UMLS:' || CASE WHEN turned THEN subject ELSE object END AS object,
           counted.negated <> relations.negated AS negated, '' AS route,
           $source AS source, $origin AS origin, $licence AS licence,
           concat_ws('; ', nullif($version, ''),
             array_to_string(list_transform(first, lambda x: 'PMID:' || x), ', ')
             || CASE WHEN citations > {CITED} THEN ' and ' || citations - {CITED} || ' more'
                     ELSE '' END) AS provenance,
           CASE WHEN predicate = 'RELATED_TO' THEN forward ELSE '' END AS original_predicate
    FROM counted JOIN relations ON word = stated"""  # noqa: S608

_CONCEPTS = """
    WITH ends AS (
      SELECT subject AS cui, subject_name AS name, subject_type AS type FROM judged
      WHERE reason = ''
      UNION ALL SELECT object, object_name, object_type FROM judged WHERE reason = '')
    SELECT 'UMLS:' || cui AS id, min(ends.name) AS name,
           coalesce(arg_min(kind, row), 'grouping') AS kind, '' AS definition, $source AS source
    FROM ends LEFT JOIN semantic_types ON type = abbreviation GROUP BY cui"""
