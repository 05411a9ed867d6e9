"""Intervals for shares among questions that come in clusters, and the correction for many tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


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
        return self._tail(self.value - bound)

    def p_below(self, bound: float) -> float:
        """One-sided p of the hypothesis that the true mean is at least ``bound``."""
        return self._tail(bound - self.value)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """A two-sided interval; without two clusters it bounds nothing."""
        from scipy.stats import t

        if self.clusters < 2:
            return (-np.inf, np.inf)
        reach = float(t.ppf(0.5 + confidence / 2, self.clusters - 1)) * self.error
        return (self.value - reach, self.value + reach)

    def _tail(self, distance: float) -> float:
        from scipy.stats import t

        if self.clusters < 2:
            return 1.0
        if self.error == 0.0:
            return 0.0 if distance > 0 else 1.0
        return float(t.sf(distance / self.error, self.clusters - 1))


def clustered_mean(values: Floats, clusters: npt.NDArray[np.int64]) -> Estimate:
    """The mean, with the cluster-robust (sandwich) standard error of Liang and Zeger 1986.

    The error is never taken smaller than that of one more question going the other way: a handful
    of questions that all agree has no spread of its own, and still does not prove much.

    Args:
        values: one number a question.
        clusters: the cluster of each, as small integers.

    >>> estimate = clustered_mean(np.array([1., 0., 1., 0.]), np.array([0, 1, 2, 3]))
    >>> round(estimate.value, 2), round(estimate.error, 2), estimate.clusters
    (0.5, 0.29, 4)
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
    least = float(np.ptp(values) if np.ptp(values) else 1.0) / (groups + 1) / 2
    return Estimate(mean, max(error, least if groups < 50 else 0.0), groups, n)


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


def wilson(hits: int, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share (Wilson 1927); (0, 1) without any observation.

    >>> low, high = wilson(0, 100)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.037)
    """
    from scipy.stats import norm

    if n <= 0:
        return (0.0, 1.0)
    z = float(norm.ppf(0.5 + confidence / 2))
    share = hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return (max(0.0, float(middle - reach)), min(1.0, float(middle + reach)))
