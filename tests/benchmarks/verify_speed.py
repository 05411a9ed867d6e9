"""How fast many pairs are verified, and many claims retrieved for; peers side by side.

    python tests/benchmarks/verify_speed.py ../shared/data [pairs] [peers] [retrieval] [--mixed]

Knowledge is what ships and every open table of ``../shared/data`` that states something.

* pairs: 1,000,000 pairs (all statements of the knowledge that a drug treats something, others drawn
  by hash from the same drugs and diseases; one in ten by names) in a TSV file, read, resolved,
  verified by paths and written as verdicts. Target: under 60 s after the knowledge is loaded.
* peers: a sample of the same pairs, one Cypher query a pair on the embedded graph, and the shortest
  paths of each pair in NetworkX: all of them, as witnesses are looked for, and any one of them,
  which is searched from both ends. The same edges, in the same run; target: 50 times their
  throughput. NetworkX's run over any edges in any direction; ours are typed, weighed, written down.
* retrieval: 100,000 real sentences (definitions, MedQuAD's passages) embedded once by MiniLM and
  reused from --cache; the ten nearest for 100,000 claims made of the knowledge's own statements.
  Targets: under 60 s once embedded, recall@10 of 0.95 or more against an exact search.
  With --mixed only 3,000 sentences and 1,500 claims are embedded, and each text gets the mean of
  two of these vectors, weighted 2 to 1 and drawn by hash: to time the retrieval without the
  half-hour that embedding 200,000 texts takes.

CPU seconds stand beside the clock's, since other work on the machine slows the clock only.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow.compute as pc

from ehrkg import ontology
from ehrkg.foundation.embedding import Embedder, SentenceTransformerEmbedder, Vectors, embed
from ehrkg.foundation.hashing import hash64, mix, order_by_hash
from ehrkg.foundation.storage import write_atomically
from ehrkg.graph import open_store
from ehrkg.graph.writers import write_knowledge
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.session.pair_files import read_pairs
from ehrkg.session.pairs import beside_rows
from ehrkg.session.tsv import write_tsv
from ehrkg.verify import Policy, resolve_pairs, verify
from ehrkg.verify.index import PROBES, SentenceIndex, recall_of
from ehrkg.verify.sentences import split_sentences

PAIRS, SENTENCES, CLAIMS = 1_000_000, 100_000, 100_000
CYPHER_SAMPLE, NETWORKX_ALL_SAMPLE, NETWORKX_SAMPLE, EXACT_SAMPLE = 200, 200, 2_000, 2_000
SECONDS, TIMES, RECALL = 60, 50, 0.95
TABLES = (
    "drugbank-vocabulary/*.csv",
    "drugcentral/drugcentral.obo",
    "drugcentral/indications*.tsv",
    "everycure/*.tsv",
    "everycure/*.csv.gz",
    "hdo/*.tsv",
    "hdo/*.obo",
    "hetionet/*nodes.tsv",
    "maxo/*.tsv",
    "medquad/*.tar.gz",
    "mondo/*.tsv",
    "openfda-ndc/*.csv",
    "pharmgkb/*.tsv",
)
ENDS = ("subject", "object")
Made = TypeVar("Made")
Pair = tuple[str, str]


class Clock:
    """Prints what took how long, by the clock and by the processor."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def __call__(self, what: str, work: Callable[[], Made]) -> Made:
        wall, cpu = time.perf_counter(), time.process_time()
        made = work()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        self.wall, self.cpu = self.wall + wall, self.cpu + cpu
        print(f"  {what:<46} {wall:8.1f} s {cpu:8.1f} s CPU", flush=True)
        return made

    @property
    def took(self) -> tuple[float, float]:
        """Seconds by the clock and by the processor."""
        return self.wall, self.cpu

    def against(self, seconds: float) -> None:
        word = "yes" if self.wall < seconds else "NO"
        print(f"  in all {self.wall:.1f} s ({self.cpu:.1f} s CPU); under {seconds} s: {word}\n")


def all_knowledge(data: Path) -> ontology.Knowledge:
    files = sorted(file for pattern in TABLES for file in data.glob(pattern))
    return ontology.merge(ontology.shipped(), *(ontology.load(file) for file in files))


