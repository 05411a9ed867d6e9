"""Baselines answer as they say they do, and controls are paired."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ehrkg.benchmark.schema import ITEMS
from ehrkg.evaluation.baselines import Chance, KeySource, MostFrequent
from ehrkg.evaluation.questions import in_setting, questions_of
from ehrkg.evaluation.scoring import run_baselines
from ehrkg.evaluation.summary import accuracy_by, open_ended_by
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


def test_chance_is_one_over_the_options():
    scores = run_baselines(items([item(1, patient="a"), item(2, patient="b")]), [Chance()], {})
    assert set(scores["correct"].to_pylist()) == {0.25}
    assert set(scores["choice"].to_pylist()) == {-1}


def test_most_frequent_option_is_taken_and_ties_are_shared():
    frequent = MostFrequent({"DRUGNAME:insulin": 5, "DRUGNAME:aspirin": 5}, {})
    scores = run_baselines(items([item(1, patient="a")]), [frequent], {})
    assert set(scores["correct"].to_pylist()) == {0.5}


def test_key_source_reads_the_key_back_only_from_its_own_stem():
    source = KeySource(
        {("ICD10CM:E11.9", "DRUGNAME:insulin"): 0.9},
        {"t1": ["ICD10CM:E11.9"], "t2": ["ICD10CM:I10"]},
        {"DRUGNAME:insulin": "insulin"},
        {"ICD10CM:E11.9": ["DRUGNAME:insulin"]},
    )
    table = items([item(1, patient="a"), item(2, patient="b")])
    scores = {
        (row["setting"], row["template_id"]): row["correct"]
        for row in run_baselines(table, [source], {}).to_pylist()
    }
    assert scores["plain", "t1"] == 1.0
    assert scores["no_stem", "t1"] == 0.25
    assert scores["other_stem", "t1"] == 0.25
    assert scores["other_stem", "t2"] == 1.0


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
    from ehrkg.benchmark.schema import TEMPLATES

    rows = [item(n, patient=f"p{n}") for n in range(6)]
    templates = pa.Table.from_pylist(
        [dict.fromkeys(TEMPLATES.names) | {"id": f"t{n}"} for n in range(6)], TEMPLATES
    )
    bench = ehrkg.Benchmark.from_tables(templates=templates, items=items(rows))
    results = bench.evaluate(Chance())
    assert results.accuracy()["accuracy"].to_pylist() == [0.25] * 3
    assert "chance, treatment, 4 options, plain: 25.0 %" in repr(results)
    with pytest.raises(UsageError, match="can't answer"):
        bench.evaluate("gpt")
