"""Arrays and the graph agree: the same paths, pair by pair, by a plain Cypher query a pair."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny

from ehrkg.foundation.hashing import hash64
from ehrkg.graph import open_store
from ehrkg.graph.store import GraphStore
from ehrkg.graph.writers import write_knowledge
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.arrays import KnowledgeArrays
from ehrkg.verify.meta_paths import MetaPath, shipped_meta_paths
from ehrkg.verify.paths import find

DRUGS = [f"D:{i}" for i in range(3)]
DISEASES = [f"M:{i}" for i in range(6)]


def cypher(path: MetaPath) -> str:
    """A meta-path as the query that a person would write for one pair."""
    text, where = "MATCH (n0:Concept {id: $head})", []
    for place, step in enumerate(path.steps):
        span = f"*{step.least}..{step.most}" if step.hierarchical else ""
        edge = f"[e{place}:{'|'.join(step.predicates)}{span}]"
        text += f"-{edge}->" if step.forward else f"<-{edge}-"
        last = place == len(path.steps) - 1
        text += f"(n{place + 1}:Concept" + (" {id: $tail})" if last else ")")
        if not step.hierarchical:
            where.append(f"e{place}.negated = {str(step.negated).lower()}")
    kinds = [(place, node.kind) for place, node in enumerate(path.nodes) if node.kind]
    where += [f"n{place}.kind = '{kind}'" for place, kind in kinds]
    return f"{text} WHERE {' AND '.join(where)} RETURN count(*) AS ways"


@pytest.fixture(scope="module")
def world() -> Knowledge:
    """A graph drawn by hashes: a hierarchy of diseases, statements of several kinds."""

    def some(share: float, *key: object) -> bool:
        return hash64(*key) % 1000 < share * 1000

    edges = [tiny.edge(f"M:{i}", "SUBCLASS_OF", f"M:{i // 2}") for i in range(1, len(DISEASES))]
    edges += [tiny.edge(drug, "SUBCLASS_OF", f"A:{i % 2}") for i, drug in enumerate(DRUGS)]
    for head in (*DRUGS, "A:0", "A:1"):
        for tail, name in itertools.product(
            DISEASES, ("TREATS", "CONTRAINDICATED_IN", "CAUSES", "!TREATS")
        ):
            if some(0.12, head, name, tail):
                edges.append(tiny.edge(head, name, tail))
    for head, tail in itertools.permutations(DISEASES, 2):
        edges += [
            tiny.edge(head, name, tail)
            for name in ("CAUSES", "HAS_PHENOTYPE")
            if some(0.1, head, name, tail)
        ]
    kinds = {"D": "drug", "A": "drug_class"}
    ids = [*DRUGS, *DISEASES, "A:0", "A:1"]
    return tiny.knowledge(edges, [(key, key, kinds.get(key[0], "disease"), "") for key in ids])


@pytest.fixture(scope="module")
def store(world: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    folder: Path = tmp_path_factory.mktemp("graph")
    with open_store(folder / "graph.lbug") as opened:
        write_knowledge(opened, world)
        yield opened


@pytest.mark.parametrize("predicate", ["TREATS", "CAUSES"])
def test_the_same_pairs_as_cypher(predicate: str, world: Knowledge, store: GraphStore) -> None:
    heads = DRUGS if predicate == "TREATS" else DISEASES
    pairs = [(head, tail) for head in heads for tail in DISEASES if head != tail]
    arrays = KnowledgeArrays(world)
    joined = 0
    for path in shipped_meta_paths():
        if path.predicate != predicate:
            continue
        found = find(arrays, path, *(arrays.index([p[end] for p in pairs]) for end in (0, 1)))
        mine = {pairs[row] for row in found.pair.tolist()}
        theirs = {
            (head, tail)
            for head, tail in pairs
            if store.query(cypher(path), head=head, tail=tail)["ways"].to_pylist() != [0]
        }
        assert mine == theirs, path.name
        joined += len(mine)
    assert joined > 15
