"""RxNorm in RRF: drugs, their ingredients, brands, products and NDC codes.

RXNREL is read from its second concept to its first, as MRREL is: ``RXCUI2 RELA RXCUI1``. A licence
of the UMLS is needed for the full release (the subset of prescribable drugs is free).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ontology.formats import rrf
from ehrkg.ontology.formats.archives import Entry
from ehrkg.ontology.formats.codes import prefixed
from ehrkg.ontology.formats.folded import described, relations, rules, take
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.umls import CODE_CONFIDENCE, SCOPES
from ehrkg.ontology.formats.umls_relations import COLUMNS, STATED, WORDS, judged, versions
from ehrkg.ontology.sources import Source
from ehrkg.ontology.sql import workbench
from ehrkg.ontology.tables import SCHEMAS, knowledge

if TYPE_CHECKING:
    import duckdb

NDC_CONFIDENCE = 0.95
"""A package code stands for exactly one product; RxNorm's editors placed it."""
KINDS_OF_ONE = ("has_ingredient", "has_precise_ingredient", "tradename_of", "form_of")
"""What joins a product or a brand to its ingredient. Where there is one only, the product is a kind
of it (as OMOP's ancestors have it); a combination is not a kind of each of its ingredients."""
_KEPT = "SUPPRESS IN ('N', '') AND STR <> ''"


def detect(path: Path) -> bool:
    """Whether a release, or a single file, holds RXNCONSO."""
    return "RXNCONSO" in rrf.find(path)


def read(path: Path) -> Parts:
    """Read a release: RXNCONSO, and RXNREL, RXNSAT, RXNSAB where they are there.

    A brand's name is a synonym (scope ``brand``) of the one ingredient it stands for. Package codes
    are mappings of products to ``NDC:`` and 11 digits.

    Args:
        path: the release's folder (or rrf/ in it), a zip of it, or one RXNCONSO file.

    Raises:
        InputError: there is no RXNCONSO; a file is damaged, a line has another number of columns, a
            byte is not UTF-8.
    """
    found = rrf.find(path)
    names = rrf.needed(path, found, "RXNCONSO")
    source = described(path, "infores:rxnorm")
    with workbench() as bench:
        rules(bench, "sources", "umls_sources.yaml")
        rules(bench, "term_types", "umls_term_types.yaml")
        rules(bench, "own_types", "rxnorm_term_types.yaml")
        rows = [_names(bench, names)]
        edges, more = _relations(bench, found, source)
        packages, account = _packages(bench, found.get("RXNSAT"))
        codes = prefixed(
            bench,
            "SELECT CUI, SAB, CODE FROM kept SEMI JOIN sources USING (SAB) WHERE SAB <> 'RXNORM'",
            "CUI",
        )
        values = {"source": source.infores}
        return Parts(
            knowledge(
                concepts=take(bench, "concepts", _CONCEPTS, values),
                synonyms=take(bench, "synonyms", _SYNONYMS, values),
                edges=edges,
                mappings=take(
                    bench,
                    "mappings",
                    f"""
                    SELECT 'RXCUI:' || CUI AS subject, 'skos:exactMatch' AS predicate, object,
                           confidence, $source AS source
                    FROM (SELECT *, {CODE_CONFIDENCE}::DOUBLE AS confidence FROM {codes}
                          UNION ALL
                          SELECT *, {NDC_CONFIDENCE}::DOUBLE FROM {packages})""",  # noqa: S608
                    values,
                ),
            ),
            rows=[*rows, *more, *account],
        )


_CONCEPTS = """
    SELECT 'RXCUI:' || CUI AS id, name, coalesce(kind, 'grouping') AS kind, '' AS definition,
           $source AS source
    FROM best LEFT JOIN own_types USING (TTY)"""

_SYNONYMS = f"""
    SELECT 'RXCUI:' || CUI AS concept, text, {list(SCOPES)}[place] AS scope, $source AS source
    FROM (
      SELECT CUI, min(STR) AS text, min(coalesce(list_position({list(SCOPES)}, scope), 1)) AS place
      FROM kept LEFT JOIN term_types USING (TTY) GROUP BY CUI, lower(STR))
    JOIN best USING (CUI) WHERE lower(text) <> lower(name)
    UNION ALL
    SELECT 'RXCUI:' || object, b.name, 'brand', $source
    FROM stated JOIN best b ON subject = b.CUI JOIN best i ON object = i.CUI
    WHERE word = 'isa' AND b.TTY = 'BN' AND i.TTY IN ('IN', 'PIN', 'MIN')"""  # noqa: S608


