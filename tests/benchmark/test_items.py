"""A question is a function of its template, its settings, the seed and the build's pool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.benchmark import ITEMS, POOL, make_questions, make_templates
from ehrkg.benchmark.accepted import Accepted
from ehrkg.benchmark.distractors import STRATEGIES, draw, luck
from ehrkg.benchmark.exclusions import Questions, group_templates, questions_of
from ehrkg.benchmark.items import Drawn, Writer, slice_of
from ehrkg.benchmark.support import Support
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import content_hash
from tests.benchmark.builders import World
from tests.benchmark.worlds import ANSWER, drug_world, many_pairs, pair_world

WORLD = many_pairs(10, 40)
PARTS = (WORLD.hospital, WORLD.knowledge, WORLD.mapping, WORLD.verified)
TEMPLATES = make_templates(*PARTS)
LEDGER = Ledger()
MADE = make_questions(TEMPLATES, *PARTS, ledger=LEDGER)


def shuffled(table: pa.Table, seed: int) -> pa.Table:
    return table.take(np.random.default_rng(seed).permutation(table.num_rows))


def test_items_and_pool_have_their_schemas_and_are_sorted() -> None:
    assert MADE.items.schema == ITEMS
    assert MADE.pool.schema == POOL
    ids = MADE.items["item_id"].to_pylist()
    assert ids == sorted(set(ids))


def test_every_template_has_its_open_question_and_up_to_three_of_choice() -> None:
    formats = {(row["format"], row["n_options"]) for row in MADE.items.to_pylist()}
    assert formats == {("mcq", 4), ("mcq", 5), ("mcq", 6), ("oeq", 0)}
    open_ended = MADE.items.filter(pa.compute.equal(MADE.items["format"], "oeq"))
    assert open_ended["template_id"].to_pylist() == TEMPLATES["id"].to_pylist()


def test_the_ledger_tells_of_pairs_ruled_out_and_of_questions_dropped() -> None:
    units = {entry.unit: entry for entry in LEDGER}
    assert units["diagnosis candidate, ICD-10"].dropped["recorded_in_patient"] > 0
    assert units["diagnosis mcq4 frequency"].rows_in == TEMPLATES.num_rows
    made = sum(row["n_options"] == 4 for row in MADE.items.to_pylist())
    assert units["diagnosis mcq4 frequency"].rows_out == made


def test_every_option_has_its_reason() -> None:
    for row in MADE.items.to_pylist():
        reasons = list(row["distractor_reasons"])
        assert len(reasons) == row["n_options"]
        if reasons:
            assert reasons.pop(row["answer_index"]) == "answer"
            assert all(reason.endswith("no knowledge path") for reason in reasons)


def drawn_again(questions: Questions, n_options: int) -> Drawn:
    """Questions out of a frozen pool: its prices and nothing else of the build decide."""
    strategy = STRATEGIES["frequency"]
    prices = [row[f"price_{n_options}"] for row in questions.pool.rows]
    scores = luck(questions, strategy.steps(questions), n_options=n_options, seed=7)
    scores = scores + np.array([-np.inf if price is None else price for price in prices])
    chosen = draw(scores, questions.pool.clash, n_options - 1)
    kept = (chosen >= 0).all(axis=1)
    return Drawn(questions, strategy, n_options, chosen, kept, ~kept)


def test_a_frozen_pool_gives_each_question_again_from_its_template_alone() -> None:
    support = Support(WORLD.cohort, WORLD.knowledge, WORLD.verified)
    writer = Writer(WORLD.cohort, Accepted(WORLD.cohort, WORLD.verified), 7)
    wanted = {row["item_id"]: row for row in MADE.items.to_pylist() if row["format"] == "mcq"}
    for (task, era), rows in group_templates(TEMPLATES, WORLD.cohort).items():
        pool = slice_of(MADE.pool, task, era, WORLD.cohort)
        for row in rows[:12]:
            alone = questions_of(task, [row], pool, WORLD.cohort, support)
            for k in (4, 5, 6):
                for item in writer.mcq(drawn_again(alone, k)):
                    assert item == wanted.pop(item["item_id"], item)
    assert wanted.keys() < {row["item_id"] for row in MADE.items.to_pylist()}


@given(st.integers(0, 1000))
@settings(max_examples=3, deadline=None)
def test_the_order_of_rows_decides_nothing(seed: int) -> None:
    hospital = replace(
        WORLD.hospital,
        events=shuffled(WORLD.hospital.events, seed),
        visit_codes=shuffled(WORLD.hospital.visit_codes, seed),
        codes=shuffled(WORLD.hospital.codes, seed),
    )
    knowledge = replace(WORLD.knowledge, edges=shuffled(WORLD.knowledge.edges, seed))
    again = make_questions(
        shuffled(TEMPLATES, seed), hospital, knowledge, WORLD.mapping, WORLD.verified
    )
    assert again.items.equals(MADE.items)
    assert content_hash(again.pool) == content_hash(MADE.pool)


def test_another_seed_asks_otherwise() -> None:
    other = make_questions(TEMPLATES, *PARTS, formats=["mcq4"], seed=8).items
    mine = {
        row["template_id"]: row["options"]
        for row in MADE.items.to_pylist()
        if row["n_options"] == 4
    }
    assert any(row["options"] != mine.get(row["template_id"]) for row in other.to_pylist())


def test_without_enough_distractors_only_the_open_question_remains() -> None:
    world = pair_world()
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    templates = make_templates(*parts)
    ledger = Ledger()
    items = make_questions(templates, *parts, ledger=ledger).items
    assert set(items["format"].to_pylist()) == {"oeq"}
    dropped = ledger.dropped("items", "diagnosis mcq4 frequency")
    assert dropped == {"too_few_distractors": templates.num_rows}


def test_no_templates_give_no_questions() -> None:
    assert make_questions(TEMPLATES.slice(0, 0), *PARTS).items.num_rows == 0


@pytest.mark.parametrize("wrong", [{"formats": ["mcq9"]}, {"strategies": ["guess"]}])
def test_an_unknown_format_or_strategy_is_refused(wrong: dict[str, list[str]]) -> None:
    with pytest.raises(UsageError, match="no such"):
        make_questions(TEMPLATES, *PARTS, **wrong)  # type: ignore[arg-type]


# What an open answer may name


def accepted_in(world: World, answer: str) -> set[str]:
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    items = make_questions(make_templates(*parts), *parts, formats=["oeq"]).items.to_pylist()
    templates = {row["id"]: row for row in make_templates(*parts).to_pylist()}
    return next(
        set(item["accepted_codes"])
        for item in items
        if templates[item["template_id"]]["answer"] == [answer]
    )


def test_an_open_question_accepts_concept_equivalents_and_descendants() -> None:
    world = pair_world()
    world.attributes[ANSWER]["equivalents"] = ["ICD9CM:002.1"]
    world.concept("MONDO:b1", "Kind of beta")
    world.edge("MONDO:b1", "SUBCLASS_OF", "MONDO:b")
    assert accepted_in(world, ANSWER) == {ANSWER, "MONDO:b", "MONDO:b1", "ICD9CM:002.1"}


def test_an_open_question_accepts_what_else_is_true_of_the_visit() -> None:
    world = drug_world()
    world.drug("rightol 20 mg", concept="DRUGBANK:R")
    world.drug("secondol", concept="DRUGBANK:S", atc="ATC:C01AA")
    world.treats("DRUGBANK:S", "MONDO:a")
    world.relation("DRUGNAME:secondol", "TREATS", "ICD10CM:A00.1", route="oral")
    world.patient("z").visit(
        ["ICD10CM:A00.1", "ICD10CM:H00.1"],
        [("rightol", "oral"), ("secondol", "oral"), ("rightol 20 mg", "oral")],
    )
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    template = next(row for row in make_templates(*parts).to_pylist() if row["visit"] == "zv1")
    template |= {"context": ["ICD10CM:A00.1", "ICD10CM:H00.1"]}
    found = set(Accepted(world.cohort, world.verified).of(template))
    assert {"DRUGBANK:R", "DRUGBANK:S", "DRUGNAME:secondol", "DRUGNAME:rightol 20 mg"} <= found
