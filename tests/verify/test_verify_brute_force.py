"""Sparse arrays find what a plain search finds, pair by pair, and weigh it alike."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.ontology.schema import Knowledge
from ehrkg.verify import verify
from ehrkg.verify.arrays import NONE, KnowledgeArrays
from ehrkg.verify.meta_paths import MetaPath, shipped_meta_paths
from ehrkg.verify.paths import find

NODES = [f"C:{letter}" for letter in "abcdefg"]
KINDS = ("disease", "finding", "drug")
PREDICATES = (
    "TREATS",
    "!TREATS",
    "CONTRAINDICATED_IN",
    "CAUSES",
    "HAS_PHENOTYPE",
    "PREDISPOSES_TO",
    "!CAUSES",
)
Row = dict[str, object]


@st.composite
def worlds(draw: st.DrawFn) -> Knowledge:
    """Random small graphs, cycles and parallel edges among them."""
    ends = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES))
    hierarchy = draw(st.lists(ends, max_size=9))
    stated = draw(
        st.lists(
            st.tuples(ends, st.sampled_from(PREDICATES), st.sampled_from(["s1", "s2"])), max_size=14
        )
    )
    edges = {tiny.edge(child, "SUBCLASS_OF", parent) for child, parent in hierarchy}
    edges |= {
        tiny.edge(a, predicate, b, source=f"infores:{source}")
        for (a, b), predicate, source in stated
    }
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=len(NODES), max_size=len(NODES)))
    concepts = [(node, node[2:], kind, "") for node, kind in zip(NODES, kinds, strict=True)]
    return tiny.knowledge(sorted(edges), concepts)


def ancestors(edges: list[Row], concept: str) -> dict[str, int]:
    """Ancestors with the least number of levels; the concept itself is none."""
    level, layer, found = 0, {concept}, {}
    while layer and level < 6:
        level += 1
        layer = (
            {
                str(e["object"])
                for e in edges
                if e["predicate"] == "SUBCLASS_OF" and e["subject"] in layer
            }
            - set(found)
            - {concept}
        )
        found |= dict.fromkeys(layer, level)
    return found


def search(
    knowledge: Knowledge, path: MetaPath, head: str, tail: str
) -> set[tuple[tuple[str, ...], tuple[str, ...], int]]:
    """(named nodes, ids of statements, levels) of all paths between two concepts."""
    edges = knowledge.edges.to_pylist()
    kinds = {row["id"]: row["kind"] for row in knowledge.concepts.to_pylist()}
    if head == tail:
        return set()

    def ways(number: int, at: str) -> Iterator[tuple[str, tuple[str, ...], int]]:
        step = path.steps[number]
        if step.hierarchical:
            for other in NODES:
                low, high = (at, other) if step.forward else (other, at)
                level = ancestors(edges, low).get(high, 0)
                if step.least <= level <= step.most:
                    yield other, (), level
            return
        for e in edges:
            if e["predicate"] in step.predicates and e["negated"] == step.negated:
                start, end = ("subject", "object") if step.forward else ("object", "subject")
                if e[start] == at:
                    yield e[end], (e["id"],), 0

    def walk(
        number: int, nodes: tuple[str, ...], ids: tuple[str, ...], levels: int
    ) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], int]]:
        kind = path.nodes[number].kind
        if kind and kinds[nodes[-1]] != kind:
            return
        if number == len(path.steps):
            if nodes[-1] == tail:
                yield nodes, ids, levels
            return
        for other, more, level in ways(number, nodes[-1]):
            yield from walk(number + 1, (*nodes, other), ids + more, levels + level)

    return set(walk(0, (head,), (), 0))


@settings(max_examples=25, deadline=None)
@given(worlds())
def test_the_same_paths_as_a_plain_search(knowledge: Knowledge) -> None:
    arrays = KnowledgeArrays(knowledge)
    pairs = list(itertools.product(NODES, NODES))
    heads, tails = (arrays.index([pair[end] for pair in pairs]) for end in (0, 1))
    for path in shipped_meta_paths():
        if path.predicate not in ("TREATS", "CAUSES", "HAS_PHENOTYPE"):
            continue
        found = find(arrays, path, heads, tails)
        assert not (found.nodes == NONE).any()
        mine: dict[int, set[object]] = {}
        for row, pair in enumerate(found.pair.tolist()):
            statements = tuple(
                arrays.edge_ids[e]
                for e in found.edges[row]
                if e != NONE and arrays.predicate[e] != "SUBCLASS_OF"
            )
            nodes = tuple(arrays.concepts[node] for node in found.nodes[row])
            mine.setdefault(pair, set()).add((nodes, statements, int(found.level[row])))
        for place, (head, tail) in enumerate(pairs):
            assert mine.get(place, set()) == search(knowledge, path, head, tail), (path.name, head)


@settings(max_examples=20, deadline=None)
@given(worlds())
def test_the_edges_of_a_path_join_its_ends(knowledge: Knowledge) -> None:
    """Every witness can be walked: edge by edge, from the head to the tail."""
    claims = [tiny.candidate(a, "TREATS", b) for a, b in itertools.permutations(NODES, 2)]
    found = verify(tiny.candidates(claims), tiny.same(NODES), knowledge, policy=tiny.QUIET)
    edges = {row["id"]: row for row in knowledge.edges.to_pylist()}
    ends = {row["id"]: (row["head"], row["tail"]) for row in found.relations.to_pylist()}
    for row in found.evidence.to_pylist():
        assert (row["concepts"][0], row["concepts"][-1]) == ends[row["relation"]]
        assert len(row["edges"]) == len(row["concepts"]) - 1
        for edge, left, right in zip(
            row["edges"], row["concepts"], row["concepts"][1:], strict=False
        ):
            assert {left, right} == {edges[edge]["subject"], edges[edge]["object"]}


@settings(max_examples=20, deadline=None)
@given(worlds())
def test_support_is_the_noisy_or_of_a_plain_search(knowledge: Knowledge) -> None:
    policy = tiny.QUIET
    claims = [
        tiny.candidate(a, predicate, b)
        for a, b in itertools.permutations(NODES, 2)
        for predicate in ("TREATS", "CAUSES")
    ]
    found = verify(tiny.candidates(claims), tiny.same(NODES), knowledge, policy=policy).relations
    edges = knowledge.edges.to_pylist()
    by_id = {row["id"]: row for row in edges}
    up = {node: ancestors(edges, node) for node in NODES}
    for row in found.to_pylist():
        head, tail = row["head"], row["tail"]
        kin = 0 < up[head].get(tail, 0) <= 3 or 0 < up[tail].get(head, 0) <= 3
        best: dict[tuple[str, str], float] = {}
        stating: set[str] = set()
        yielding: list[tuple[int, str, float]] = []
        weak = 0.0
        for path in policy.meta_paths:
            if path.predicate != row["predicate"] or (kin and path.walks):
                continue
            for _, ids, levels in search(knowledge, path, head, tail):
                weight = path.weight * path.decay ** (levels - path.least_levels)
                weight = round(weight * policy.default_reliability ** len(ids), 4)
                origin = "|".join(sorted({by_id[edge]["origin"] for edge in ids}))
                if path.polarity == "supports" and path.sufficient and not path.walks:
                    stating.add(origin)
                if path.yields_to != "nothing":
                    needed = 1 if path.yields_to == "statement" else policy.overrule_origins
                    yielding.append((needed, origin, weight))
                elif path.polarity == "contradicts" or path.sufficient:
                    key = (path.polarity, origin)
                    best[key] = max(best.get(key, 0.0), weight)
                elif path.polarity == "supports":
                    weak = max(weak, weight)
        for needed, origin, weight in yielding:
            if len(stating) < needed:
                key = ("contradicts", origin)
                best[key] = max(best.get(key, 0.0), weight)
        support, against = (
            1 - np.prod([1 - w for (polarity, _), w in best.items() if polarity == wanted])
            for wanted in ("supports", "contradicts")
        )
        assert abs(row["score_path"] - (1 - (1 - support) * (1 - weak))) < 2e-4
        assert abs(row["score_contradiction"] - against) < 2e-4
        strong, denied = support >= policy.support_at, against >= policy.contradict_at
        assert (
            row["verdict"]
            == {
                (True, True): "ambiguous",
                (False, True): "contradicted",
                (False, False): "unsupported",
                (True, False): "supported",
            }[strong, denied]
        )


def shuffled(table: pa.Table, seed: int) -> pa.Table:
    """The rows in another order."""
    order = np.random.default_rng(seed).permutation(len(table))
    return table.take(pa.array(order))


@settings(max_examples=10, deadline=None)
@given(worlds(), st.integers(0, 1000))
def test_the_order_of_rows_decides_nothing(knowledge: Knowledge, seed: int) -> None:
    claims = tiny.candidates(
        tiny.candidate(a, predicate, b, within=2)
        for a, b in itertools.permutations(NODES, 2)
        for predicate in ("TREATS", "HAS_PHENOTYPE")
    )
    links = tiny.links(
        [tiny.link(node, node) for node in NODES] + [tiny.link("C:a", "C:b", 1, 0.9)]
    )
    mixed = Knowledge(
        *(
            shuffled(getattr(knowledge, name), seed + place)
            for place, name in enumerate(
                ("concepts", "synonyms", "edges", "mappings", "attributes")
            )
        )
    )
    policy = tiny.QUIET
    first = verify(claims, links, knowledge, policy=policy)
    second = verify(shuffled(claims, seed), shuffled(links, seed), mixed, policy=policy)
    assert first.relations.equals(second.relations)
    assert first.evidence.equals(second.evidence)
