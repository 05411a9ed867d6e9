"""A graph's knowledge as KGX JSON Lines and SSSOM, as the tools of the Biolink Model read them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.errors import InputError
from ehrkg.graph.folders import new_folder
from ehrkg.graph.readers import read_knowledge
from ehrkg.graph.store import GraphStore
from ehrkg.ontology.categories import OTHER, read_yaml
from ehrkg.ontology.formats.kgx_json import SEPARATOR
from ehrkg.ontology.iris import written
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sql import mapped

NODES, EDGES, MAPPINGS = "nodes.jsonl", "edges.jsonl", "mappings.sssom.tsv"
ANY = "biolink:NamedThing"
RELATED = "biolink:related_to"
_MATCHES = {
    "skos:exactMatch": "biolink:exact_match",
    "skos:closeMatch": "biolink:close_match",
    "skos:broadMatch": "biolink:broad_match",
    "skos:narrowMatch": "biolink:narrow_match",
}
_UNSPEAKABLE = r"[\t\r\n]"
"""What no cell of a TSV can hold."""


def export_kgx(store: GraphStore, folder: Path) -> dict[str, int]:
    """Write concepts, synonyms, statements and mappings; ``ehrkg.ontology.load`` reads them equal.

    Each edge has its own source, origin and licence. A predicate that Biolink lacks is written as
    ``biolink:related_to``, and its name stands beside it (``ehrkg_predicate``). Patients, visits,
    codes and relations are not written: they are no knowledge, and some must not leave. Passages
    and what code systems say of codes are not either: they are loaded from where they came.

    Args:
        store: the graph.
        folder: where the files go; a new folder, or an empty one.

    Returns:
        How many lines each file has.

    Raises:
        UsageError: the folder holds something.
        InputError: an identifier that a line of a TSV can't hold; no folder is made then.
    """
    known = read_knowledge(store)
    _check(known)
    with new_folder(folder) as part:
        return {
            NODES: _write_nodes(known, part / NODES),
            EDGES: _write_edges(known, part / EDGES),
            MAPPINGS: write_sssom(known.mappings, part / MAPPINGS),
        }


def _check(known: Knowledge) -> None:
    texts = known.synonyms.column("text")
    if pc.any(pc.match_substring(texts, SEPARATOR)).as_py():
        raise InputError("a synonym holds the control character U+001F", column="text")


def categories_of_kinds() -> dict[str, str]:
    """The Biolink category of each kind: the first that means it."""
    found: dict[str, str] = {}
    for row in read_yaml("categories.yaml"):
        if row["category"].startswith("biolink:"):
            found.setdefault(row["kind"], row["category"])
    return found | {OTHER: ANY}


def biolink_of(predicate: str) -> str:
    """The Biolink predicate that an edge is written with.

    >>> biolink_of("TREATS"), biolink_of("EXACT_MATCH"), biolink_of("DISJOINT_WITH")
    ('biolink:treats', 'biolink:exact_match', 'biolink:related_to')
    """
    name = PREDICATES[predicate].biolink
    return name if name.startswith("biolink:") else _MATCHES.get(name, RELATED)


def _write_nodes(known: Knowledge, path: Path) -> int:
    categories = categories_of_kinds()
    kinds = mapped(known.concepts.column("kind"), lambda kind: categories.get(kind, ANY))
    return _copy(
        """
        SELECT c.id, [c.category] AS category, c.name, c.definition AS description,
               [c.source] AS provided_by, coalesce(s.texts, []) AS synonym,
               coalesce(s.scopes, []) AS synonym_scope, coalesce(s.sources, []) AS synonym_source
        FROM concepts c LEFT JOIN (
          SELECT concept, list(text ORDER BY text, source, scope) AS texts,
                 list(scope ORDER BY text, source, scope) AS scopes,
                 list(source ORDER BY text, source, scope) AS sources
          FROM synonyms GROUP BY concept) s ON s.concept = c.id
        ORDER BY c.id""",
        path,
        concepts=known.concepts.append_column("category", kinds),
        synonyms=known.synonyms,
    )


def _write_edges(known: Knowledge, path: Path) -> int:
    named = mapped(known.edges.column("predicate"), biolink_of)
    return _copy(
        """
        SELECT id, subject, biolink AS predicate, object, negated,
               ['biolink:Association'] AS category, source AS primary_knowledge_source,
               'knowledge_assertion' AS knowledge_level, 'not_provided' AS agent_type,
               original_predicate, predicate AS ehrkg_predicate, route, origin,
               licence AS license, provenance
        FROM edges ORDER BY predicate, subject, object, source, id""",
        path,
        edges=known.edges.append_column("biolink", named),
    )


def _copy(query: str, path: Path, **tables: pa.Table) -> int:
    """Write a query's rows as JSON Lines, in their order."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        for name, table in tables.items():
            connection.register(name, table)
        target = str(path).replace("'", "''")
        connection.execute(f"COPY ({query}) TO '{target}' (FORMAT json)").fetchall()
        [(count,)] = connection.execute(f"SELECT count(*) FROM ({query})").fetchall()  # noqa: S608
    return int(count)


def write_sssom(mappings: pa.Table, path: Path) -> int:
    """Write mappings as SSSOM TSV with its metadata.

    Args:
        mappings: MAPPINGS.
        path: the file.

    Returns:
        How many mappings.

    Raises:
        InputError: an identifier holds a tab or a line end.
    """
    for name in ("subject", "predicate", "object", "source"):
        bad = mappings.filter(pc.match_substring_regex(mappings.column(name), _UNSPEAKABLE))
        if bad.num_rows:
            raise InputError(
                "an identifier that no line of a TSV can hold",
                column=name,
                found=repr(bad.column(name)[0].as_py()),
                todo="write the graph as RDF instead",
            )
    rows = mappings.sort_by(
        [(n, "ascending") for n in ("subject", "predicate", "object", "source", "confidence")]
    )
    prefixes = sorted(
        {
            one.partition(":")[0]
            for name in ("subject", "object")
            for one in pc.unique(rows.column(name)).to_pylist()
        }
        & set(written())
    )
    lines = [
        "#mapping_set_id: urn:ehrkg:mappings",
        "#license: https://w3id.org/sssom/license/unspecified",
        "#curie_map:",
        *(f"#  {prefix}: {written()[prefix]}" for prefix in prefixes),
        "subject_id\tpredicate_id\tobject_id\tmapping_justification\tconfidence\tmapping_provider",
    ]
    lines += [
        f"{s}\t{p}\t{o}\tsemapv:UnspecifiedMatching\t{c!r}\t{source}"
        for s, p, o, c, source in zip(
            *(
                rows.column(name).to_pylist()
                for name in ("subject", "predicate", "object", "confidence", "source")
            ),
            strict=True,
        )
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return int(rows.num_rows)
