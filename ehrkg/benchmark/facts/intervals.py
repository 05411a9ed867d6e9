"""Intervals for shares, ratios and means over clusters, and the correction for many tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Z_95 = 1.959964
"""The standard normal deviate of a two-sided 95 % interval."""


@dataclass(frozen=True)
class Estimate:
    """A mean with what is needed to bound it.

    Attributes:
        value: the mean.
        error: its standard error, clustered.
        clusters: how many clusters it rests on.
        n: how many questions.
    """

    value: float
    error: float
    clusters: int
    n: int

    def p_above(self, bound: float) -> float:
        """One-sided p of the hypothesis that the true mean is at most ``bound`` (t, G - 1)."""
        from scipy.stats import t

        if self.clusters < 2:
            return 1.0
        if self.error == 0.0:
            return 0.0 if self.value > bound else 1.0
        return float(t.sf((self.value - bound) / self.error, self.clusters - 1))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """A two-sided interval; without two clusters it bounds nothing."""
        from scipy.stats import t

        if self.clusters < 2:
            return (-np.inf, np.inf)
        reach = float(t.ppf(0.5 + confidence / 2, self.clusters - 1)) * self.error
        return (self.value - reach, self.value + reach)


def clustered_mean(values: Floats, clusters: npt.NDArray[np.int64], *, span: float) -> Estimate:
    """The mean, with the cluster-robust (sandwich) standard error of Liang and Zeger 1986.

    The error is never taken smaller than what one more cluster at the other end would move the
    mean by, ``span / (clusters + 1)``: a handful of clusters that all agree has no spread of its
    own, and still does not prove much.

    Args:
        values: one number a question.
        clusters: the cluster of each, as small integers.
        span: from the least to the greatest value that a question can have: 1 for shares, the
            number of options for accuracy in multiples of chance.

    >>> estimate = clustered_mean(np.array([1., 0., 1., 0.]), np.array([0, 1, 2, 3]), span=1)
    >>> round(estimate.value, 2), round(estimate.error, 2), estimate.clusters
    (0.5, 0.29, 4)
    >>> clustered_mean(np.zeros(3), np.array([0, 1, 2]), span=4).error
    1.0
    """
    n = len(values)
    if not n:
        return Estimate(0.0, 0.0, 0, 0)
    mean = float(values.mean())
    names, which = np.unique(clusters, return_inverse=True)
    groups = len(names)
    if groups < 2:
        return Estimate(mean, 0.0, groups, n)
    totals = np.bincount(which, weights=values - mean)
    error = float(np.sqrt(groups / (groups - 1) * (totals**2).sum()) / n)
    return Estimate(mean, max(error, span / (groups + 1)), groups, n)


def holm(p_values: Sequence[float]) -> list[float]:
    """P values corrected for their number (Holm 1979), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda at: (p_values[at], at))
    corrected = [0.0] * len(p_values)
    worst = 0.0
    for rank, at in enumerate(order):
        worst = max(worst, min(1.0, (len(order) - rank) * p_values[at]))
        corrected[at] = round(worst, 6)
    return corrected


def wilson(successes: float, n: float, *, z: float = Z_95) -> tuple[float, float]:
    """Wilson's score interval for a proportion (Wilson 1927, JASA 22:209).

    Args:
        successes: how many, of ``n``; neither needs to be whole.
        n: trials; with none the interval is (0, 1).
        z: the normal quantile, 95 % two-sided by default.

    >>> low, high = wilson(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if n <= 0:
        return 0.0, 1.0
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def ratio_lower_bound(hits: float, exposed: float, others: float, unexposed: float) -> float:
    """Lower 95 % bound of a ratio of two proportions, from Wilson's interval of each.

    The method of variance estimates recovery (Zou and Donner, Statistics in Medicine 2008, 27:1693;
    for ratios Donner and Zou, Statistical Methods in Medical Research 2012, 21:347). Unlike the log
    method it needs no correction for empty cells, nor does it take "all of two" for certain.

    Args:
        hits: how many of the exposed had the outcome; none of the counts needs to be whole.
        exposed: how many were exposed; the bound is 0 without any.
        others: how many of the unexposed had the outcome.
        unexposed: how many were not exposed; the bound is 0 without any.

    >>> round(ratio_lower_bound(20, 25, 30, 225), 2)
    3.93
    >>> round(ratio_lower_bound(2, 2, 30, 225), 2)
    2.48
    >>> round(ratio_lower_bound(3, 10, 0, 240), 1)
    14.6
    """
    if exposed <= 0 or unexposed <= 0:
        return 0.0
    p, q = hits / exposed, others / unexposed
    low, high = wilson(hits, exposed)[0], wilson(others, unexposed)[1]
    # The root of a quadratic, written so that nothing is lost where q is near half its bound.
    spread = low * (2 * p - low)
    under = max(0.0, (p * q) ** 2 - spread * high * (2 * q - high))
    return spread / (p * q + sqrt(under)) if spread > 0 else 0.0
