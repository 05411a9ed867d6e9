"""What each source of knowledge buys: PharmacotherapyDB's pairs linked and joined by a short path.

    python tests/benchmarks/mapping_gain.py ../shared/data [KNOWLEDGE ...]

The pairs of the catalogue (DM and SYM are indications, NOT are none) are for measuring: none is
knowledge. The sources of what ships are added one after another, then each KNOWLEDGE given. A pair
is linked when both its drug (by DrugBank id or name) and its disease (by DOID, through mappings, or
by name) are concepts; it has a path where at most three statements that affirm join them, whatever
they say and whichever way they point.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_matrix

from ehrkg import ontology
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify import resolve_pairs

STEPS = 3
SOURCED = ("edges", "mappings", "synonyms", "concepts")


def of_sources(knowledge: Knowledge, sources: list[str]) -> Knowledge:
    """The part of a knowledge that comes from some sources; names of all concepts they speak of."""
    wanted = pa.array(sources, pa.string())
    parts = {
        name: (table := getattr(knowledge, name)).filter(pc.is_in(table["source"], wanted))
        for name in ("edges", "mappings", "synonyms", "concepts")
    }
    ends = pa.concat_arrays(
        [parts["edges"][end].combine_chunks() for end in ("subject", "object")]
    ).unique()
    concepts = knowledge.concepts
    keep = pc.or_(
        pc.is_in(concepts["source"], wanted), pc.is_in(concepts["id"], ends.cast(pa.string()))
    )
    parts["concepts"] = concepts.filter(keep)
    return Knowledge(**parts, attributes=knowledge.attributes)


def added(data: list[Path]) -> Iterator[tuple[str, Knowledge]]:
    """What is known after each source: of what ships, most edges first; then the files given."""
    shipped = ontology.shipped()
    counted = pc.value_counts(shipped.edges["source"]).to_pylist()
    order = [
        row["values"] for row in sorted(counted, key=lambda row: (-row["counts"], row["values"]))
    ]
    named = pc.unique(
        pa.chunked_array([*shipped.concepts["source"].chunks, *shipped.mappings["source"].chunks])
    ).to_pylist()
    order += sorted(set(named) - set(order))
    for number in range(1, len(order) + 1):
        yield f"+ {order[number - 1]}", of_sources(shipped, order[:number])
    known = shipped
    for path in data:
        known = ontology.merge(known, ontology.load(path))
        yield f"+ {path.name}", known


def ends_of(pairs: list[dict[str, str]], knowledge: Knowledge) -> list[tuple[set[str], set[str]]]:
    """For each pair the concepts of its drug and of its disease."""
    words = sorted(
        {
            word
            for row in pairs
            for word in (
                f"DRUGBANK:{row['drugbank_id']}",
                row["drug"],
                row["doid_id"],
                row["disease"],
            )
        }
    )
    table = pa.table({"head": words, "predicate": ["TREATS"] * len(words), "tail": words})
    links = resolve_pairs(table, knowledge).links
    found: dict[str, set[str]] = {}
    for word, concept, levels in zip(
        *(links[name].to_pylist() for name in ("code", "concept", "levels")), strict=True
    ):
        if levels <= 1:
            found.setdefault(word, set()).add(concept)
    return [
        (
            found.get(f"DRUGBANK:{row['drugbank_id']}") or found.get(row["drug"], set()),
            found.get(row["doid_id"]) or found.get(row["disease"], set()),
        )
        for row in pairs
    ]


def joined(ends: list[tuple[set[str], set[str]]], knowledge: Knowledge) -> list[bool]:
    """Whether at most STEPS affirming statements join the ends of each pair."""
    edges = knowledge.edges.filter(pc.invert(knowledge.edges["negated"]))
    ids = sorted(
        {
            *edges["subject"].to_pylist(),
            *edges["object"].to_pylist(),
            *(c for e in ends for s in e for c in s),
        }
    )
    at = {concept: place for place, concept in enumerate(ids)}
    one = np.array([at[c] for c in edges["subject"].to_pylist()], dtype=np.int64)
    other = np.array([at[c] for c in edges["object"].to_pylist()], dtype=np.int64)
    ones = np.ones(len(one), dtype=bool)
    beside = csr_matrix((ones, (one, other)), shape=(len(ids), len(ids)))
    beside = (beside + beside.T).astype(bool)
    heads = sorted({concept for head, _ in ends for concept in head})
    row_of = {concept: row for row, concept in enumerate(heads)}
    start = csr_matrix(
        (np.ones(len(heads), dtype=bool), (np.arange(len(heads)), [at[c] for c in heads])),
        shape=(len(heads), len(ids)),
        dtype=bool,
    )
    reached, front = start, start
    for _ in range(STEPS):
        front = (front @ beside).astype(bool)
        reached = (reached + front).astype(bool)
    reached = reached.tocsr()
    reached.sort_indices()
    sets = [
        set(reached.indices[reached.indptr[r] : reached.indptr[r + 1]]) for r in range(len(heads))
    ]
    return [
        any(at[tail] in sets[row_of[head]] for head in first for tail in second)
        for first, second in ends
    ]


def main() -> None:
    """Print a row a source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("knowledge", type=Path, nargs="*")
    given = parser.parse_args()
    file = given.data / "pharmacotherapydb" / "catalog" / "indications.tsv"
    with file.open(encoding="utf-8", newline="") as handle:
        pairs = list(csv.DictReader(handle, delimiter="\t"))
    good = [row["category"] != "NOT" for row in pairs]
    print(f"{sum(good)} indications, {len(pairs) - sum(good)} that are none")
    print(f"{'source added':<42} {'edges':>9} {'linked':>7} {'path<=3':>8} {'NOT: path<=3':>13}")
    for label, knowledge in added(given.knowledge):
        ends = ends_of(pairs, knowledge)
        linked = [bool(head and tail) for head, tail in ends]
        path = joined(ends, knowledge)
        print(
            f"{label:<42} {knowledge.edges.num_rows:>9,} "
            f"{sum(a and b for a, b in zip(good, linked, strict=True)):>7} "
            f"{sum(a and b for a, b in zip(good, path, strict=True)):>8} "
            f"{sum(b and not a for a, b in zip(good, path, strict=True)):>13}",
            flush=True,
        )


if __name__ == "__main__":
    main()
