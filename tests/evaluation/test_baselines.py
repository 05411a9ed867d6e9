"""Baselines answer as they say they do, and controls are paired."""

from __future__ import annotations

from math import comb

import numpy as np
import pyarrow as pa
import pytest

from ehrkg.benchmark.schema import ITEMS, TEMPLATES
from ehrkg.evaluation.asking.asked import asked_of
from ehrkg.evaluation.asking.questions import in_setting, questions_of
from ehrkg.evaluation.baselines import Chance, KeySource, MostFrequent
from ehrkg.evaluation.measures.summary import accuracy_by, open_ended_by
from ehrkg.evaluation.scoring.scores import run_baselines
from ehrkg.foundation.errors import UsageError


def item(number: int, *, patient: str, form: str = "mcq", task: str = "treatment") -> dict:
    options = ["aspirin", "heparin", "insulin", "warfarin"] if form == "mcq" else []
    codes = [f"DRUGNAME:{name}" for name in options]
    return {
        "item_id": f"t{number}.{form}{len(options)}",
        "template_id": f"t{number}",
        "relation_id": "r1",
        "cluster": patient,
        "task": task,
        "format": form,
        "n_options": len(options),
        "strategy": "",
        "phrasing": 0,
        "history": 0,
        "stem": f"stem of {patient}",
        "options": options,
        "option_codes": codes,
        "distractor_reasons": [],
        "answer": ["insulin"],
        "answer_index": 2 if form == "mcq" else -1,
        "accepted_codes": ["DRUGNAME:insulin", "DRUGBANK:DB00030"],
        "split": "train",
        "seed": 7,
    }


