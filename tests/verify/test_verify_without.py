"""Verdicts without a source: the same as those of a graph that never held it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import tiny

import ehrkg
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import hash64
from ehrkg.graph import open_store
from ehrkg.graph.writers import write_knowledge
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify import verify
from ehrkg.verify.without import what_if, without_source

SOURCES = ("infores:a", "infores:b", "infores:c")
DRUGS = [f"D:{i}" for i in range(4)]
DISEASES = [f"M:{i}" for i in range(8)]


def drawn(seed: int, left_out: str = "") -> Knowledge:
    """Statements and a hierarchy of three sources that agree in part, drawn by hashes."""

    def some(share: float, *key: object) -> bool:
        return hash64(seed, *key) % 1000 < share * 1000

    edges = []
    for source in SOURCES:
        for i in range(1, 8):
            # ways of one and of two levels to the same genus, by different sources
            edges += [
                tiny.edge(f"M:{i}", "SUBCLASS_OF", f"M:{up}", source=source)
                for up in {i // 2, i // 4, max(i // 2 - 1, 0)} - {i}
                if some(0.35, "up", i, up, source)
            ]
        edges += [
            tiny.edge(drug, "SUBCLASS_OF", f"A:{i % 2}", source=source)
            for i, drug in enumerate(DRUGS)
            if some(0.5, "class", i, source)
        ]
        edges += [
            tiny.edge(head, name, tail, source=source)
            for head in (*DRUGS, "A:0", "A:1")
            for tail in DISEASES
            for name, share in (("TREATS", 0.12), ("CONTRAINDICATED_IN", 0.06), ("!TREATS", 0.06))
            if some(share, head, tail, source, name)
        ]
    kinds = {"D": "drug", "A": "drug_class"}
    ids = [*DRUGS, *DISEASES, "A:0", "A:1"]
    concepts = [(one, one, kinds.get(one[0], "disease"), "") for one in ids]
    return tiny.knowledge([edge for edge in edges if edge[6] != left_out], concepts)


CLAIMS = tiny.candidates(
    [tiny.candidate(drug, "TREATS", disease) for drug in DRUGS for disease in DISEASES]
)
LINKS = tiny.same([*DRUGS, *DISEASES])


def scores(relations: pa.Table) -> dict[str, tuple[str, float]]:
    return {row["id"]: (row["verdict"], row["score"]) for row in relations.to_pylist()}


def test_what_if_is_what_a_graph_without_the_source_gives_and_dependence_says_the_same() -> None:
    fell = 0
    for seed in range(3):
        whole = drawn(seed)
        before = verify(CLAIMS, LINKS, whole, policy=tiny.QUIET)
        for source in SOURCES:
            found = what_if(CLAIMS, LINKS, whole, before, source=source, policy=tiny.QUIET)
            never = verify(CLAIMS, LINKS, drawn(seed, source), policy=tiny.QUIET)
            assert scores(found.verified.relations) == scores(never.relations)
            after = scores(never.relations)
            for row in before.relations.to_pylist():
                if row["verdict"] == "supported":
                    falls = after[row["id"]][0] != "supported"
                    assert falls == (source in row["depends_on"]), (seed, source, row)
                    fell += falls
    assert fell > 10


@pytest.mark.parametrize("ways", [("M:1",), ("M:2", "M:3")])
def test_another_way_through_the_hierarchy_holds_a_verdict_up(ways: tuple[str, ...]) -> None:
    """Of ways to one genus one is kept as the path; without it the other one is found."""
    edges = [tiny.edge("D:0", "TREATS", "M:1", source=f"infores:{i}") for i in range(3)]
    for way, source in zip((*ways, "M:4")[:2], ("infores:x", "infores:y"), strict=True):
        for child, parent in (("M:9", way), (way, "M:1")):
            if child != parent:
                edges.append(tiny.edge(child, "SUBCLASS_OF", parent, source=source))
    claims, links = (
        tiny.candidates([tiny.candidate("D:0", "TREATS", "M:9")]),
        tiny.same(["D:0", "M:9"]),
    )
    knowledge = tiny.knowledge(edges, [("D:0", "drug", "drug", "")])
    before = verify(claims, links, knowledge, policy=tiny.QUIET)
    (row,) = before.relations.to_pylist()
    assert (row["verdict"], row["depends_on"]) == ("supported", [])
    for source in ("infores:x", "infores:y"):
        found = what_if(claims, links, knowledge, before, source=source, policy=tiny.QUIET)
        assert found.verified.relations["verdict"].to_pylist() == ["supported"]


def test_a_source_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(UsageError, match="infores:typo") as caught:
        without_source(drawn(1), "infores:typo")
    assert "infores:a, infores:b" in caught.value.todo


def test_definitions_and_passages_of_the_source_are_silent_too() -> None:
    knowledge = tiny.knowledge(
        [tiny.edge("D:0", "TREATS", "M:1", source="infores:two")],
        [("D:0", "drug", "drug", "It is used.")],
        passages=[("M:1", "", "A text.")],
    )
    left = without_source(knowledge, "infores:one")
    assert set(left.concepts["definition"].to_pylist()) == {""}
    assert left.concepts["name"].to_pylist() == knowledge.concepts["name"].to_pylist()
    assert len(left.edges) == len(left.passages) == 1
    assert len(without_source(knowledge, "infores:texts").passages) == 0


def test_a_graph_is_asked_without_being_changed(tmp_path: Path) -> None:
    pairs = pa.table({"head": DRUGS, "predicate": ["TREATS"] * 4, "tail": DISEASES[:4]})
    for name, left_out in (("whole", ""), ("less", "infores:a")):
        with open_store(tmp_path / f"{name}.lbug") as store:
            write_knowledge(store, drawn(3, left_out))
    with ehrkg.open(tmp_path / "less.lbug") as less:
        never = less.verify(pairs, policy=tiny.QUIET)
    with ehrkg.open(tmp_path / "whole.lbug") as whole:
        content = whole.store.content_hash()
        found = whole.what_if(pairs, without_source="infores:a", policy=tiny.QUIET)
        assert whole.store.content_hash() == content
    assert scores(found.verified.relations) == scores(never.relations)
    changed = found.changed.to_pylist()
    assert {row["id"] for row in changed} == {
        key
        for key, value in scores(found.before.relations).items()
        if scores(never.relations)[key] != value
    }
