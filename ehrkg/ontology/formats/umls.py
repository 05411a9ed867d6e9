"""The UMLS Metathesaurus in RRF: concepts, names, semantic types, relations, hierarchies, codes.

A licensed release is needed; none of it comes with ehrkg.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.foundation.errors import UsageError
from ehrkg.ontology.formats import rrf, umls_relations
from ehrkg.ontology.formats.archives import Entry
from ehrkg.ontology.formats.codes import prefixed
from ehrkg.ontology.formats.folded import described, rules, take
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.sql import workbench
from ehrkg.ontology.tables import knowledge

if TYPE_CHECKING:
    import duckdb

LANGUAGE = "ENG"
CODE_CONFIDENCE = 0.9
"""A code of a source vocabulary stands in a concept because editors hold it for the same."""
SCOPES = ("exact", "brand", "abbreviation", "related")
"""The first of these that any vocabulary gives a name is the name's scope."""
_KEPT = "SUPPRESS IN ('N', '') AND STR <> ''"
_NAMES = ("CUI", "LAT", "TS", "STT", "ISPREF", "SAB", "TTY", "CODE", "STR", "SUPPRESS")


def detect(path: Path) -> bool:
    """Whether a release, or a single file, holds MRCONSO."""
    return "MRCONSO" in rrf.find(path)


def read(path: Path, *, language: str = LANGUAGE) -> Parts:
    """Read a release: MRCONSO, and MRSTY, MRDEF, MRREL, MRHIER, MRSAB where they are there.

    Suppressed rows and names in other languages are dropped and counted. Each edge's origin is the
    vocabulary that stated it; its provenance has that vocabulary's version.

    Args:
        path: the release's folder (or META/ in it), a zip of it, or one MRCONSO file.
        language: the language of names (LAT): three letters.

    Raises:
        UsageError: no such language can be.
        InputError: there is no MRCONSO; a file is damaged, a line has another number of columns, a
            byte is not UTF-8.
    """
    if len(language) != 3 or not language.isalpha():
        raise UsageError(f"no language of RRF: {language!r}", todo="use three letters, as ENG")
    found = rrf.find(path)
    names = rrf.needed(path, found, "MRCONSO")
    source = described(path, "infores:umls")
    with workbench() as bench:
        for table in ("semantic_types", "sources", "term_types"):
            rules(bench, table, f"umls_{table}.yaml")
        rows = [_names(bench, names, language.upper(), "MRHIER" in found)]
        _kinds(bench, found.get("MRSTY"))
        rows += _definitions(bench, found.get("MRDEF"))
        codes = prefixed(
            bench, "SELECT CUI, SAB, CODE FROM kept SEMI JOIN sources USING (SAB)", "CUI"
        )
        stated = umls_relations.read(bench, found, source)
        return Parts(
            knowledge(
                concepts=take(bench, "concepts", _CONCEPTS, {"source": source.infores}),
                synonyms=take(bench, "synonyms", _SYNONYMS, {"source": source.infores}),
                edges=stated.edges,
                mappings=take(
                    bench,
                    "mappings",
                    f"""SELECT 'UMLS:' || CUI AS subject, 'skos:exactMatch' AS predicate, object,
                        $confidence::DOUBLE AS confidence, $source AS source FROM {codes}""",  # noqa: S608
                    {"confidence": CODE_CONFIDENCE, "source": source.infores},
                ),
            ),
            rows=[*rows, *stated.rows],
            quarantine=stated.quarantine,
        )


_CONCEPTS = """
    SELECT 'UMLS:' || CUI AS id, name, coalesce(kind, 'grouping') AS kind,
           coalesce(definition, '') AS definition, $source AS source
    FROM best LEFT JOIN kinds USING (CUI) LEFT JOIN definitions USING (CUI)"""