def drawn_pairs(knowledge: ontology.Knowledge, number: int) -> list[Pair]:
    """All (drug, disease) that are stated, then as many drawn ones as are wanted."""
    edges = knowledge.edges.filter(pc.equal(knowledge.edges["predicate"], "TREATS"))
    stated = list(dict.fromkeys(zip(*(edges[end].to_pylist() for end in ENDS), strict=True)))
    heads, tails = (sorted({pair[end] for pair in stated}) for end in (0, 1))
    lots = np.arange(2 * number)
    first = (mix(1, lots) % np.uint64(len(heads))).astype(np.int64).tolist()
    second = (mix(2, lots) % np.uint64(len(tails))).astype(np.int64).tolist()
    drawn = ((heads[a], tails[b]) for a, b in zip(first, second, strict=True))
    return list(dict.fromkeys([*stated[: number // 10], *drawn]))[:number]


def write_pairs(pairs: list[Pair], knowledge: ontology.Knowledge, path: Path) -> None:
    concepts = knowledge.concepts
    names = dict(zip(concepts["id"].to_pylist(), concepts["name"].to_pylist(), strict=True))
    lines = ["head\tpredicate\ttail"]
    for place, (head, tail) in enumerate(pairs):
        if place % 10 == 0:
            head, tail = (names.get(end) or end for end in (head, tail))
        lines.append(f"{head}\tTREATS\t{tail}")
    text = "\n".join(lines) + "\n"
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def verify_many(knowledge: ontology.Knowledge, number: int) -> tuple[float, float]:
    """Pairs a second, of the clock and of the processor, the whole way from file to file."""
    print(f"{number:,} pairs, {len(knowledge.concepts):,} concepts, {len(knowledge.edges):,} edges")
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder) / "pairs.tsv", Path(folder) / "verdicts.tsv"
        write_pairs(drawn_pairs(knowledge, number), knowledge, given)
        table = clock("reading the file", lambda: read_pairs(given).table)
        candidates, links = clock("resolving ends", lambda: resolve_pairs(table, knowledge))
        found = clock(
            "verdicts, scores, evidence",
            lambda: verify(candidates, links, knowledge, policy=Policy(definition_bonus=0.0)),
        )
        clock(
            "writing verdicts",
            lambda: write_tsv(beside_rows(table, found), out),
        )
    verdicts = Counter(found.relations["verdict"].to_pylist())
    print("  " + ", ".join(f"{many:,} {word}" for word, many in sorted(verdicts.items())))
    rate = number / clock.wall
    print(f"  {len(found.evidence):,} pieces of evidence; {rate:,.0f} pairs a second")
    clock.against(SECONDS)
    return rate, number / clock.cpu


def compare(knowledge: ontology.Knowledge, ours: tuple[float, float]) -> None:
    """The same pairs by a Cypher query each, and by NetworkX."""
    pairs = drawn_pairs(knowledge, PAIRS)
    for name, sample, joins in (
        ("Cypher, one query a pair", CYPHER_SAMPLE, cypher_joins(knowledge)),
        ("NetworkX, all shortest paths a pair", NETWORKX_ALL_SAMPLE, networkx_all(knowledge)),
        ("NetworkX, any one of them", NETWORKX_SAMPLE, networkx_any(knowledge)),
    ):
        join = next(joins)
        chosen = [pairs[place * (len(pairs) // sample)] for place in range(sample)]
        clock = Clock()
        joined = clock(f"{name}, {sample:,} pairs", lambda: sum(join(*one) for one in chosen))  # noqa: B023
        joins.close()
        wall, cpu = (
            mine / (sample / theirs) for mine, theirs in zip(ours, clock.took, strict=True)
        )
        word = "yes" if wall >= TIMES else "NO"
        print(f"    {joined:,} joined; {sample / clock.wall:,.1f} pairs a second")
        print(
            f"    ours {wall:,.0f} times as many ({cpu:,.0f} by CPU); {TIMES} times: {word}",
            flush=True,
        )
    print()


def cypher_joins(knowledge: ontology.Knowledge) -> Iterator[Callable[[str, str], bool]]:
    """As one would write it: stated, or stated of a genus of the disease up to two levels up."""
    query = (
        "MATCH (h:Concept {id: $head})-[e:TREATS]->(g:Concept)<-[:SUBCLASS_OF*0..2]-"
        "(t:Concept {id: $tail}) WHERE e.negated = false RETURN count(*) AS ways"
    )
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "g.lbug") as store:
        bare = {name: getattr(knowledge, name)[:0] for name in ("synonyms", "mappings", "passages")}
        write_knowledge(store, replace(knowledge, **bare))  # what no path runs over stays out
        yield lambda head, tail: store.query(query, head=head, tail=tail)["ways"].to_pylist() != [0]


def networkx_all(knowledge: ontology.Knowledge) -> Iterator[Callable[[str, str], bool]]:
    import networkx

    graph = networkx_graph(knowledge)

    def join(head: str, tail: str) -> bool:
        try:
            return bool(list(networkx.all_shortest_paths(graph, head, tail)))
        except (networkx.NetworkXNoPath, networkx.NodeNotFound):
            return False

    yield join


def networkx_any(knowledge: ontology.Knowledge) -> Iterator[Callable[[str, str], bool]]:
    import networkx

    graph = networkx_graph(knowledge)

    def join(head: str, tail: str) -> bool:
        try:
            return bool(networkx.shortest_path(graph, head, tail))
        except (networkx.NetworkXNoPath, networkx.NodeNotFound):
            return False

    yield join


def networkx_graph(knowledge: ontology.Knowledge) -> Any:
    import networkx

    graph = networkx.Graph()
    ends = (knowledge.edges[end].to_pylist() for end in ENDS)
    graph.add_edges_from(zip(*ends, strict=True))
    return graph


def real_sentences(knowledge: ontology.Knowledge, number: int) -> list[str]:
    """Definitions' sentences first, then passages', as many as wanted, chosen by hash."""
    texts = (knowledge.concepts["definition"], knowledge.passages["text"])
    defined, said = (
        {part[:300] for text in pc.unique(column).to_pylist() for part in split_sentences(text)}
        for column in texts
    )
    said -= defined
    chosen = [*order_by_hash(defined, "speed"), *order_by_hash(said, "speed")][:number]
    return sorted(chosen)


def real_claims(knowledge: ontology.Knowledge, number: int) -> list[str]:
    """Statements of the knowledge in words; by drawn pairs where there are too few."""
    concepts, edges = knowledge.concepts, knowledge.edges
    names = dict(zip(concepts["id"].to_pylist(), concepts["name"].to_pylist(), strict=True))
    rows = zip(
        *(edges[name].to_pylist() for name in ("subject", "predicate", "object")), strict=True
    )
    claims = {
        f"{names[head]} {PREDICATES[predicate].words} {names[tail]}"
        for head, predicate, tail in rows
        if names.get(head) and names.get(tail) and predicate != "SUBCLASS_OF"
    }
    more = (
        f"{names[head]} treats {names[tail]}"
        for head, tail in drawn_pairs(knowledge, 2 * number)
        if names.get(head) and names.get(tail)
    )
    return [*sorted(claims), *(one for one in more if one not in claims)][:number]


class Mixed:
    """Vectors mixed of real ones: of two texts drawn by hash, weighted 2 to 1."""

    def __init__(self, texts: list[str], model: SentenceTransformerEmbedder, cache: Path) -> None:
        self._real = embed(order_by_hash(texts, "mixed"), model, cache)
        self.name, self.dimension = f"mixed-{len(texts)}-{model.name}", model.dimension

    def encode(self, texts: list[str]) -> Vectors:
        one, other = (
            self._real[[hash64(key, text) % len(self._real) for text in texts]]
            for key in ("one", "other")
        )
        return 2 * one + other


def retrieve(knowledge: ontology.Knowledge, cache: Path, mixed: bool) -> None:
    """The ten nearest sentences for each of many claims."""
    sentences, claims = real_sentences(knowledge, SENTENCES), real_claims(knowledge, CLAIMS)
    print(f"{len(claims):,} claims among {len(sentences):,} sentences")
    embedder: Embedder = SentenceTransformerEmbedder()
    asking, setup = embedder, Clock()
    if mixed:
        some = order_by_hash(sentences, "real")[:3000], order_by_hash(claims, "real")[:1500]
        embedder, asking = (Mixed(texts, SentenceTransformerEmbedder(), cache) for texts in some)
        print("  vectors are MIXED of 3,000 real sentences' and 1,500 real claims'")
    setup("embedding sentences, or reading them", lambda: embed(sentences, embedder, cache))
    asked = setup("embedding claims, or reading them", lambda: embed(claims, asking, cache))
    again = Clock()
    again("sentences' vectors again, from disk", lambda: embed(sentences, embedder, cache))
    probes = asked[:: len(asked) // PROBES]

    def made() -> SentenceIndex:
        return SentenceIndex(sentences, embedder, cache, probes=probes)

    setup("building the index, or reading it", made)
    clock = Clock()
    index = clock("the index, from disk", made)
    found = clock("ten nearest for every claim", lambda: index.search(asked, 10))
    clock.against(SECONDS)
    sample = np.arange(7, len(claims), len(claims) // EXACT_SAMPLE)  # not the probes
    exact = asked[sample] @ embed(sentences, embedder, cache).T
    truth = -np.partition(-exact, 9, axis=1)[:, :10]
    near = np.take_along_axis(exact, np.maximum(found[sample], 0), axis=1)
    recall = recall_of(near, truth)
    word = "yes" if recall >= RECALL else "NO"
    print(
        f"  {index.kind}: recall@10 {recall:.3f} on {len(sample):,} claims against exact "
        f"(on its own probes {index.recall:.3f}); {RECALL} or more: {word}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "ehrkg-speed")
    parser.add_argument("--number", type=int, default=PAIRS)
    parser.add_argument("--mixed", action="store_true")
    given = parser.parse_args()
    parts = set(given.parts) or {"pairs", "peers", "retrieval"}
    if not parts <= {"pairs", "peers", "retrieval"}:
        sys.exit("parts: pairs, peers, retrieval")
    loading = Clock()
    knowledge = loading("loading the knowledge", lambda: all_knowledge(given.data))
    if parts & {"pairs", "peers"}:
        ours = verify_many(knowledge, given.number)
        if "peers" in parts:
            compare(knowledge, ours)
    if "retrieval" in parts:
        retrieve(knowledge, given.cache, given.mixed)


if __name__ == "__main__":
    main()
