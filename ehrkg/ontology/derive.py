"""Derive knowledge on the core's concepts from folders of open tables.

``python -m ehrkg.ontology.derive OPEN_TABLES [--out ontologies]`` reads drugcentral/, everycure/,
mondo/, maxo/ and drugbank-vocabulary/ and writes a folder a source under ``--out``: ids, names and
relations only, each with its licence. The same tables give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from ehrkg.foundation.errors import EhrkgError
from ehrkg.foundation.hashing import short_id
from ehrkg.foundation.storage import write_atomically
from ehrkg.ontology.derive_core import Core, add_names, key, read_core, rules
from ehrkg.ontology.derive_drugs import CONTRAINDICATED, Deriver, refused, synonyms
from ehrkg.ontology.derive_mondo import (
    Edge,
    Mapping,
    mappings,
    maxo_edges,
    read_mondo,
    resolver,
    tree,
)

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


def derive(tables: Path, out: Path) -> dict[str, int]:
    """Write the derived folders under ``out`` and say how many rows each holds.

    Args:
        tables: the folder of open tables.
        out: the ontologies folder; ``out/core`` must be there.

    Raises:
        InputError: a table or the core is not there.
    """
    core = read_core(out / "core")
    mondo = read_mondo(tables / "mondo")
    ids = resolver(core, mondo)
    counts: dict[str, int] = {}

    isa = tree(core, mondo)
    _write_edges(out / "mondo" / "edges.tsv", "mondo", isa)
    maps = mappings(core, mondo, out / "core" / "mappings.sssom.tsv")
    _write_mappings(out / "mondo" / "mappings.sssom.tsv", maps, core)
    counts |= {"mondo edges": len(isa), "mondo mappings": len(maps)}

    counts["drugbank drugs"] = _drugbank(tables, out, core)
    add_names(core.drugs, _drugbank_names(tables, core))

    deriver = Deriver(core, ids)
    central = _fold(deriver.drugcentral(tables / "drugcentral" / "indications_2018-10-12.tsv"))
    _write_edges(out / "drugcentral" / "edges.tsv", "drugcentral", central)
    counts["drugcentral edges"] = len(central)

    labels = _everycure(tables / "everycure", deriver)
    _write_edges(out / "everycure" / "edges.tsv", "everycure", labels)
    counts["everycure edges"] = len(labels)

    acts = [
        edge
        for edge in _fold(maxo_edges(tables / "maxo", core, ids))
        if not refused(core, edge[0], edge[2])
    ]
    _write_edges(out / "maxo" / "edges.tsv", "maxo", acts)
    counts["maxo edges"] = len(acts)

    for name, spec in rules()["sources"].items():
        _describe(out / name, spec)
    return counts | {f"left out: {reason}": n for reason, n in sorted(deriver.left.items())}


def _everycure(folder: Path, deriver: Deriver) -> list[Edge]:
    """Both lists; a pair that stands on both depends on its context, and is left out."""
    uses = _fold(deriver.indications(folder / "fda_indications.tsv"))
    bars = _fold(deriver.contraindications(folder / "contraindications.tsv"))
    both = {(e[0], e[2]) for e in uses} & {(e[0], e[2]) for e in bars if e[1] == CONTRAINDICATED}
    deriver.left["on both lists"] += len(both)
    return sorted(edge for edge in (*uses, *bars) if (edge[0], edge[2]) not in both)


def _drugbank(tables: Path, out: Path, core: Core) -> int:
    rows = sorted(synonyms(tables / "drugbank-vocabulary" / "drugbank_vocabulary.csv", core))
    shared: dict[str, set[str]] = defaultdict(set)
    for drug, _, texts in rows:
        for text in texts:
            shared[key(text)].add(drug)
    lines = [
        (drug, "biolink:Drug", name, "|".join(t for t in texts if len(shared[key(t)]) == 1), source)
        for drug, name, texts in rows
        for source in (rules()["sources"]["drugbank"]["source"]["infores"],)
    ]
    _write(
        out / "drugbank" / "nodes.tsv", ("id", "category", "name", "synonym", "provided_by"), lines
    )
    return len(lines)


def _drugbank_names(tables: Path, core: Core) -> list[tuple[str, str]]:
    path = tables / "drugbank-vocabulary" / "drugbank_vocabulary.csv"
    return [(text, drug) for drug, name, texts in synonyms(path, core) for text in (name, *texts)]


def _fold(edges: Iterable[Edge]) -> list[Edge]:
    """One edge a statement; of several notes the empty one, that is the surer row, wins."""
    best: dict[tuple[str, str, str, str], str] = {}
    for subject, predicate, target, route, note in edges:
        place = (subject, predicate, target, route)
        if subject != target:
            best[place] = min(note, best.get(place, note))
    return sorted((*place, note) for place, note in best.items())


def _write_edges(path: Path, folder: str, edges: Sequence[Edge]) -> None:
    source: dict[str, Any] = rules()["sources"][folder]["source"]
    infores, origin, licence = source["infores"], source["origin"], source["licence"]
    lines = [
        (
            short_id("e", subject, predicate, target, route, infores),
            *(subject, predicate, target, "false", route, infores, origin, licence, note),
        )
        for subject, predicate, target, route, note in edges
    ]
    _write(path, EDGE_COLUMNS, lines)


def _write_mappings(path: Path, rows: Sequence[Mapping], core: Core) -> None:
    columns = (
        *("subject_id", "subject_label", "predicate_id", "object_id"),
        *("mapping_justification", "confidence"),
    )
    lines = [
        (subject, core.names[subject], predicate, target, "semapv:ManualMappingCuration", sure)
        for subject, predicate, target, sure in rows
    ]
    _write(path, columns, lines, head="# license: https://spdx.org/licenses/CC0-1.0\n")


def _write(
    path: Path, columns: Sequence[str], lines: Sequence[Sequence[str]], *, head: str = ""
) -> None:
    text = head + "".join("\t".join(line) + "\n" for line in (columns, *lines))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def _describe(folder: Path, spec: dict[str, Any]) -> None:
    """source.yaml and LICENSE of a folder."""
    source = spec["source"]
    (folder / "source.yaml").write_text(
        yaml.safe_dump(source, sort_keys=False, allow_unicode=True, width=1000), encoding="utf-8"
    )
    (folder / "LICENSE").write_text(
        f"{source['name']}\n{'=' * len(source['name'])}\n"
        f"Licence: {source['licence']} (https://spdx.org/licenses/{source['licence']}.html)\n"
        f"Attribution: {spec['attribution']} ({source['url']})\n"
        f"Version: {source['version']}\n\n"
        f"What was taken: {spec['taken']}\n"
        "Written by `python -m ehrkg.ontology.derive`; identifiers are those of ontologies/core.\n",
        encoding="utf-8",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m ehrkg.ontology.derive", description=__doc__)
    parser.add_argument("tables", type=Path, help="the folder of open tables")
    parser.add_argument("--out", type=Path, default=Path("ontologies"), help="where core/ lies")
    given = parser.parse_args(arguments)
    try:
        counts = derive(given.tables, given.out)
    except EhrkgError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    for what, number in counts.items():
        sys.stdout.write(f"{number:7,d}  {what}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
