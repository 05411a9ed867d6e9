"""KGX: nodes and edges of the Biolink Model, as TSV or JSON Lines, in a folder or single files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ehrkg.ontology.categories import kind_of
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.formats import sssom
from ehrkg.ontology.formats.folded import put, spelt, take
from ehrkg.ontology.formats.kgx_json import ENDINGS, SEPARATOR, fill_json, keys
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.streams import fill
from ehrkg.ontology.formats.tsv import header, layout
from ehrkg.ontology.predicates import PREDICATES, UNKNOWN, reading
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sources import Source, read_source
from ehrkg.ontology.sql import workbench
from ehrkg.ontology.tables import FIELDS, knowledge

if TYPE_CHECKING:
    import duckdb

NODE_COLUMNS = ("id", "category")
EDGE_COLUMNS = ("subject", "predicate", "object")
SYNONYM_CELLS = ("synonym", "synonym_scope", "synonym_source")
"""In JSON Lines these are lists that go together."""
NODE_CELLS = (*NODE_COLUMNS, "name", "description", "provided_by", "xref", *SYNONYM_CELLS)
EDGE_CELLS = (
    *EDGE_COLUMNS,
    "negated",
    "route",
    "primary_knowledge_source",
    "origin",
    "license",
    "provenance",
    "publications",
    "original_predicate",
    "ehrkg_predicate",
)
"""The columns that are read; of these only the first, above, must be there."""
SCOPES = ("exact", "related", "brand", "abbreviation")
"""What may stand before a synonym: ``brand:Lasix``; without it a synonym is exact."""
XREF_CONFIDENCE = 0.6
"""A cross-reference in a node's row says less than an exact match."""


