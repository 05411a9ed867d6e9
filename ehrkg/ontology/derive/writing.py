"""Writing what was derived: compact KGX and SSSOM, the same rows giving the same bytes."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from ehrkg.foundation.hashing import short_id
from ehrkg.foundation.storage import write_atomically
from ehrkg.ontology.derive.mondo import Edge, Mapping
from ehrkg.ontology.derive.reading import rules

EDGE_COLUMNS = (
    "id",
    "subject",
    "predicate",
    "object",
    "negated",
    "route",
    "primary_knowledge_source",
    "origin",
    "license",
    "provenance",
)
NODE_COLUMNS = ("id", "category", "name", "synonym", "provided_by")
CATEGORIES = {
    "disease": "biolink:Disease",
    "finding": "biolink:PhenotypicFeature",
    "drug": "biolink:Drug",
    "drug_class": "biolink:ChemicalRole",
    "procedure": "biolink:Procedure",
}

Node = tuple[str, str, str, Sequence[str]]
"""Id, kind, name, synonyms."""


def fold(edges: Iterable[Edge]) -> list[Edge]:
    """One edge a statement; of several notes the empty one, that is the surer row, wins."""
    best: dict[tuple[str, str, str, str], str] = {}
    for subject, predicate, target, route, note in edges:
        place = (subject, predicate, target, route)
        if subject != target:
            best[place] = min(note, best.get(place, note))
    return sorted((*place, note) for place, note in best.items())


def write_nodes(out: Path, folder: str, nodes: Iterable[Node]) -> None:
    """Nodes of a folder, sorted by id; synonyms that repeat the name are left out."""
    infores = _source(folder)["infores"]
    lines = [
        (concept, CATEGORIES[kind], name, "|".join(sorted(set(texts) - {name})), infores)
        for concept, kind, name, texts in sorted(nodes)
    ]
    _write(out / folder / "nodes.tsv.gz", NODE_COLUMNS, lines)


def write_edges(out: Path, folder: str, edges: Iterable[Edge]) -> None:
    """Edges of a folder under its source, origin and licence."""
    source = _source(folder)
    infores, origin, licence = source["infores"], source["origin"], source["licence"]
    lines = [
        (
            short_id("e", subject, predicate, target, route, infores),
            *(subject, predicate, target, "false", route, infores, origin, licence, note),
        )
        for subject, predicate, target, route, note in edges
    ]
    _write(out / folder / "edges.tsv.gz", EDGE_COLUMNS, lines)


def write_mappings(out: Path, folder: str, rows: Iterable[Mapping], why: str) -> None:
    """Mappings of a folder.

    Args:
        out: the ontologies folder.
        folder: the source's.
        rows: the mappings.
        why: their justification, of the Semantic Mapping Vocabulary.
    """
    spec = rules()["sources"][folder]
    licence = spec.get("licence_of_mappings") or spec["source"]["licence"]
    columns = ("subject_id", "predicate_id", "object_id", "mapping_justification", "confidence")
    lines = [
        (subject, predicate, target, why, sure) for subject, predicate, target, sure in sorted(rows)
    ]
    head = f"# license: https://spdx.org/licenses/{licence}\n"
    _write(out / folder / "mappings.sssom.tsv.gz", columns, lines, head=head)


def _source(folder: str) -> dict[str, str]:
    source: dict[str, str] = rules()["sources"][folder]["source"]
    return source


def _write(
    path: Path, columns: Sequence[str], lines: Sequence[Sequence[str]], *, head: str = ""
) -> None:
    text = head + "".join("\t".join(line) + "\n" for line in (columns, *lines))
    packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda part: part.write_bytes(packed))


def describe(folder: Path, spec: dict[str, Any]) -> None:
    """source.yaml and LICENSE of a folder."""
    source = spec["source"]
    text = yaml.safe_dump(source, sort_keys=False, allow_unicode=True, width=1000)
    (folder / "source.yaml").write_text(text, encoding="utf-8", newline="\n")
    conditions = spec.get("conditions") or f"https://spdx.org/licenses/{source['licence']}.html"
    (folder / "LICENSE").write_text(
        f"{source['name']}\n{'=' * len(source['name'])}\n"
        f"Licence: {source['licence']} ({conditions})\n"
        f"Attribution: {spec['attribution']} ({source['url']})\n"
        f"Version: {source['version']}\n\n"
        f"What was taken: {spec['taken']}\n"
        "Written by `python -m ehrkg.ontology.derive`; no sentence is carried over.\n",
        encoding="utf-8",
        newline="\n",
    )
