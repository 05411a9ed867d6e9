"""DrugBank's open vocabulary (CSV): ids, names, synonyms, CAS and UNII numbers."""

from __future__ import annotations

from pathlib import Path

from ehrkg.ontology.formats.archives import Entry, entries
from ehrkg.ontology.formats.folded import described, take
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.streams import CSV, Rows, fill, first_lines
from ehrkg.ontology.sql import workbench
from ehrkg.ontology.tables import knowledge

WANTED = ("DrugBank ID", "Accession Numbers", "Common name", "CAS", "UNII", "Synonyms")
SAME_CONFIDENCE = 0.95


def _file(path: Path) -> Rows | None:
    for entry in entries(path):
        lines = first_lines(entry, 1)
        names = CSV.cells(lines[0]) if lines else []
        if set(WANTED) <= set(names):
            return Rows(entry, CSV, tuple(names), skip=1)
    return None


def detect(path: Path) -> bool:
    """Whether a file (or one in a folder or zip) has the vocabulary's header."""
    return _file(path) is not None


def read(path: Path) -> Parts:
    """Read the vocabulary.

    Raises:
        InputError: the file is damaged, a line has another number of columns, a byte is not UTF-8.
    """
    rows = _file(path) or Rows(Entry(path), CSV, WANTED, skip=1)
    source = described(path, "infores:drugbank-vocabulary")
    values = {"source": source.infores}
    with workbench() as bench:
        count = fill(bench, "given", rows, WANTED)
        bench.execute(
            """CREATE VIEW drugs AS SELECT 'DRUGBANK:' || "DrugBank ID" AS id, * FROM given
               WHERE "DrugBank ID" <> ''"""
        )
        usable = bench.execute("SELECT count(*) FROM drugs").fetchall()[0][0]
        return Parts(
            knowledge(
                concepts=take(
                    bench,
                    "concepts",
                    """SELECT id, trim("Common name") AS name, 'drug' AS kind, '' AS definition,
                              $source AS source FROM drugs""",
                    values,
                ),
                synonyms=take(
                    bench,
                    "synonyms",
                    """SELECT id AS concept, trim(text) AS text, 'exact' AS scope,
                              $source AS source
                       FROM (SELECT id, unnest(string_split(Synonyms, ' | ')) AS text FROM drugs)
                       WHERE trim(text) <> ''""",
                    values,
                ),
                mappings=take(bench, "mappings", _MAPPINGS, values),
            ),
            rows=[("nodes", count, {"no_id": count - usable})],
        )


_MAPPINGS = f"""
    SELECT id AS subject, 'skos:exactMatch' AS predicate, object,
           {SAME_CONFIDENCE}::DOUBLE AS confidence, $source AS source
    FROM (
      SELECT id, 'CAS:' || trim(CAS) AS object FROM drugs WHERE trim(CAS) <> ''
      UNION ALL SELECT id, 'UNII:' || trim(UNII) FROM drugs WHERE trim(UNII) <> ''
      UNION ALL
      SELECT id, 'DRUGBANK:' || trim(unnest(string_split("Accession Numbers", ' | '))) FROM drugs
      WHERE trim("Accession Numbers") <> '')"""  # noqa: S608 (a number of our own)
