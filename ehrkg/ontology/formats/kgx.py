"""KGX TSV: nodes and edges of the Biolink Model, in a folder or as single files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ontology.categories import kind_of
from ehrkg.ontology.curies import normalise
from ehrkg.ontology.formats import sssom
from ehrkg.ontology.formats.parts import Parts
from ehrkg.ontology.formats.tsv import column, header, read_tsv
from ehrkg.ontology.predicates import UNKNOWN, from_biolink
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sources import Source, read_source
from ehrkg.ontology.sql import mapped, run
from ehrkg.ontology.tables import knowledge, with_edge_ids

NODE_COLUMNS = ("id", "category")
EDGE_COLUMNS = ("subject", "predicate", "object")
SCOPES = ("exact", "related", "brand", "abbreviation")
"""What may stand before a synonym: ``brand:Lasix``; without it a synonym is exact."""
XREF_CONFIDENCE = 0.6
"""A cross-reference in a node's row says less than an exact match."""


def _files(path: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {"nodes": [], "edges": [], "mappings": []}
    inside = sorted(path.iterdir()) if path.is_dir() else [path]
    for file in inside:
        if not (file.is_file() and file.name.endswith((".tsv", ".tsv.gz"))):
            continue
        names = header(file)[0]
        if set(EDGE_COLUMNS) <= set(names):
            found["edges"].append(file)
        elif set(NODE_COLUMNS) <= set(names):
            found["nodes"].append(file)
        elif set(sssom.COLUMNS) <= set(names):
            found["mappings"].append(file)
        elif path.is_file() or file.name.split(".")[0] in ("nodes", "edges"):
            found["nodes" if "node" in file.name else "edges"].append(file)  # errors say the rest
    return found


def detect(path: Path) -> bool:
    """Whether a folder holds nodes or edges (or SSSOM files), or a file is one of the two."""
    if path.is_file():
        names = set(header(path)[0])
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
        rows = read_tsv(file, NODE_COLUMNS)
        tables.append(_nodes(rows, default))
        parts.rows.append(("nodes", rows.num_rows, {}))
    for file in found["edges"]:
        rows = read_tsv(file, EDGE_COLUMNS)
        tables.append(_edges(rows, default, source))
        parts.rows.append(("edges", rows.num_rows, {}))
    for file in found["mappings"]:
        more = sssom.read(file)
        tables.append(more.knowledge)
        parts.rows += more.rows
        parts.quarantine.update(more.quarantine)
    parts.knowledge = Knowledge(
        *(
            pa.concat_tables([getattr(part, field) for part in [parts.knowledge, *tables]])
            for field in ("concepts", "synonyms", "edges", "mappings", "attributes")
        )
    )
    return parts


def _nodes(rows: pa.Table, default: str) -> Knowledge:
    given = pa.table(
        {
            "id": mapped(column(rows, "id"), normalise),
            "name": column(rows, "name"),
            "kind": mapped(column(rows, "category"), kind_of),
            "definition": column(rows, "description"),
            "source": mapped(column(rows, "provided_by"), lambda cell: _infores(cell, default)),
            "synonym": column(rows, "synonym"),
            "xref": column(rows, "xref"),
        }
    )
    concepts = run("SELECT id, name, kind, definition, source FROM given", given=given)
    synonyms = run(
        f"""
        WITH cells AS (
          SELECT id, trim(unnest(string_split(synonym, '|'))) AS cell, source FROM given
          WHERE synonym <> ''),
        split AS (
          SELECT *, regexp_extract(cell, '^({"|".join(SCOPES)}):', 1) AS scope FROM cells
          WHERE cell <> '')
        SELECT id AS concept,
               trim(CASE WHEN scope <> '' THEN substr(cell, length(scope) + 2)
                         ELSE cell END) AS text,
               CASE WHEN scope <> '' THEN scope ELSE 'exact' END AS scope, source
        FROM split""",  # noqa: S608
        given=given,
    )
    xrefs = run(
        "SELECT id, trim(unnest(string_split(xref, '|'))) AS object, source FROM given "
        "WHERE xref <> ''",
        given=given,
    )
    mappings = pa.table(
        {
            "subject": xrefs["id"],
            "predicate": pa.repeat("skos:closeMatch", xrefs.num_rows),
            "object": mapped(xrefs["object"], normalise),
            "confidence": pa.repeat(XREF_CONFIDENCE, xrefs.num_rows),
            "source": xrefs["source"],
        }
    )
    mappings = mappings.filter(pc.not_equal(mappings["object"], ""))
    return knowledge(concepts=concepts, synonyms=synonyms, mappings=mappings)


def _infores(cell: str, default: str) -> str:
    """The first of the providers named, as an infores id."""
    first = cell.split("|")[0].strip()
    return first if first.startswith("infores:") else default


def _edges(rows: pa.Table, default: str, source: Source | None) -> Knowledge:
    given = pa.table(
        {
            "subject": mapped(column(rows, "subject"), normalise),
            "predicate": mapped(column(rows, "predicate"), lambda p: from_biolink(p) or UNKNOWN),
            "stated": column(rows, "predicate"),
            "known": mapped(column(rows, "predicate"), lambda p: "1" if from_biolink(p) else ""),
            "object": mapped(column(rows, "object"), normalise),
            "negated": column(rows, "negated"),
            "route": mapped(column(rows, "route"), _routes),
            "source": mapped(
                column(rows, "primary_knowledge_source"), lambda cell: _infores(cell, default)
            ),
            "origin": column(rows, "origin"),
            "licence": column(rows, "license"),
            "provenance": column(rows, "provenance"),
            "publications": column(rows, "publications"),
            "original": column(rows, "original_predicate"),
        }
    )
    edges = run(
        """
        SELECT subject, predicate, object,
               lower(trim(negated)) IN ('true', '1', 't', 'yes') AS negated,
               route, source,
               CASE WHEN origin <> '' THEN origin
                    WHEN source = $default THEN $default_origin ELSE source END AS origin,
               CASE WHEN licence <> '' THEN licence ELSE $licence END AS licence,
               concat_ws('; ', nullif(provenance, ''), nullif(publications, '')) AS provenance,
               CASE WHEN known = '' THEN stated
                    WHEN predicate = $unknown THEN original ELSE '' END AS original_predicate
        FROM given""",
        given=given,
        parameters={
            "default": default,
            "default_origin": source.origin if source else default,
            "licence": source.licence if source else "",
            "unknown": UNKNOWN,
        },
    )
    return knowledge(edges=with_edge_ids(edges))


def _routes(cell: str) -> str:
    """Route classes in one order: ``oral|rectal``."""
    return "|".join(sorted({part.strip().lower() for part in cell.split("|") if part.strip()}))
