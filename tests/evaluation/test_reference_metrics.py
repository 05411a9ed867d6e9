"""Ranks, calibration and significance agree with the libraries that people trust."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from scipy.stats import bootstrap, friedmanchisquare
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from ehrkg.benchmark.facts.intervals import holm
from ehrkg.evaluation.measures.calibration import brier, calibration_error
from ehrkg.evaluation.measures.ranks import average_rank, kendalls_w, scores_of_halves
from ehrkg.evaluation.measures.significance import compared
from ehrkg.evaluation.metrics import clustered_mean, rouge, wilson
from ehrkg.foundation.errors import UsageError


@st.composite
def score_tables(draw):
    """Settings by models, with many ties."""
    settings, models = draw(st.integers(2, 6)), draw(st.integers(3, 6))
    cells = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=models, max_size=models)
    return np.array(draw(st.lists(cells, min_size=settings, max_size=settings)))


@given(score_tables())
def test_kendalls_w_is_friedmans_statistic_in_other_units(scores):
    settings, models = scores.shape
    if all(len(set(row)) == 1 for row in scores):
        assert math.isnan(kendalls_w(scores))
        return
    reference = friedmanchisquare(*scores.T).statistic / (settings * (models - 1))
    assert kendalls_w(scores) == pytest.approx(reference)


@given(score_tables())
def test_average_rank_agrees_with_pandas(scores):
    reference = pd.DataFrame(scores).rank(axis=1, ascending=False).mean()
    assert average_rank(scores) == pytest.approx(reference.to_numpy())


def test_halves_share_no_patient_and_do_not_depend_on_the_order_of_questions():
    clusters = [f"p{i % 9}" for i in range(90)]
    correct = np.random.default_rng(3).integers(0, 2, (4, 90)).astype(float)
    halves = scores_of_halves(correct, clusters)
    turned = scores_of_halves(correct[:, ::-1], clusters[::-1])
    assert halves == pytest.approx(turned)
    own = np.array([[float(c == name) for c in clusters] for name in sorted(set(clusters))])
    assert ((scores_of_halves(own, clusters) > 0).sum(axis=0) == 1).all()


def sure_answers(n: int, options: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.dirichlet(np.full(options, 0.5), n), rng.integers(0, options, n)


@pytest.mark.parametrize("options", [2, 4, 6])
def test_brier_is_the_sum_of_scikit_learns_over_the_options(options):
    probabilities, answers = sure_answers(300, options)
    reference = sum(brier_score_loss(answers == k, probabilities[:, k]) for k in range(options))
    assert brier(probabilities, answers) == pytest.approx(reference)


@pytest.mark.parametrize("bins", [1, 5, 15])
def test_calibration_error_weighs_scikit_learns_curve(bins):
    probabilities, answers = sure_answers(400, 4)
    confidence = probabilities.max(axis=1)
    hit = probabilities.argmax(axis=1) == answers
    accuracy, said = calibration_curve(hit, confidence, n_bins=bins)
    counts = np.histogram(confidence, np.linspace(0, 1, bins + 1))[0]
    reference = (counts[counts > 0] / 400 * np.abs(accuracy - said)).sum()
    assert calibration_error(probabilities, answers, bins=bins) == pytest.approx(reference)


def test_an_option_that_ties_is_the_likeliest_in_part():
    assert calibration_error([[0.5, 0.5]] * 2, [0, 1]) == 0
    assert calibration_error([[0.4, 0.2, 0.4]] * 2, [1, 1]) == pytest.approx(0.4)


def test_what_is_no_probability_is_refused():
    with pytest.raises(UsageError, match="row 1"):
        brier([[0.5, 0.5], [0.5, 0.6]], [0, 1])


def test_differences_agree_with_a_clustered_regression_on_a_constant():
    rng = np.random.default_rng(11)
    place = rng.integers(0, 30, 400)
    patient = rng.random(30)[place]
    correct = {
        name: (rng.random(400) < 0.2 + skill * patient).astype(float)
        for name, skill in (("weak", 0.3), ("middling", 0.4), ("strong", 0.7))
    }
    found = compared(list(correct), list(correct.values()), place)
    for pair in found:
        fitted = OLS(correct[pair.first] - correct[pair.second], np.ones(400)).fit(
            cov_type="cluster", cov_kwds={"groups": place}, use_t=True
        )
        assert pair.difference == pytest.approx(fitted.params[0])
        assert pair.p == pytest.approx(fitted.pvalues[0], abs=1e-9)
        assert (pair.low, pair.high) == pytest.approx(tuple(fitted.conf_int()[0]))
    corrected = multipletests([pair.p for pair in found], method="holm")[1]
    assert [pair.p_holm for pair in found] == pytest.approx(corrected, abs=1e-6)


def test_two_models_that_answer_alike_do_not_differ():
    alike = np.array([1.0, 0.0, 1.0])
    (pair,) = compared(["a", "b"], [alike, alike], np.arange(3))
    assert (pair.difference, pair.p, pair.p_holm) == (0, 1, 1)


def test_a_few_patients_who_all_agree_prove_little():
    (pair,) = compared(["a", "b"], [np.ones(3), np.zeros(3)], np.arange(3))
    assert pair.p == 0.25


@pytest.mark.parametrize("n", [1, 2, 20])
def test_holm_agrees_with_statsmodels(n):
    p_values = np.random.default_rng(n).beta(0.3, 4, n).tolist()
    reference = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(reference, abs=1e-6)


@given(st.integers(1, 400), st.floats(0, 1))
def test_wilson_agrees_with_statsmodels(n, share):
    successes = round(share * n)
    reference = proportion_confint(successes, n, method="wilson")
    assert wilson(successes, n) == pytest.approx(reference, abs=1e-6)


def test_the_clustered_bootstrap_agrees_with_scipys_over_patients():
    rng = np.random.default_rng(2)
    place = rng.integers(0, 50, 300)
    values = (rng.random(300) < rng.random(50)[place]).astype(float)
    sums, sizes = np.bincount(place, weights=values), np.bincount(place)

    def mean(sums, sizes, axis):
        return sums.sum(axis=axis) / sizes.sum(axis=axis)

    reference = bootstrap(
        (sums, sizes), mean, paired=True, method="percentile", n_resamples=10_000, rng=rng
    ).confidence_interval
    ours = clustered_mean(values, [f"p{i}" for i in place], draws=10_000)
    assert (ours.low, ours.high) == pytest.approx((reference.low, reference.high), abs=0.005)


def test_rouge_is_rouge_scores_best_over_the_references():
    said, references = "acute kidney injuries", ["acute kidney injury", "kidney failure, acute"]
    scored = [RougeScorer(["rouge1", "rougeL"], True).score(each, said) for each in references]
    for name, ours in zip(("rouge1", "rougeL"), rouge(said, references), strict=True):
        assert ours == max(each[name].fmeasure for each in scored)
