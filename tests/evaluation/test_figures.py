"""The tables of figures agree with pandas, scikit-learn and statsmodels, group by group."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.proportion import proportion_confint

from ehrkg.evaluation.measures.breakdowns import breakdown, chapter_of, macro
from ehrkg.evaluation.measures.calibration import (
    calibration_error,
    calibration_of,
    reliability_of,
)
from ehrkg.evaluation.measures.comparison import pairwise, ranks_of, stem_gain
from ehrkg.evaluation.measures.significance import compared
from ehrkg.evaluation.measures.spending import cost_of, parse_failures
from ehrkg.evaluation.measures.summary import accuracy_by, open_ended_by, several_right_by
from ehrkg.evaluation.results import Results
from ehrkg.foundation.errors import UsageError
from tests.evaluation.made_scores import pool_of, scores_of, table, templates_of

SETTINGS = ("plain", "no_stem", "other_stem")


@pytest.fixture(scope="module")
def scores() -> pa.Table:
    return scores_of(settings=SETTINGS)


@pytest.fixture(scope="module")
def frame(scores):
    return scores.to_pandas()


def test_accuracy_is_scikit_learns_with_wilsons_interval_beside_the_patients(scores, frame):
    keys = ["model", "setting", "task", "n_options"]
    found = accuracy_by(scores).to_pandas().set_index(keys)
    for key, group in frame.groupby(keys):
        row = found.loc[key]
        reference = accuracy_score(group.answer_index, group.choice)
        assert row.accuracy == pytest.approx(reference, abs=1e-4)
        wilson = proportion_confint(group.correct.sum(), len(group), method="wilson")
        assert (row.wilson_low, row.wilson_high) == pytest.approx(wilson, abs=1e-4)
        assert row.low <= row.accuracy <= row.high
        assert row.chance == round(1 / key[3], 4)


def test_the_order_of_rows_changes_no_table(scores):
    turned = scores.take(pa.array(np.random.default_rng(0).permutation(scores.num_rows)))
    templates = templates_of()
    for made in (accuracy_by, stem_gain, ranks_of, pairwise, cost_of, parse_failures):
        assert made(turned).equals(made(scores)), made
    assert macro(turned, templates, by="sex").equals(macro(scores, templates, by="sex"))


@pytest.mark.parametrize("by", ["task", "n_options", "age_band", "sex", "chapter"])
def test_a_breakdown_and_its_macro_mean_agree_with_pandas(scores, frame, by):
    templates = templates_of()
    named = frame.merge(
        templates.to_pandas(), left_on="template_id", right_on="id", suffixes=("", "_t")
    )
    named["chapter"] = [
        chapter_of(answer[0]) or chapter_of(context[1])
        for answer, context in zip(named.answer, named.context, strict=True)
    ]
    named["value"] = named[by].astype(str).replace("", "unknown")
    found = breakdown(scores, templates, by=by).to_pandas()
    reference = named.groupby(["model", "setting", "task", "value"]).correct
    found = found.set_index(["model", "setting", "task", "value"])
    assert found.accuracy.to_dict() == pytest.approx(reference.mean().to_dict(), abs=1e-4)
    assert found["items"].to_dict() == reference.count().to_dict()
    whole = macro(scores, templates, by=by).to_pandas().set_index(["model", "setting"])
    parts = named.groupby(["model", "setting", "value"]).correct.mean()
    averages = parts.groupby(["model", "setting"]).mean()
    assert whole.accuracy.to_dict() == pytest.approx(averages.to_dict(), abs=1e-4)
    assert (whole.low <= whole.accuracy).all()
    assert (whole.accuracy <= whole.high).all()


def test_a_drug_has_the_chapter_of_its_problem_and_frequencies_come_in_their_order(scores):
    pool = pool_of({"ICD10CM:I50.9": 5, "ICD10CM:E11.9": 500, "ICD9CM:486": 12})
    found = breakdown(scores, templates_of(), by="answer_frequency", pool=pool)
    bands = list(dict.fromkeys(found["value"].to_pylist()))
    assert bands == ["2 to 9", "10 to 29", "100 or more", "unknown"]
    chapters = set(breakdown(scores, templates_of(), by="chapter")["value"].to_pylist())
    assert {chapter.split()[0] for chapter in chapters} == {"ICD10CM:4", "ICD10CM:9", "ICD9CM:8"}


def test_a_breakdown_says_what_it_lacks(scores):
    with pytest.raises(UsageError, match="pool"):
        breakdown(scores, templates_of(), by="answer_frequency")
    with pytest.raises(UsageError, match="no breakdown by 'ward'"):
        breakdown(scores, templates_of(), by="ward")
    with pytest.raises(UsageError, match="do not know their benchmark"):
        Results(scores).breakdown("sex")


def test_the_gain_of_a_stem_is_a_clustered_regression_of_paired_differences(scores, frame):
    found = stem_gain(scores).to_pandas().set_index(["model", "control", "task", "n_options"])
    assert set(found.setting) == {"plain"}
    wide = frame.pivot_table(
        index=["model", "item_id", "task", "n_options", "cluster"],
        columns="setting",
        values="correct",
    ).reset_index()
    for control in SETTINGS[1:]:
        for key, group in wide[wide.model != "graph"].groupby(["model", "task", "n_options"]):
            fitted = OLS(group.plain - group[control], np.ones(len(group))).fit(
                cov_type="cluster", cov_kwds={"groups": group.cluster.factorize()[0]}, use_t=True
            )
            row = found.loc[(key[0], control, *key[1:])]
            assert row.gain == pytest.approx(fitted.params.iloc[0], abs=1e-4)
            assert (row.low, row.high) == pytest.approx(tuple(fitted.conf_int().iloc[0]), abs=1e-4)
            assert row.p == pytest.approx(fitted.pvalues.iloc[0], abs=1e-4)


def test_ranks_and_pairs_leave_the_key_source_and_the_controls_out(scores, frame):
    ranked = ranks_of(scores)
    assert ranked["model"].to_pylist() == ["strong", "middling", "weak"]
    assert set(ranked["setting"].to_pylist()) == {"plain"}
    plain = frame[(frame.setting == "plain") & ~frame.key_source]
    cells = plain.groupby(["task", "n_options", "model"]).correct.mean().unstack()
    averages = cells.rank(axis=1, ascending=False).mean()
    found = dict(zip(ranked["model"].to_pylist(), ranked["average_rank"].to_pylist(), strict=True))
    assert found == pytest.approx(averages.to_dict(), abs=1e-4)
    assert ranked["w_halves"].to_pylist() == [1.0] * 3
    pairs = pairwise(scores).to_pylist()
    wide = plain.pivot_table(index=["item_id", "cluster"], columns="model", values="correct")
    reference = compared(
        list(wide.columns),
        [wide[name].to_numpy() for name in wide.columns],
        wide.index.get_level_values("cluster").factorize()[0],
    )
    assert [(row["first"], row["second"]) for row in pairs] == [
        (p.first, p.second) for p in reference
    ]
    for row, pair in zip(pairs, reference, strict=True):
        assert row["difference"] == pytest.approx(pair.difference, abs=1e-4)
        assert row["p_holm"] == pair.p_holm


def test_models_are_compared_on_what_both_answered(scores):
    few = np.asarray(scores["model"]) != "weak"
    few |= np.arange(scores.num_rows) % 10 < 3
    pairs = {(row["first"], row["second"]): row for row in pairwise(scores.filter(few)).to_pylist()}
    assert pairs["middling", "strong"]["items"] == 240
    assert pairs["middling", "weak"]["items"] == 72
    assert set(ranks_of(scores.filter(few))["items"].to_pylist()) == {72}


def test_calibration_is_scikit_learns_group_by_group():
    n, rng = 300, np.random.default_rng(4)
    sizes = rng.integers(4, 7, n)
    said = [rng.dirichlet(np.ones(k)).round(6).tolist() for k in sizes]
    right = rng.integers(0, 4, n)
    scores = table(
        {
            "model": ["a" if at % 2 else "b" for at in range(n)],
            "setting": ["likelihood"] * n,
            "item_id": [f"i{at}" for at in range(n)],
            "cluster": [f"p{at}" for at in range(n)],
            "task": ["diagnosis"] * n,
            "format": ["mcq"] * n,
            "probabilities": said,
            "answer_index": right,
            "key_source": [False] * n,
        },
        n,
    )
    wide = np.array([row + [0.0] * (6 - len(row)) for row in said])
    wide /= wide.sum(axis=1, keepdims=True)
    for row in calibration_of(scores).to_pylist():
        mine = np.arange(n) % 2 == (row["model"] == "a")
        brier = sum(brier_score_loss(right[mine] == k, wide[mine, k]) for k in range(6))
        assert row["brier"] == pytest.approx(brier, abs=1e-4)
        assert row["ece"] == pytest.approx(calibration_error(wide[mine], right[mine]), abs=1e-4)
        assert row["accuracy"] == pytest.approx(
            (wide[mine].argmax(axis=1) == right[mine]).mean(), abs=1e-4
        )
        bins = [one for one in reliability_of(scores).to_pylist() if one["model"] == row["model"]]
        assert sum(one["items"] for one in bins) == row["items"]
        apart = sum(one["items"] * abs(one["accuracy"] - one["confidence"]) for one in bins)
        assert apart / row["items"] == pytest.approx(row["ece"], abs=1e-3)


def test_cost_and_parse_failures_agree_with_pandas_and_statsmodels(scores, frame):
    keys = ["model", "setting"]
    spent = cost_of(scores).to_pandas().set_index(keys)
    unread = parse_failures(scores).to_pandas().set_index(keys)
    for key, group in frame.groupby(keys):
        assert spent.loc[key].tokens_in == group.tokens_in.sum()
        assert spent.loc[key].p95_seconds == pytest.approx(group.seconds.quantile(0.95), abs=1e-4)
        failures = int((~group.parsed.astype(bool)).sum())
        assert unread.loc[key].failures == failures
        bounds = proportion_confint(failures, len(group), method="wilson")
        assert (unread.loc[key].low, unread.loc[key].high) == pytest.approx(bounds, abs=1e-4)
    assert spent.cost.isna().all()


def test_open_answers_and_sets_are_told_of_where_they_were_measured():
    shared = {
        "model": ["m"] * 4,
        "setting": ["plain"] * 4,
        "item_id": list("abcd"),
        "cluster": list("ppqq"),
        "task": ["diagnosis"] * 4,
        "key_source": [False] * 4,
    }
    open_ended = table(
        shared
        | {
            "format": ["oeq"] * 4,
            "coverage": [1.0, 0, 0, 1],
            "exact": [1.0, 0, 0, 0],
            "rouge1": [1.0, 0.5, 0, 0.5],
            "judged": [1.0, None, None, 0],
        },
        4,
    )
    (row,) = open_ended_by(open_ended).to_pylist()
    assert (row["coverage"], row["exact"], row["rouge1"], row["bert_f1"]) == (0.5, 0.25, 0.5, None)
    assert (row["judged"], row["judged_items"]) == (0.5, 2)
    several = table(
        shared
        | {"format": ["multi"] * 4, "correct": [1.0, 0, 0, 0], "partial": [1.0, 0.5, 0.25, 0.25]},
        4,
    )
    (row,) = several_right_by(several).to_pylist()
    assert (row["exact_set"], row["jaccard"]) == (0.25, 0.5)
    assert accuracy_by(several, format="multi")["chance"].to_pylist() == [None]


def test_nothing_asked_gives_empty_tables(scores):
    nothing = scores.slice(0, 0)
    for made in (accuracy_by, open_ended_by, several_right_by, stem_gain, ranks_of, pairwise):
        assert made(nothing).num_rows == 0
    for made in (cost_of, parse_failures, calibration_of, reliability_of):
        assert made(nothing).num_rows == 0
    assert breakdown(nothing, templates_of(), by="sex").num_rows == 0
    assert macro(nothing, templates_of(), by="sex").num_rows == 0


def test_what_evaluating_offers_is_not_hidden_by_a_module_of_its_name():
    from importlib import import_module
    from types import ModuleType

    evaluation = import_module("ehrkg.evaluation")
    for home in set(evaluation._HOMES.values()):
        import_module(f"ehrkg.evaluation.{home}")
    hidden = [n for n in evaluation.__all__ if isinstance(getattr(evaluation, n), ModuleType)]
    assert hidden == []