def _names(bench: duckdb.DuckDBPyConnection, entry: Entry) -> tuple[str, int, dict[str, int]]:
    """Tables ``names``, ``kept`` (not suppressed) and ``best`` (one a concept)."""
    count = rrf.load(
        bench, "names", entry, "RXNCONSO", ("CUI", "SAB", "TTY", "CODE", "STR", "SUPPRESS")
    )
    bench.execute(f"CREATE VIEW kept AS SELECT * FROM names WHERE {_KEPT}")  # noqa: S608
    bench.execute(
        """
        CREATE TABLE best AS
        SELECT CUI, split_part(first, chr(31), 2) AS TTY, split_part(first, chr(31), 3) AS name
        FROM (
          SELECT CUI, min(format('{:04d}', CASE WHEN SAB = 'RXNORM' THEN coalesce(row, 999)
                                                ELSE 9999 END)
                          || chr(31) || TTY || chr(31) || STR) AS first
          FROM kept LEFT JOIN own_types USING (TTY) GROUP BY CUI)"""
    )
    suppressed, concepts = bench.execute(
        f"SELECT count(*) FILTER (NOT ({_KEPT})), (SELECT count(*) FROM best) FROM names"  # noqa: S608
    ).fetchall()[0]
    dropped = {"suppressed": suppressed, "further_name": count - suppressed - concepts}
    return ("nodes", count, dropped)


def _relations(
    bench: duckdb.DuckDBPyConnection, found: dict[str, Entry], source: Source
) -> tuple[pa.Table, list[tuple[str, int, dict[str, int]]]]:
    """Table ``stated``, and the edges out of it."""
    versions(bench, found.get("RXNSAB"), "RXNSAB")
    bench.execute(STATED)
    if "RXNREL" not in found:
        return SCHEMAS["edges"].empty_table(), []
    count = rrf.load(bench, "rel", found["RXNREL"], "RXNREL", COLUMNS)
    words = "SELECT coalesce(nullif(RELA, ''), REL) FROM rel"
    relations(bench, "words", "umls_relations.yaml", words)
    kinds = ", ".join(f"'{word}'" for word in KINDS_OF_ONE)
    bench.execute(
        f"""
        INSERT INTO stated
        WITH said AS (  -- the second says it of the first; an inverse name is turned round first
          SELECT CASE WHEN turned THEN CUI1 ELSE CUI2 END AS subject,
                 CASE WHEN turned THEN CUI2 ELSE CUI1 END AS object,
                 forward AS word, SAB, REL, SUPPRESS, DIR
          FROM rel JOIN words ON coalesce(nullif(RELA, ''), REL) = stated),
        single AS (
          SELECT subject, word FROM said
          WHERE word IN ({kinds}) AND SUPPRESS IN ('N', '') AND subject <> '' AND object <> ''
          GROUP BY subject, word HAVING count(DISTINCT object) = 1)
        SELECT said.subject, object, SAB,
               CASE WHEN single.word IS NULL THEN said.word ELSE 'isa' END, REL, SUPPRESS, DIR
        FROM said LEFT JOIN single ON said.subject = single.subject AND said.word = single.word"""  # noqa: S608
    )
    relations(bench, "relations", "umls_relations.yaml", WORDS)
    dropped: dict[str, int] = {}
    edges = judged(bench, source, "RXCUI:", dropped)
    return edges, [("edges", count, dropped)]


def _packages(
    bench: duckdb.DuckDBPyConnection, entry: Entry | None
) -> tuple[str, list[tuple[str, int, dict[str, int]]]]:
    """Table ``packages``: products and their NDC, and the account of RXNSAT's rows."""
    if entry is None:
        bench.execute("CREATE TABLE packages (CUI VARCHAR, object VARCHAR)")
        return "packages", []
    count = rrf.load(bench, "sat", entry, "RXNSAT", ("CUI", "ATN", "SAB", "ATV", "SUPPRESS"))
    bench.execute(
        """
        CREATE VIEW judged_packages AS
        SELECT CUI, ATV, CASE WHEN ATN <> 'NDC' OR SAB <> 'RXNORM' THEN 'other_attribute'
                              WHEN SUPPRESS NOT IN ('N', '') THEN 'suppressed'
                              WHEN NOT regexp_full_match(ATV, '[0-9]{11}')
                                OR CUI NOT IN (SELECT CUI FROM best) THEN 'no_ndc_of_a_product'
                              ELSE '' END AS reason
        FROM sat"""
    )
    bench.execute(
        "CREATE TABLE packages AS SELECT DISTINCT CUI, 'NDC:' || ATV AS object "
        "FROM judged_packages WHERE reason = ''"
    )
    counts = bench.execute(
        "SELECT reason, count(*) FROM judged_packages WHERE reason <> '' GROUP BY reason"
    ).fetchall()
    used = bench.execute("SELECT count(*) FROM packages").fetchall()[0][0]
    dropped = dict(counts)
    dropped["duplicate"] = count - sum(dropped.values()) - used
    return "packages", [("mappings", count, dropped)]
