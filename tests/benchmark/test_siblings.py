"""Strategy ``sibling``: what it makes where evidence contradicts the answer's kin, and how true."""

from __future__ import annotations

from typing import Any

from ehrkg.benchmark import (
    Benchmark,
    Facts,
    check,
    hidden_edges,
    make_questions,
    make_templates,
)
from ehrkg.benchmark.rules import rule_table
from tests.benchmark.builders import World
from tests.benchmark.worlds import denied_kin


def parts_of(world: World) -> tuple[Any, ...]:
    return world.hospital, world.knowledge, world.mapping, world.verified


def asked(world: World) -> Benchmark:
    """Questions of choice by strategy sibling, and the open ones that stand for the others."""
    templates = make_templates(*parts_of(world))
    made = make_questions(
        templates, *parts_of(world), strategies=["sibling"], formats=["mcq4", "multi"]
    )
    return Benchmark.from_tables(
        templates=templates,
        items=made.items,
        relations=world.verified.relations,
        events=world.hospital.events,
        pool=made.pool,
    )


def test_kin_that_the_knowledge_denies_stands_beside_the_answer_and_no_other_does() -> None:
    world = denied_kin()
    bench = asked(world)
    choices = bench.filter(format="mcq")
    assert len(choices) == 300
    denied = {(row["subject"], row["object"]) for row in world.edges if row["negated"]}
    concepts = {row["code"]: row["concept"] for row in world.links}
    anchors = {
        row["id"]: concepts[row["context"][row["anchor_position"]]]
        for row in bench.templates().to_pylist()
    }
    for row in choices:
        right = row["option_codes"][row["answer_index"]]
        for code in row["option_codes"]:
            assert code == right or (anchors[row["template_id"]], concepts[code]) in denied
            assert code[:9] == right[:9], "an option is of another group"
    report = check(bench, facts=Facts(world.cohort, world.knowledge, world.verified))
    rules = {row.rule: row.status for row in report}
    assert rules["distractor: sibling"] == "ok"
    assert rules["distractor: supported_in_context"] == "ok"


def test_without_evidence_against_kin_every_question_is_open_ended() -> None:
    world = denied_kin(60)
    world.edges = [row for row in world.edges if not row["negated"]]
    forms = set(asked(world).column("format").to_pylist())
    assert forms == {"oeq"}


def test_no_more_kin_is_true_after_all_than_the_bound_allows() -> None:
    world = denied_kin()
    templates = make_templates(*parts_of(world))
    [found] = hidden_edges(templates, *parts_of(world), strategies=["sibling"])
    assert found.distractors > 500
    assert found.high <= rule_table("check")["hidden_edges"]["bounds"]["sibling"]
    report = check(asked(world), true_distractors=[found])
    [row] = [row for row in report if row.rule == "true distractors, sibling"]
    assert row.status == "ok"


def test_kin_that_another_event_of_the_stem_makes_true_is_counted() -> None:
    world = denied_kin(tangled=True)
    templates = make_templates(*parts_of(world))
    found = [
        one.found
        for seed in range(4)
        for one in hidden_edges(templates, *parts_of(world), strategies=["sibling"], seed=seed)
    ]
    assert sum(found) > 0
