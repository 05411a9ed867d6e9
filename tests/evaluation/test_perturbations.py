"""Every perturbation leaves the right answer right and no wrong one true, by the rules of check."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.benchmark import Benchmark, Facts, example, make_questions, make_templates
from ehrkg.benchmark.checking.again import distractors_again, templates_again
from ehrkg.benchmark.checking.rules import RULES
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.evaluation import evaluate
from ehrkg.evaluation.asking.questions import questions_of
from ehrkg.evaluation.baselines import Chance
from ehrkg.evaluation.measures.stability import robustness
from ehrkg.evaluation.perturbations import PERTURBATIONS, Perturbed, names_in, perturb
from ehrkg.evaluation.perturbations.naming import abbreviations, mistyped, shortened, words_of
from ehrkg.evaluation.perturbations.options import OptionOrder
from ehrkg.evaluation.perturbations.questions import PerturbedQuestions, under_perturbations
from ehrkg.evaluation.perturbations.scored import score_perturbed
from ehrkg.evaluation.scoring.scores import run_baselines
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from tests.benchmark.worlds import many_pairs

SAMPLED = 90
"""Questions of the small world that are perturbed: some of every format."""

NOT_HERE = {"distractors_cooccurring"}
"""Perturbations that the small world gives nothing for: there nothing stands with anything."""


@cache
def made() -> tuple[Benchmark, Facts]:
    """A small benchmark of all formats, its patients with an earlier visit, and its facts."""
    world = many_pairs(n_pairs=8, n_patients=70)
    for rows in (world.codes["ICD10CM:H01.1"], world.concepts["MONDO:b1"]):
        rows["name"] = "Atrial fibrillation"
    for at in range(12):
        pair = at % 8
        patient = world.patient(f"q{at:03d}", sex="FM"[at % 2])
        patient.visit([f"ICD10CM:H{at % 8:02d}.1"], age=61)
        beside = [f"ICD10CM:H{(at + step) % 8:02d}.1" for step in (2, 3)]
        patient.visit([f"ICD10CM:A{pair:02d}.1", f"ICD10CM:B{pair:02d}.1", *beside], age=61)
    parts = (world.hospital, world.knowledge, world.mapping, world.verified)
    templates = make_templates(*parts)
    questions = make_questions(
        templates, *parts, formats=("mcq4", "mcq5", "mcq6", "oeq", "yesno", "multi")
    )
    bench = Benchmark.from_tables(
        templates=templates,
        items=questions.items,
        relations=world.verified.relations,
        evidence=world.verified.evidence,
        events=world.hospital.events,
        pool=questions.pool,
    )
    facts = Facts(Cohort(*parts[:3]), world.knowledge, world.verified)
    return bench.sample(SAMPLED, by=["format", "n_options"]), facts


@cache
def under(name: str, seed: int = 7) -> Perturbed:
    bench, facts = made()
    (found,) = perturb(bench, name, seed=seed, facts=facts)
    return found


def right(row: dict) -> tuple:
    """What is true of a question: the codes that are right, and what else is accepted."""
    if row["format"] == "yesno":
        return (row["option_codes"][0], row["options"][row["answer_index"]])
    reasons = zip(row["option_codes"], row["distractor_reasons"], strict=True)
    codes = frozenset(code for code, why in reasons if why == "answer")
    if row["format"] == "mcq":
        assert codes == {row["option_codes"][row["answer_index"]]}
        assert row["answer"] == [row["options"][row["answer_index"]]]
    if row["format"] == "multi":
        told = dict(zip(row["options"], row["option_codes"], strict=True))
        assert {told[text] for text in row["answer"]} == codes
    return (codes, frozenset(row["accepted_codes"]))


def broken_rules(bench: Benchmark, facts: Facts) -> set[tuple[str, str]]:
    """Rule and id of everything that breaks a rule of soundness."""
    items, templates = bench.to_arrow(), bench.templates()
    known = {row["id"]: row for row in templates.to_pylist()}
    rows = [row | {"template": known.get(row["template_id"])} for row in items.to_pylist()]
    found = {(name, one) for name, rule in RULES.items() for one in rule(rows)}
    again = [
        *templates_again(templates, facts),
        *distractors_again(items, templates, bench.beside("pool"), facts),
    ]
    return found | {(name, one) for name, _, _, ids in again for one in ids}


@cache
def broken_before() -> set[tuple[str, str]]:
    return broken_rules(*made())


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_the_right_answer_stays_and_no_rule_is_broken(name):
    bench, facts = made()
    found = under(name)
    before = {row["item_id"]: row for row in bench}
    assert len(found.benchmark) + sum(found.missing.values()) == len(bench)
    assert len(found.benchmark) or name in NOT_HERE
    for row in found.benchmark:
        original = before[row["item_id"]]
        assert row != original
        assert right(row) == right(original)
        for column in ("template_id", "relation_id", "cluster", "task", "format", "split"):
            assert row[column] == original[column]
    assert broken_rules(found.benchmark, facts) <= broken_before()


@pytest.mark.parametrize("name", PERTURBATIONS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_right_answer_stays_whatever_the_seed(name, seed):
    bench, facts = made()
    part = bench.sample(30, by="format", seed=seed)
    (found,) = perturb(part, name, seed=seed, facts=facts)
    before = {row["item_id"]: row for row in part}
    assert all(right(row) == right(before[row["item_id"]]) for row in found.benchmark)
    if len(found.benchmark):
        assert broken_rules(found.benchmark, facts) <= broken_before()


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_a_perturbation_is_the_same_for_the_same_seed_and_says_what_it_does(name):
    bench, facts = made()
    (again,) = perturb(bench, name, facts=facts)
    assert again.benchmark.fingerprint == under(name).benchmark.fingerprint
    assert again.missing == under(name).missing
    one = PERTURBATIONS[name]()
    assert one.name == name
    assert one.says.endswith(".")
    assert one.holds.endswith(".")


def test_each_changes_what_its_name_says():
    bench, _ = made()
    before = {row["item_id"]: row for row in bench}

    def pairs(name):
        return [(row, before[row["item_id"]]) for row in under(name).benchmark]

    for row, original in pairs("option_order"):
        assert sorted(row["options"]) == sorted(original["options"])
        assert row["answer_index"] < 0 or row["answer_index"] != original["answer_index"]
    assert {len(row["options"]) for row, _ in pairs("fewer_options")} == {4}
    for row, original in pairs("more_options"):
        assert len(row["options"]) == 6
        assert set(original["option_codes"]) < set(row["option_codes"])
    for row, original in pairs("distractors_random"):
        assert len(row["options"]) == len(original["options"])
        assert row["strategy"] == "random"
    for name, more in (("fewer_events", -1), ("irrelevant_events", 1)):
        kept = {
            row["id"]: row["n_context"] for row in under(name).benchmark.templates().to_pylist()
        }
        for template in bench.templates().to_pylist():
            if template["id"] in kept:
                change = kept[template["id"]] - template["n_context"]
                assert change == more or (more == 1 and change == 2)
    assert all("Earlier admissions" in row["stem"] for row, _ in pairs("history_length"))
    assert any("ICD-10-CM A0" in row["stem"] for row, _ in pairs("codes_shown"))
    assert all("AF" in row["stem"] for row, _ in pairs("abbreviations"))
    for row, original in pairs("typos"):
        assert sorted(row["stem"]) == sorted(original["stem"])


def test_what_has_no_perturbed_question_is_counted_by_reason():
    assert set(under("option_order").missing) == {"no_options"}
    assert set(under("history_length").missing) == {"stem_unchanged"}
    assert "most_already" in under("more_options").missing
    bench, facts = made()
    rewritten = bench.to_arrow()
    place = rewritten.schema.get_field_index("stem")
    words = pa.array(["Somebody's own words."] * rewritten.num_rows)
    theirs = Benchmark.from_tables(
        templates=bench.templates(), items=rewritten.set_column(place, "stem", words)
    )
    (found,) = perturb(theirs, "phrasing", facts=facts)
    assert found.missing == {"stem_not_restated": len(bench)}
    (found,) = perturb(theirs, "distractors_random", facts=facts)
    assert set(found.missing) == {"no_pool", "not_multiple_choice"}


def test_the_ledger_balances_what_could_not_be_put_otherwise():
    bench, facts = made()
    ledger = Ledger()
    found = perturb(bench, ["typos", "more_options"], facts=facts, ledger=ledger)
    assert [(entry.unit, entry.rows_in) for entry in ledger] == [
        ("typos", len(bench)),
        ("more_options", len(bench)),
    ]
    for entry, one in zip(ledger, found, strict=True):
        assert entry.rows_out == len(one.benchmark)
        assert {reason: n for reason, n in entry.dropped.items() if n} == one.missing


def test_an_unknown_perturbation_and_a_missing_graph_are_named():
    with pytest.raises(UsageError, match="no such perturbation: louder"):
        names_in(["louder"])
    bench, _ = made()
    with pytest.raises(UsageError, match="was made from is not here"):
        perturb(bench, "phrasing")


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(0, 5), st.text("ab", max_size=3))
def test_the_answer_always_moves_with_its_option(seed, n, place, item):
    codes = [f"c{at}" for at in range(n)]
    at = place % n
    row = {
        "item_id": item,
        "format": "mcq",
        "n_options": n,
        "options": [code.upper() for code in codes],
        "option_codes": codes,
        "distractor_reasons": ["answer" if one == at else "" for one in range(n)],
        "answer": [codes[at].upper()],
        "answer_index": at,
    }
    turned = OptionOrder()._turned(row, seed)
    assert sorted(turned["option_codes"]) == codes
    assert turned["option_codes"][turned["answer_index"]] == codes[at]
    assert turned["answer_index"] != at


NAMES = st.lists(
    st.sampled_from(
        ["hydroxyzine", "hydralazine", "acute renal failure", "angina", "anigna", "gout", "anemia"]
    ),
    min_size=1,
    unique=True,
)


@settings(max_examples=40)
@given(NAMES, st.integers(0, 2**32))
def test_a_typo_makes_no_other_name_and_none_that_another_is_near(names, seed):
    words = words_of(frozenset(names))
    for name in names:
        slipped = mistyped(name, words, seed)
        assert sorted(slipped) == sorted(name)
        if slipped != name:
            fresh = set(slipped.split()) - set(name.split())
            assert len(fresh) == 1
            assert fresh.isdisjoint(words)
    assert mistyped("angina", frozenset({"angina", "anigna"}), seed) != "anigna"


@given(st.sampled_from(sorted(abbreviations())), st.sampled_from(["{}", "Chronic {}", "{}, left"]))
def test_an_abbreviation_stands_for_whole_words_only(words, frame):
    assert shortened(frame.format(words)) != frame.format(words)
    assert shortened(frame.format(f"x{words}y")) == frame.format(f"x{words}y")


def test_names_that_would_be_shortened_alike_stay():
    from types import SimpleNamespace

    from ehrkg.evaluation.perturbations.naming import Abbreviated

    world = many_pairs(n_pairs=2, n_patients=2)
    world.diagnosis("ICD10CM:N17.9", "Acute kidney failure")
    world.diagnosis("ICD10CM:N17.8", "Acute kidney injury")
    world.diagnosis("ICD10CM:I50.9", "Heart failure")
    world.patient("n").visit(["ICD10CM:N17.9", "ICD10CM:N17.8", "ICD10CM:I50.9"])
    cohort = Cohort(world.hospital, world.knowledge, world.mapping)
    short = Abbreviated()
    short._prepare(SimpleNamespace(cohort=cohort))
    facts = cohort.codes["ICD10CM:I50.9"]
    assert short._said("heart failure", facts) == "HF"
    assert short._said("acute kidney failure", facts) == "acute kidney failure"
    assert short._said("acute kidney injury", facts) == "acute kidney injury"


def test_baselines_answer_perturbed_questions_and_chance_does_not_mind():
    bench, facts = made()
    some = ["option_order", "typos", "more_options"]
    plain = run_baselines(bench.to_arrow(), [Chance(), First("first option")], {})
    scores = pa.concat_tables(
        [plain, score_perturbed(bench, [Chance(), First("first option")], {}, some, facts=facts)]
    )
    found = {
        (row["model"], row["perturbation"]): row
        for row in robustness(scores).to_pylist()
        if row["format"] == "mcq"
    }
    assert {name for _, name in found} == set(some)
    assert found["chance", "option_order"]["change"] == 0
    assert found["chance", "more_options"]["change"] < 0
    assert found["first option", "typos"]["consistency"] == 1
    assert found["first option", "option_order"]["consistency"] < 1


class First(Chance):
    """Takes the first option, whatever it says."""

    def utilities(self, questions):
        return [np.eye(len(question.options))[0] for question in questions]


def test_settings_under_perturbations_stand_beside_their_originals():
    bench, _ = made()
    settings = under_perturbations(["few_shot5", "plain"], ["option_order", "fewer_options"])
    assert [one.name for one in settings[:3]] == [
        "few_shot5",
        "perturbed:option_order+few_shot5",
        "perturbed:fewer_options+few_shot5",
    ]
    asked = PerturbedQuestions(bench, settings)
    plain = questions_of(bench.to_arrow())
    assert asked.of(settings[0], plain) == plain
    turned = asked.of(settings[1], plain)
    assert len(turned) == len(plain) - asked.missing("option_order")["no_options"]
    assert [one.item_id for one in turned] == [one.item_id for one in plain if one.options]
    assert {len(one.options) for one in asked.of(settings[2], plain)} == {4}


def test_a_model_is_asked_under_a_perturbation_and_what_was_asked_so_is_paired():
    settings = under_perturbations(["plain"], ["option_order"])
    results = evaluate(
        example().filter(format="mcq"),
        lambda prompts: ["A" for _ in prompts],
        name="always A",
        settings=settings,
        controls=False,
    )
    (row,) = results.robustness().to_pylist()
    assert (row["model"], row["perturbation"], row["items"]) == ("always A", "option_order", 12)
    assert row["consistency"] < 1
    chance = evaluate(example(), Chance(), settings=settings).robustness()
    assert chance["change"].to_pylist() == [0.0]