def items(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist(rows, ITEMS)


def templates(rows: list[tuple[str, str, list[str]]], split: str = "train") -> pa.Table:
    told = [
        dict.fromkeys(TEMPLATES.names)
        | {"id": name, "patient": who, "cluster": who, "task": "treatment", "split": split}
        | {"context": context, "answer": ["DRUGNAME:insulin"], "age_band": "40-64", "sex": "F"}
        for name, who, context in rows
    ]
    return pa.Table.from_pylist(told, TEMPLATES)


def test_chance_is_one_over_the_options():
    scores = run_baselines(items([item(1, patient="a"), item(2, patient="b")]), [Chance()], {})
    assert set(scores["correct"].to_pylist()) == {0.25}
    assert set(scores["choice"].to_pylist()) == {-1}


def test_most_frequent_option_is_taken_and_ties_are_shared():
    codes = pa.array(["DRUGNAME:aspirin", "DRUGNAME:insulin"])
    frequent = MostFrequent(codes, np.array([[5, 5]] * 3), {})
    scores = run_baselines(items([item(1, patient="a")]), [frequent], {})
    assert set(scores["correct"].to_pylist()) == {0.5}


def test_key_source_reads_the_key_back_only_from_its_own_stem():
    relations = pa.table(
        {
            "head": ["DRUGNAME:insulin"],
            "predicate": ["TREATS"],
            "tail": ["ICD10CM:E11.9"],
            "verdict": ["supported"],
            "score": [0.9],
        }
    )
    source = KeySource.learn(
        relations, {"DRUGNAME:insulin": "drug"}, {"DRUGNAME:insulin": "insulin"}
    )
    rows = [item(1, patient="a"), item(2, patient="b"), item(1, patient="a", form="oeq")]
    told = templates([("t1", "a", ["ICD10CM:E11.9"]), ("t2", "b", ["ICD10CM:I10"])])
    scores = {
        (row["setting"], row["item_id"]): row
        for row in run_baselines(items(rows), [source], {}, templates=told).to_pylist()
    }
    assert scores["plain", "t1.mcq4"]["correct"] == 1.0
    assert scores["no_stem", "t1.mcq4"]["correct"] == 0.25
    assert scores["other_stem", "t1.mcq4"]["correct"] == 0.25
    assert scores["other_stem", "t2.mcq4"]["correct"] == 1.0
    assert scores["plain", "t1.oeq0"]["text"] == "insulin"
    assert scores["plain", "t1.oeq0"]["exact"] == 1.0


def test_open_answers_count_by_any_accepted_name():
    class Says(Chance):
        def texts(self, questions):
            return ["Give Human Insulin now"] * len(questions)

    table = items([item(1, patient="a", form="oeq")])
    scores = run_baselines(table, [Says()], {"DRUGBANK:DB00030": ["human insulin"]})
    (row,) = open_ended_by(scores).to_pylist()
    assert row["coverage"] == 1.0
    assert 0 < row["rouge1"] < 1


def test_controls_are_paired_and_come_from_another_patient():
    rows = [item(n, patient=f"p{n % 3}") for n in range(12)]
    plain = questions_of(items(rows))
    other = in_setting(plain, "other_stem")
    assert [q.item_id for q in other] == [q.item_id for q in plain]
    assert all(q.stem != f"stem of {q.cluster}" for q in other)
    assert all(q.stem == "" for q in in_setting(plain, "no_stem"))
    assert in_setting(plain, "plain") == plain


@pytest.mark.parametrize("control", ["plain", "no_stem", "other_stem"])
def test_questions_as_columns_are_the_questions_one_by_one(control: str):
    rows = [item(n, patient=f"p{n % 3}", form=["mcq", "oeq"][n % 2]) for n in range(11)]
    asked = asked_of(items(rows[::-1]))
    one_by_one = sorted(questions_of(items(rows)), key=lambda question: question.item_id)
    assert list(asked.under(control)) == in_setting(one_by_one, control)
    assert list(asked[3:5]) == one_by_one[3:5]
    assert asked[-1] == one_by_one[-1]


def test_a_patient_alone_gets_no_other_stem():
    (question,) = in_setting(questions_of(items([item(1, patient="a")])), "other_stem")
    assert question.stem == ""


def test_unknown_setting_is_named():
    with pytest.raises(UsageError, match="no such setting: upside_down"):
        in_setting([], "upside_down")


def test_scores_do_not_depend_on_the_order_of_items():
    rows = [item(n, patient=f"p{n}") for n in range(6)]
    straight = run_baselines(items(rows), [Chance()], {})
    turned = run_baselines(items(rows[::-1]), [Chance()], {})
    assert straight.equals(turned)
    assert np.isclose(accuracy_by(straight)["accuracy"][0].as_py(), 0.25)


def test_a_benchmark_evaluates_models_and_shows_intervals():
    import ehrkg

    rows = [item(n, patient=f"p{n}") for n in range(6)]
    templates = pa.Table.from_pylist(
        [dict.fromkeys(TEMPLATES.names) | {"id": f"t{n}"} for n in range(6)], TEMPLATES
    )
    bench = ehrkg.Benchmark.from_tables(templates=templates, items=items(rows))
    results = bench.evaluate(Chance())
    assert results.accuracy()["accuracy"].to_pylist() == [0.25] * 3
    assert "chance, treatment, 4 options, plain: 25.0 %" in repr(results)
    with pytest.raises(UsageError, match="which provider serves 'gpt'"):
        bench.evaluate("gpt")


def asks_for_several(number: int, right: tuple[int, ...], *, patient: str = "a") -> dict:
    names = ["aspirin", "heparin", "insulin", "warfarin", "digoxin", "morphine"]
    return item(number, patient=patient) | {
        "item_id": f"t{number}.multi6",
        "format": "multi",
        "n_options": 6,
        "options": names,
        "option_codes": [f"DRUGNAME:{name}" for name in names],
        "answer": [names[at] for at in right],
        "answer_index": -1,
    }


def asks_yes_or_no(number: int, code: str, answer: str, *, patient: str = "a") -> dict:
    return item(number, patient=patient) | {
        "item_id": f"t{number}.yesno2",
        "format": "yesno",
        "n_options": 2,
        "options": ["yes", "no"],
        "option_codes": [code, code],
        "answer": [answer],
        "answer_index": ["yes", "no"].index(answer),
    }


class Utilities(Chance):
    """Says what it is told, question by question."""

    def __init__(self, *given: list[float]) -> None:
        object.__setattr__(self, "given", given)

    def utilities(self, questions):
        by_id = dict(zip(sorted(q.item_id for q in questions), self.given, strict=True))
        return [np.array(by_id[question.item_id]) for question in questions]


def of_plain(scores: pa.Table) -> list[dict]:
    return [row for row in scores.to_pylist() if row["setting"] == "plain"]


def test_as_many_options_are_chosen_as_are_mostly_right_and_only_the_whole_set_is_correct():
    rows = [asks_for_several(n, right) for n, right in enumerate([(0, 1), (0, 2), (4, 5)])]
    best_two = [5.0, 4.0, 1.0, 0.0, 0.0, 0.0]
    first, second, third = of_plain(run_baselines(items(rows), [Utilities(*[best_two] * 3)], {}))
    assert [row["chosen"] for row in (first, second, third)] == [[0, 1]] * 3
    assert [row["correct"] for row in (first, second, third)] == [1.0, 0.0, 0.0]
    assert [row["partial"] for row in (first, second, third)] == [1.0, round(1 / 3, 4), 0.0]
    assert first["answered"] == "aspirin; heparin"


def test_a_tie_among_several_counts_what_a_fair_draw_would_give():
    (row,) = of_plain(run_baselines(items([asks_for_several(1, (0, 1))]), [Chance()], {}))
    assert row["chosen"] is None
    assert row["correct"] == round(1 / comb(6, 2), 4)
    # 0, 1 or 2 of the 2 chosen are right, in 6, 8 and 1 of the 15 ways.
    assert row["partial"] == round((6 * 0 + 8 * (1 / 3) + 1 * 1) / 15, 4)


def test_a_tie_for_the_last_place_keeps_what_is_surely_chosen():
    utilities = Utilities([3.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    (row,) = of_plain(run_baselines(items([asks_for_several(1, (0, 1))]), [utilities], {}))
    assert row["correct"] == round(1 / 3, 4)
    assert row["partial"] == round((1 + 2 * (1 / 3)) / 3, 4)


def test_yes_is_said_above_a_cut_learnt_from_other_patients():
    patients = [f"p{n}" for n in range(20)]
    codes = ["DRUGNAME:insulin", "DRUGNAME:rare"]
    rows = [
        asks_yes_or_no(n, codes[n % 2], ["yes", "no"][n % 2], patient=patient)
        for n, patient in enumerate(patients)
    ]
    frequent = MostFrequent(pa.array(codes), np.array([[9, 1]] * 3), {})
    assert {row["correct"] for row in of_plain(run_baselines(items(rows), [frequent], {}))} == {1.0}
    chance = of_plain(run_baselines(items(rows), [Chance()], {}))
    assert {row["correct"] for row in chance} == {0.5}
    # of test patients only: there is nothing to learn a cut from
    tested = items([row | {"split": "test"} for row in rows])
    assert {row["correct"] for row in of_plain(run_baselines(tested, [frequent], {}))} == {0.5}


def test_a_baseline_that_gives_too_few_utilities_is_told():
    with pytest.raises(UsageError, match="4 options were given, and 1 utilities came back"):
        run_baselines(items([item(1, patient="a")]), [Utilities([1.0])], {})