def _files(path: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {"nodes": [], "edges": [], "mappings": []}
    inside = sorted(path.iterdir()) if path.is_dir() else [path]
    for file in inside:
        if not (file.is_file() and file.name.endswith((".tsv", ".tsv.gz", *ENDINGS))):
            continue
        names = _names(file)
        if set(EDGE_COLUMNS) <= set(names):
            found["edges"].append(file)
        elif set(NODE_COLUMNS) <= set(names):
            found["nodes"].append(file)
        elif set(sssom.COLUMNS) <= set(names):
            found["mappings"].append(file)
        elif path.is_file() or file.name.split(".")[0] in ("nodes", "edges"):
            found["nodes" if "node" in file.name else "edges"].append(file)  # errors say the rest
    return found


def _names(path: Path) -> set[str]:
    """The columns of a TSV, or the keys of the first of JSON Lines."""
    return keys(path) if path.name.endswith(ENDINGS) else set(header(path)[0])


def detect(path: Path) -> bool:
    """Whether a folder holds nodes or edges (or SSSOM files), or a file is one of the two."""
    if path.is_file():
        names = _names(path)
        return set(EDGE_COLUMNS) <= names or set(NODE_COLUMNS) <= names
    return any(_files(path).values())


def read(path: Path) -> Parts:
    """Read a KGX folder (with its SSSOM files) or a single nodes or edges file.

    Raises:
        InputError: see ``read_tsv``.
    """
    described = (path if path.is_dir() else path.parent) / "source.yaml"
    source = read_source(described) if described.is_file() else None
    name = path.name.split(".")[0]
    default = source.infores if source else f"infores:{name}"
    parts = Parts(knowledge())
    tables: list[Knowledge] = []
    found = _files(path)
    for file in found["nodes"]:
        table, account = _nodes(file, default)
        tables.append(table)
        parts.rows.append(account)
    for file in found["edges"]:
        table, account = _edges(file, default, source)
        tables.append(table)
        parts.rows.append(account)
    for file in found["mappings"]:
        more = sssom.read(file)
        tables.append(more.knowledge)
        parts.rows += more.rows
        parts.quarantine.update(more.quarantine)
    parts.knowledge = Knowledge(
        *(
            pa.concat_tables([getattr(part, field) for part in [parts.knowledge, *tables]])
            for field in FIELDS
        )
    )
    return parts


def _given(
    bench: duckdb.DuckDBPyConnection, file: Path, required: tuple[str, ...], cells: tuple[str, ...]
) -> int:
    """Table ``given`` with all these columns, "" where the file has none; how many rows."""
    if file.name.endswith(ENDINGS):
        return fill_json(bench, "given", file, cells, required, apart=SYNONYM_CELLS)
    rows = layout(file, required)
    there = [name for name in cells if name in rows.columns]
    count = fill(bench, "read", rows, there)
    all_cells = ", ".join(name if name in there else f"'' AS {name}" for name in cells)
    bench.execute(f"CREATE VIEW given AS SELECT {all_cells} FROM read")  # noqa: S608
    return count


def _nodes(file: Path, default: str) -> tuple[Knowledge, tuple[str, int, dict[str, int]]]:
    with workbench(file) as bench:
        count = _given(bench, file, NODE_COLUMNS, NODE_CELLS)
        spelt(bench, "ids", ["SELECT id FROM given"], normalise)
        spelt(bench, "kinds", ["SELECT category FROM given"], kind_of)
        spelt(
            bench,
            "sources",
            ["SELECT provided_by FROM given"],
            lambda cell: _infores(cell, default),
        )
        bench.execute(
            """
            CREATE VIEW nodes AS
            SELECT coalesce(i.word, id) AS id, name, coalesce(k.word, category) AS kind,
                   description AS definition, coalesce(s.word, provided_by) AS source,
                   synonym, synonym_scope, synonym_source, xref
            FROM given LEFT JOIN ids i ON i.raw = id LEFT JOIN kinds k ON k.raw = category
                       LEFT JOIN sources s ON s.raw = provided_by"""
        )
        concepts = take(bench, "concepts", "SELECT * FROM nodes")
        bench.execute(
            """CREATE VIEW xrefs AS
               SELECT id, trim(unnest(string_split(xref, '|'))) AS object, source FROM nodes
               WHERE xref <> ''"""
        )
        spelt(bench, "objects", ["SELECT object FROM xrefs"], normalise)
        table = knowledge(
            concepts=concepts,
            synonyms=take(bench, "synonyms", _LISTED if file.name.endswith(ENDINGS) else _SYNONYMS),
            mappings=take(bench, "mappings", _XREFS),
        )
    return table, ("nodes", count, {"duplicate_id": count - concepts.num_rows})


_SYNONYMS = f"""
    WITH cells AS (
      SELECT id, trim(unnest(string_split(synonym, '|'))) AS cell, source FROM nodes
      WHERE synonym <> ''),
    split AS (
      SELECT *, regexp_extract(cell, '^({"|".join(SCOPES)}):', 1) AS scope FROM cells
      WHERE cell <> '')
    SELECT id AS concept,
           trim(CASE WHEN scope <> '' THEN substr(cell, length(scope) + 2) ELSE cell END) AS text,
           CASE WHEN scope <> '' THEN scope ELSE 'exact' END AS scope, source
    FROM split"""  # noqa: S608 (words of our own)

_LISTED = f"""
    WITH cells AS (
      SELECT id, source, unnest(string_split(synonym, '{SEPARATOR}')) AS text,
             unnest(string_split(synonym_scope, '{SEPARATOR}')) AS scope,
             unnest(string_split(synonym_source, '{SEPARATOR}')) AS own
      FROM nodes WHERE synonym <> '')
    SELECT id AS concept, text, coalesce(nullif(scope, ''), 'exact') AS scope,
           coalesce(nullif(own, ''), source) AS source
    FROM cells WHERE text <> ''"""  # noqa: S608 (words of our own)

_XREFS = f"""
    SELECT id AS subject, 'skos:closeMatch' AS predicate, coalesce(word, object) AS object,
           {XREF_CONFIDENCE}::DOUBLE AS confidence, source
    FROM xrefs LEFT JOIN objects ON raw = object WHERE coalesce(word, object) <> ''"""  # noqa: S608


def _infores(cell: str, default: str) -> str:
    """The first of the providers named, as an infores id."""
    first = cell.split("|")[0].strip()
    return first if first.startswith("infores:") else default


def _edges(
    file: Path, default: str, source: Source | None
) -> tuple[Knowledge, tuple[str, int, dict[str, int]]]:
    with workbench(file) as bench:
        count = _given(bench, file, EDGE_COLUMNS, EDGE_CELLS)
        spelt(bench, "ids", ["SELECT subject FROM given", "SELECT object FROM given"], normalise)
        spelt(bench, "routes", ["SELECT route FROM given"], _routes)
        spelt(
            bench,
            "sources",
            ["SELECT primary_knowledge_source FROM given"],
            lambda cell: _infores(cell, default),
        )
        _predicates(bench)
        edges = take(
            bench,
            "edges",
            _EDGES,
            {
                "default": default,
                "default_origin": source.origin if source else default,
                "licence": source.licence if source else "",
                "unknown": UNKNOWN,
            },
        )
    return knowledge(edges=edges), ("edges", count, {"duplicate": count - edges.num_rows})


def _predicates(bench: duckdb.DuckDBPyConnection) -> None:
    """Table ``predicates``: each as stated, and how it is understood (null where it is not)."""
    stated = [row[0] for row in bench.execute("SELECT DISTINCT predicate FROM given").fetchall()]
    read = [reading(one) for one in stated]
    put(
        bench,
        "predicates",
        pa.table(
            {
                "stated": pa.array(stated, pa.string()),
                "known": pa.array([one.predicate if one else None for one in read], pa.string()),
                "turned": pa.array([bool(one and one.turned) for one in read], pa.bool_()),
                "denies": pa.array([bool(one and one.negated) for one in read], pa.bool_()),
            }
        ),
    )
    put(bench, "names", pa.table({"exact": pa.array(list(PREDICATES), pa.string())}))


_EDGES = """
    WITH named AS (
      SELECT CASE WHEN turned AND exact IS NULL THEN coalesce(b.word, object)
                  ELSE coalesce(a.word, subject) END AS subject,
             coalesce(exact, known, $unknown) AS predicate,
             CASE WHEN turned AND exact IS NULL THEN coalesce(a.word, subject)
                  ELSE coalesce(b.word, object) END AS object,
             (denies AND exact IS NULL)
               <> (lower(trim(negated)) IN ('true', '1', 't', 'yes')) AS negated,
             coalesce(r.word, route) AS route,
             coalesce(s.word, primary_knowledge_source) AS source, origin, license, provenance,
             publications, CASE WHEN known IS NULL THEN stated
                                WHEN coalesce(exact, known) = $unknown THEN original_predicate
                                ELSE '' END AS original_predicate
      FROM given JOIN predicates p ON p.stated = predicate
      LEFT JOIN names ON exact = ehrkg_predicate
      LEFT JOIN ids a ON a.raw = subject LEFT JOIN ids b ON b.raw = object
      LEFT JOIN routes r ON r.raw = route
      LEFT JOIN sources s ON s.raw = primary_knowledge_source)
    SELECT subject, predicate, object, negated, route, source,
           CASE WHEN origin <> '' THEN origin
                WHEN source = $default THEN $default_origin ELSE source END AS origin,
           CASE WHEN license <> '' THEN license ELSE $licence END AS licence,
           concat_ws('; ', nullif(provenance, ''), nullif(publications, '')) AS provenance,
           original_predicate
    FROM named"""


def _routes(cell: str) -> str:
    """Route classes in one order: ``oral|rectal``."""
    return "|".join(sorted({part.strip().lower() for part in cell.split("|") if part.strip()}))
