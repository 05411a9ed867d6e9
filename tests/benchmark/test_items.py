"""A question is a function of its template, its settings, the seed and the build's pool."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.benchmark import ITEMS, POOL, make_questions, make_templates, write_questions
from ehrkg.benchmark.distractors.accepted import Accepted
from ehrkg.benchmark.distractors.draws import Group, group_rows, pieces
from ehrkg.benchmark.distractors.draws import World as InWorld
from ehrkg.benchmark.distractors.pools import price_column
from ehrkg.benchmark.distractors.shortlists import draw, members_at
from ehrkg.benchmark.facts.support import Support
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import content_hash, write_parquet
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


def test_a_frozen_pool_gives_each_question_again_from_its_template_alone() -> None:
    support = Support(WORLD.cohort, WORLD.knowledge, WORLD.verified)
    world = InWorld(WORLD.cohort, support, WORLD.verified, 7)
    wanted = {row["item_id"]: row for row in MADE.items.to_pylist() if row["format"] == "mcq"}
    for at in range(12):
        alone = TEMPLATES.slice(at, 1)
        [(task, era)] = group_rows(alone, WORLD.cohort)
        group = Group(task, era, MADE.pool, world)
        lists = group.shortlists(pieces(alone, np.array([0])), ["frequency"])["frequency"]
        for k in (4, 5, 6):
            prices = np.array([row[price_column("frequency", k)] for row in group.pool.rows])
            [members] = members_at(lists, draw(lists, prices, k - 1))
            for item in wanted.values():
                if item["template_id"] == alone["id"][0].as_py() and item["n_options"] == k:
                    codes = {group.pool.rows[member]["code"] for member in members}
                    assert codes == set(item["option_codes"]) - set(alone["answer"][0].as_py())


def test_one_process_or_two_write_the_same_questions_as_they_come(tmp_path: Path) -> None:
    for piece in (3, 8192):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ehrkg.benchmark.questions.writing.PIECE", piece)
            patch.setattr("ehrkg.benchmark.distractors.draws.PIECE", piece)
            # Three at a time, two processes share them; the one piece is its caller's.
            pool = write_questions(tmp_path / f"{piece}.parquet", TEMPLATES, *PARTS, workers=2)
        assert pool.equals(MADE.pool)
    write_parquet(MADE.items, tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    assert (tmp_path / "3.parquet").read_bytes() == whole
    assert (tmp_path / "8192.parquet").read_bytes() == whole


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


def test_yes_no_asks_for_each_thing_about_as_often_with_either_answer() -> None:
    world = many_pairs(12, 200)
    for at in range(12):  # the later, the better known
        for other in range(at + 1):
            world.edge(f"MONDO:other{other}", "CAUSES", f"MONDO:e{at}")
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    made = make_questions(make_templates(*parts), *parts, formats=["yesno"])
    rows = made.items.to_pylist()
    assert {row["format"] for row in rows} == {"yesno"}
    said = [row["answer"][0] for row in rows]
    assert 0.3 < said.count("no") / len(said) < 0.7
    for row in rows:
        assert row["options"] == ["yes", "no"]
        assert row["options"][row["answer_index"]] == row["answer"][0]
        founded = row["distractor_reasons"][0].startswith("contradicted")
        assert ("presumed" in row["flags"]) is (row["answer"] == ["no"] and not founded)
        assert row["stem"].endswith("?")


def test_several_answers_are_those_of_other_templates_at_the_same_place() -> None:
    world = many_pairs(12, 60)
    for at in range(12):  # every patient of a pair has a second effect of the same cause
        code = world.diagnosis(f"ICD10CM:D{at:02d}.1", f"Second {at}", concept=f"MONDO:s{at}")
        world.edge(f"MONDO:c{at}", "CAUSES", f"MONDO:s{at}")
        world.relation(f"ICD10CM:A{at:02d}.1", "CAUSES", code)
    for row in list(world.events):
        if row["code"].startswith("ICD10CM:A"):
            world.events.append({**row, "code": row["code"].replace(":A", ":D"), "row": 5000})
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    ledger = Ledger()
    made = make_questions(make_templates(*parts), *parts, formats=["multi"], ledger=ledger)
    rows = made.items.to_pylist()
    assert rows, list(ledger)
    for row in rows:
        assert row["format"] == "multi"
        assert len(row["options"]) == len(set(row["options"])) == 6
        assert 2 <= len(row["answer"]) < 6
        assert set(row["answer"]) < set(row["options"])
        assert row["distractor_reasons"].count("answer") == len(row["answer"])


def test_history_is_told_in_the_stem_and_stands_in_the_row() -> None:
    items = make_questions(TEMPLATES, *PARTS, formats=["oeq"], history=3).items
    assert set(items["history"].to_pylist()) == {3}
    assert all(".h3." in name for name in items["item_id"].to_pylist())
    with pytest.raises(UsageError, match="history=9"):
        make_questions(TEMPLATES, *PARTS, history=9)


def test_a_row_carries_timing_flags_and_how_many_events_are_related() -> None:
    templates = {row["id"]: row for row in TEMPLATES.to_pylist()}
    for row in MADE.items.to_pylist():
        template = templates[row["template_id"]]
        for name in ("timing", "flags", "n_related"):
            assert row[name] == template[name]


def test_a_strategy_without_enough_distractors_says_how_many_are_lost_and_what_helps() -> None:
    ledger = Ledger()
    items = make_questions(
        TEMPLATES, *PARTS, formats=["mcq4"], strategies=["sibling"], ledger=ledger
    ).items
    assert set(items["format"].to_pylist()) == {"oeq"}, "they are asked open-ended instead"
    line = next(entry for entry in ledger if entry.unit == "diagnosis mcq4 sibling")
    assert line.dropped["too_few_distractors"] == TEMPLATES.num_rows
    assert "contradicts" in line.example


@pytest.mark.parametrize("name", ["Alpha <b>disease</b>", "Alpha\ndisease", "Alpha &amp; disease"])
def test_markup_and_line_breaks_in_a_name_reach_no_question(name: str) -> None:
    world = pair_world()
    for code in (ANSWER, "ICD10CM:A00.1"):
        world.codes[code]["name"] = world.attributes[code]["name"] = name + code[-4:]
        world.concepts = {key: row | {"name": ""} for key, row in world.concepts.items()}
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    for row in make_questions(make_templates(*parts), *parts).items.to_pylist():
        for text in (row["stem"], *row["answer"]):
            assert not any(mark in text for mark in ("<", "\n", "&amp;"))


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
    template |= {"context": ["ICD10CM:A00.1", "ICD10CM:H00.1"], "anchor_position": 0}
    found = set(Accepted(world.cohort, world.verified).of(template))
    assert {"DRUGBANK:R", "DRUGBANK:S", "DRUGNAME:secondol", "DRUGNAME:rightol 20 mg"} <= found


def test_an_open_question_about_one_problem_accepts_no_drug_for_another() -> None:
    world = drug_world()
    world.drug("secondol", concept="DRUGBANK:S", atc="ATC:C01AA")
    world.relation("DRUGNAME:secondol", "TREATS", "ICD10CM:H00.1", route="oral")
    world.patient("z").visit(
        ["ICD10CM:A00.1", "ICD10CM:H00.1"], [("rightol", "oral"), ("secondol", "oral")]
    )
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    template = next(row for row in make_templates(*parts).to_pylist() if row["visit"] == "zv1")
    template |= {"context": ["ICD10CM:A00.1", "ICD10CM:H00.1"], "anchor_position": 0}
    accepted = Accepted(world.cohort, world.verified)
    named = accepted.of(template | {"sole_indication": True})
    assert "DRUGNAME:rightol" in named
    assert "DRUGNAME:secondol" not in named
    assert "DRUGNAME:secondol" in accepted.of(template | {"sole_indication": False})
