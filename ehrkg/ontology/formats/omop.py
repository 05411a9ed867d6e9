"""OMOP's vocabularies: CONCEPT, CONCEPT_SYNONYM, CONCEPT_RELATIONSHIP, CONCEPT_ANCESTOR.

Athena ships them tab-separated without quotes; samples of the CDM hold them as CSV, often in a zip,
in upper or lower case. A concept's id is its code's CURIE where its vocabulary has a prefix here,
else OMOP: and its number.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.archives import entries
from ehrkg.ontology.formats.codes import prefixed
from ehrkg.ontology.formats.folded import described, relations, rules, take
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.streams import CSV, TSV, Rows, fill, first_lines
from ehrkg.ontology.sql import workbench
from ehrkg.ontology.tables import knowledge

if TYPE_CHECKING:
    import duckdb

ENGLISH = "4180186"
"""The concept of the English language, as CONCEPT_SYNONYM names it."""
NEEDED = {
    "concept": (
        "concept_id",
        "concept_name",
        "domain_id",
        "vocabulary_id",
        "concept_class_id",
        "concept_code",
        "invalid_reason",
    ),
    "concept_synonym": ("concept_id", "concept_synonym_name", "language_concept_id"),
    "concept_relationship": ("concept_id_1", "concept_id_2", "relationship_id", "invalid_reason"),
    "concept_ancestor": (
        "ancestor_concept_id",
        "descendant_concept_id",
        "min_levels_of_separation",
    ),
    "vocabulary": ("vocabulary_id", "vocabulary_version"),
}
"""The tables that are read, and which of their columns."""
_VALID = "coalesce(invalid_reason, '') IN ('', '\\N')"


def _tables(path: Path) -> dict[str, Rows]:
    """The vocabulary's tables in a folder, an archive, or beside none: one file."""
    found: dict[str, Rows] = {}
    for entry in entries(path, "vocabulary", "vocabularies"):
        table = entry.name.rpartition(".")[0].lower()
        lines = first_lines(entry, 1) if table in NEEDED else []
        if not lines:
            continue
        dialect = TSV if "\t" in lines[0] else CSV
        columns = tuple(name.strip().lower() for name in dialect.cells(lines[0]))
        if set(NEEDED[table]) <= set(columns):
            found.setdefault(table, Rows(entry, dialect, columns, skip=1))
    return found


def detect(path: Path) -> bool:
    """Whether a folder, archive or file has the CONCEPT table."""
    return "concept" in _tables(path)


def read(path: Path) -> Parts:
    """Read a vocabulary.

    Concepts that are no longer valid are dropped and counted; their ids stay as mappings of what
    replaces them. "Maps to" becomes a mapping of the standard concept. Of CONCEPT_ANCESTOR the
    immediate parents are kept: the rest follows from them.

    Raises:
        InputError: there is no CONCEPT table; a file is damaged, a line has another number of
            columns, a byte is not UTF-8.
    """
    found = _tables(path)
    if "concept" not in found:
        raise InputError(
            "there is no CONCEPT table",
            file=path,
            found=", ".join(sorted(found)) or "no table of the vocabularies",
            expected=", ".join(NEEDED["concept"]),
            todo="give the folder or zip that Athena made",
        )
    source = described(path, "infores:omop-vocabularies")
    with workbench() as bench:
        rules(bench, "sources", "omop_vocabularies.yaml")
        rules(bench, "kinds", "omop_kinds.yaml")
        rows = [_concepts(bench, found["concept"])]
        rows += _synonyms(bench, found.get("concept_synonym"))
        count, dropped = _statements(bench, found)
        values = {
            "source": source.infores,
            "origin": source.origin,
            "licence": source.licence,
            "version": _version(bench, found.get("vocabulary")) or source.version,
        }
        edges = take(bench, "edges", _EDGES, values)
        dropped["duplicate"] = count - sum(dropped.values()) - edges.num_rows
        source_only = {"source": source.infores}
        return Parts(
            knowledge(
                concepts=take(bench, "concepts", _CONCEPTS, source_only),
                synonyms=take(bench, "synonyms", _SYNONYMS, source_only),
                edges=edges,
                mappings=take(bench, "mappings", _MAPPINGS, source_only),
            ),
            rows=[*rows, ("edges", count, dropped)],
        )


def _concepts(bench: duckdb.DuckDBPyConnection, rows: Rows) -> tuple[str, int, dict[str, int]]:
    """Tables ``concept`` and ``ids`` (concept_id, id, vocabulary)."""
    count = fill(bench, "concept", rows, NEEDED["concept"])
    query = "SELECT concept_id, vocabulary_id AS SAB, concept_code AS CODE FROM concept"
    codes = prefixed(bench, query, "concept_id")
    bench.execute(
        f"""
        CREATE TABLE ids AS
        SELECT c.concept_id, min(coalesce(codes.object, 'OMOP:' || c.concept_id)) AS id,
               min(c.vocabulary_id) AS vocabulary
        FROM concept c LEFT JOIN {codes} codes ON c.concept_id = codes.concept_id
        GROUP BY c.concept_id"""  # noqa: S608 (the name of a table of ours)
    )
    obsolete = bench.execute(f"SELECT count(*) FROM concept WHERE NOT {_VALID}").fetchall()[0][0]  # noqa: S608
    distinct = bench.execute(
        f"SELECT count(DISTINCT id) FROM concept JOIN ids USING (concept_id) WHERE {_VALID}"  # noqa: S608
    ).fetchall()[0][0]
    return ("nodes", count, {"obsolete": obsolete, "same_code": count - obsolete - distinct})


