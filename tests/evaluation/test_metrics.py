"""Every figure agrees with an independent way to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from ehrkg.evaluation.metrics import (
    clustered_mean,
    effective_size,
    normalise_answer,
    relation_coverage,
    rouge,
    wilson,
)


@given(st.integers(1, 400), st.floats(0, 1))
def test_wilson_agrees_with_scipy(n, share):
    successes = round(share * n)
    reference = binomtest(successes, n).proportion_ci(method="wilson")
    low, high = wilson(successes, n)
    assert math.isclose(low, reference.low, abs_tol=1e-6)
    assert math.isclose(high, reference.high, abs_tol=1e-6)


def test_clustered_interval_is_wider_than_a_naive_one_where_patients_repeat():
    clusters = [f"p{i // 10}" for i in range(200)]
    values = [float(int(c[1:]) % 2) for c in clusters]
    clustered = clustered_mean(values, clusters)
    naive = clustered_mean(values, [str(i) for i in range(200)])
    assert clustered.high - clustered.low > 2 * (naive.high - naive.low)
    assert clustered.clusters == 20


def test_bootstrap_agrees_with_the_normal_approximation():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2, 4000).astype(float)
    interval = clustered_mean(values, [str(i) for i in range(4000)])
    half = 1.96 * values.std() / math.sqrt(4000)
    assert interval.high - interval.mean == pytest.approx(half, rel=0.15)


@given(st.permutations(range(30)))
def test_order_of_rows_does_not_matter(order):
    values = [i % 3 == 0 for i in range(30)]
    clusters = [f"p{i % 7}" for i in range(30)]
    turned = clustered_mean([values[i] for i in order], [clusters[i] for i in order])
    straight = clustered_mean(values, clusters)
    assert (turned.low, turned.high) == pytest.approx((straight.low, straight.high))


@given(st.lists(st.sampled_from("abcdef"), min_size=1))
def test_effective_size_lies_between_one_and_the_clusters(clusters):
    assert 1 - 1e-9 <= effective_size(clusters) <= len(set(clusters)) + 1e-9


@pytest.mark.parametrize(
    ("text", "accepted", "covered"),
    [
        ("It is Carrión's disease", ["carrión's disease"], 1.0),
        ("Acute on chronic systolic (HF) failure", ["hf"], 1.0),
        ("hypertensive", ["hypertension"], 0.0),
        ("", ["hypertension"], 0.0),
        ("anything", [""], 0.0),
    ],
)
def test_coverage_counts_whole_names_only(text, accepted, covered):
    assert relation_coverage(text, accepted) == covered


@given(st.text())
def test_normalising_twice_changes_nothing(text):
    assert normalise_answer(normalise_answer(text)) == normalise_answer(text)


def test_rouge_takes_the_best_reference():
    first, longest = rouge("sepsis", ["pneumonia", "severe sepsis"])
    assert first == pytest.approx(2 / 3)
    assert longest == pytest.approx(2 / 3)