# a name that differs from another of its concept in case only is no further name
_SYNONYMS = f"""
    SELECT 'UMLS:' || CUI AS concept, text, {list(SCOPES)}[place] AS scope, $source AS source
    FROM (
      SELECT CUI, min(STR) AS text,
             min(coalesce(list_position({list(SCOPES)}, scope), 1)) AS place
      FROM kept LEFT JOIN term_types USING (TTY) GROUP BY CUI, lower(STR))
    JOIN best USING (CUI) WHERE lower(text) <> lower(name)"""  # noqa: S608


def _names(
    bench: duckdb.DuckDBPyConnection, entry: Entry, language: str, with_atoms: bool
) -> tuple[str, int, dict[str, int]]:
    """Tables ``names``, ``kept`` (in the language, not suppressed) and ``best`` (one a concept)."""
    count = rrf.load(bench, "names", entry, "MRCONSO", (*_NAMES, *["AUI"] * with_atoms))
    bench.execute(
        f"CREATE VIEW kept AS SELECT * FROM names WHERE {_KEPT} AND LAT = '{language}'"  # noqa: S608
    )
    bench.execute(
        """
        CREATE TABLE best AS
        SELECT CUI, split_part(min(place || chr(31) || SAB || chr(31) || STR), chr(31), 3) AS name
        FROM (SELECT CUI, SAB, STR, (TS <> 'P')::INT::VARCHAR || (STT <> 'PF')::INT::VARCHAR
                     || (ISPREF <> 'Y')::INT::VARCHAR AS place FROM kept)
        GROUP BY CUI"""
    )
    suppressed, kept, concepts = bench.execute(
        f"""SELECT count(*) FILTER (NOT ({_KEPT})), (SELECT count(*) FROM kept),
            (SELECT count(*) FROM best) FROM names"""  # noqa: S608
    ).fetchall()[0]
    dropped = {
        "suppressed": suppressed,
        "other_language": count - suppressed - kept,
        "further_name": kept - concepts,
    }
    return ("nodes", count, dropped)


def _kinds(bench: duckdb.DuckDBPyConnection, entry: Entry | None) -> None:
    """Table ``kinds``: the kind of the first of a concept's semantic types."""
    if entry is None:
        bench.execute("CREATE TABLE kinds (CUI VARCHAR, kind VARCHAR)")
        return
    rrf.load(bench, "types", entry, "MRSTY", ("CUI", "TUI"))
    bench.execute(
        """
        CREATE TABLE kinds AS
        WITH ranked AS (SELECT tui, kind, row AS place FROM semantic_types)
        SELECT CUI, arg_min(kind, place) AS kind FROM types JOIN ranked USING (TUI)
        GROUP BY CUI"""
    )


def _definitions(
    bench: duckdb.DuckDBPyConnection, entry: Entry | None
) -> list[tuple[str, int, dict[str, int]]]:
    """Table ``definitions``: one a concept, of the first vocabulary in the alphabet."""
    if entry is None:
        bench.execute("CREATE TABLE definitions (CUI VARCHAR, definition VARCHAR)")
        return []
    count = rrf.load(bench, "said", entry, "MRDEF", ("CUI", "SAB", "DEF", "SUPPRESS"))
    bench.execute(
        """
        CREATE TABLE definitions AS
        SELECT CUI, split_part(min(SAB || chr(31) || DEF), chr(31), 2) AS definition
        FROM said SEMI JOIN best USING (CUI) WHERE SUPPRESS IN ('N', '') GROUP BY CUI"""
    )
    suppressed, absent, used = bench.execute(
        """SELECT count(*) FILTER (SUPPRESS NOT IN ('N', '')),
                  count(*) FILTER (SUPPRESS IN ('N', '') AND CUI NOT IN (SELECT CUI FROM best)),
                  (SELECT count(*) FROM definitions) FROM said"""
    ).fetchall()[0]
    dropped = {
        "suppressed": suppressed,
        "absent_node": absent,
        "further_definition": count - suppressed - absent - used,
    }
    return [("definitions", count, dropped)]