def _synonyms(
    bench: duckdb.DuckDBPyConnection, rows: Rows | None
) -> list[tuple[str, int, dict[str, int]]]:
    """Table ``synonym``."""
    if rows is None:
        bench.execute("CREATE TABLE synonym (concept_id VARCHAR, text VARCHAR)")
        return []
    bench_rows = f"""
        SELECT concept_id, concept_synonym_name AS text FROM file
        WHERE language_concept_id IN ('{ENGLISH}', '0', '')"""  # noqa: S608 (a number of ours)
    count = fill(bench, "synonym", rows, NEEDED["concept_synonym"], bench_rows)
    kept = bench.execute("SELECT count(*) FROM synonym").fetchall()[0][0]
    return [("synonyms", count, {"other_language": count - kept})]


def _statements(
    bench: duckdb.DuckDBPyConnection, found: dict[str, Rows]
) -> tuple[int, dict[str, int]]:
    """Views ``judged`` (relationships with reasons) and ``parents``; how many rows, and dropped."""
    count = 0
    for table, schema in (
        ("concept_relationship", "concept_id_1, concept_id_2, relationship_id, invalid_reason"),
        ("concept_ancestor", "ancestor_concept_id, descendant_concept_id"),
    ):
        if table not in found:
            columns = ", ".join(f"{name} VARCHAR" for name in schema.split(", "))
            bench.execute(f"CREATE TABLE {table} ({columns})")
            continue
        direct = " WHERE min_levels_of_separation = '1'" if table == "concept_ancestor" else ""
        query = f"SELECT {schema} FROM file{direct}"  # noqa: S608 (names of the layout)
        count += fill(bench, table, found[table], NEEDED[table], query)
    words = "SELECT relationship_id FROM concept_relationship"
    relations(bench, "relations", "omop_relationships.yaml", words)
    bench.execute(
        f"""
        CREATE VIEW judged AS
        SELECT c.*, predicate, forward, turned, negated, mapping,
               CASE WHEN NOT {_VALID} THEN 'obsolete'
                    WHEN concept_id_1 = concept_id_2 THEN 'same_concept'
                    WHEN mapping <> '' THEN 'mapping'
                    ELSE '' END AS reason
        FROM concept_relationship c JOIN relations ON relationship_id = stated"""  # noqa: S608
    )
    counts = bench.execute(
        "SELECT reason, count(*) FROM judged WHERE reason <> '' GROUP BY reason"
    ).fetchall()
    held = bench.execute(
        "SELECT (SELECT count(*) FROM concept_relationship), "
        "(SELECT count(*) FROM concept_ancestor)"
    ).fetchall()[0]
    return count, {**dict(counts), "implied": count - sum(held)}


def _version(bench: duckdb.DuckDBPyConnection, rows: Rows | None) -> str:
    """The edition: OMOP writes it in the row of the vocabulary "None"."""
    if rows is None:
        return ""
    fill(bench, "vocabulary", rows, NEEDED["vocabulary"])
    found = bench.execute(
        "SELECT max(vocabulary_version) FROM vocabulary WHERE vocabulary_id = 'None'"
    ).fetchall()
    return str(found[0][0] or "")


_CONCEPTS = f"""
    SELECT ids.id, min(concept_name) AS name, coalesce(arg_min(kind, row), 'grouping') AS kind,
           '' AS definition, $source AS source
    FROM concept JOIN ids USING (concept_id)
    LEFT JOIN kinds ON domain = domain_id AND class IN (concept_class_id, '')
    WHERE {_VALID} GROUP BY ids.id"""  # noqa: S608

_SYNONYMS = f"""
    SELECT ids.id AS concept, text, 'exact' AS scope, $source AS source
    FROM synonym JOIN concept USING (concept_id) JOIN ids USING (concept_id)
    WHERE {_VALID} AND trim(text) <> '' AND lower(text) <> lower(concept_name)"""  # noqa: S608

# an end that CONCEPT lacks keeps its number: the edge goes to the quarantine with it
_EDGES = """
    WITH said AS (
      SELECT CASE WHEN turned THEN concept_id_2 ELSE concept_id_1 END AS one,
             predicate, negated,
             CASE WHEN turned THEN concept_id_1 ELSE concept_id_2 END AS two,
             forward AS word
      FROM judged WHERE reason = ''
      UNION ALL
      SELECT descendant_concept_id, 'SUBCLASS_OF', false, ancestor_concept_id, 'Is a'
      FROM concept_ancestor)
    SELECT coalesce(a.id, 'OMOP:' || one) AS subject, predicate,
           coalesce(b.id, 'OMOP:' || two) AS object, negated, '' AS route,
           $source AS source,
           CASE WHEN a.vocabulary = b.vocabulary THEN coalesce(s.origin, $origin)
                ELSE $origin END AS origin,
           $licence AS licence,
           trim('OMOP vocabularies ' || $version) || ', ' || word AS provenance,
           CASE WHEN predicate = 'RELATED_TO' THEN word ELSE '' END AS original_predicate
    FROM said LEFT JOIN ids a ON one = a.concept_id LEFT JOIN ids b ON two = b.concept_id
    LEFT JOIN sources s ON a.vocabulary = s.sab"""

_MAPPINGS = """
    SELECT a.id AS subject, mapping AS predicate, b.id AS object,
           CASE mapping WHEN 'skos:exactMatch' THEN 0.95 ELSE 0.75 END::DOUBLE AS confidence,
           $source AS source
    FROM judged
    JOIN ids a ON a.concept_id = CASE WHEN turned THEN concept_id_2 ELSE concept_id_1 END
    JOIN ids b ON b.concept_id = CASE WHEN turned THEN concept_id_1 ELSE concept_id_2 END
    WHERE reason = 'mapping'"""
