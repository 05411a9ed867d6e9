"""Whether one model is better than another on the same questions, beyond what chance explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from ehrkg.benchmark.intervals import holm
from ehrkg.foundation.errors import UsageError


@dataclass(frozen=True)
class Difference:
    """Two models on the same questions.

    Attributes:
        first, second: the models.
        difference: accuracy of the first less that of the second.
        low, high: its interval.
        p: two-sided, of the hypothesis that they are alike.
        p_holm: the same, corrected for the number of pairs.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float


def pairwise_differences(
    correct: Mapping[str, npt.ArrayLike], clusters: Sequence[str], *, level: float = 0.95
) -> list[Difference]:
    """Every pair of models, compared question by question, clustered by patient.

    The mean of the paired differences ``d = a - b`` has the sandwich error
    ``sqrt(G / (G - 1) sum_g (sum_(i in g) (d_i - mean))^2) / n`` over G patients (Liang and Zeger
    1986, Biometrika 73:13), and is held against Student's t with G - 1 degrees of freedom. Where
    all patients differ alike there is no spread to hold it against; then p is the sign test's over
    patients, ``2^(1 - G)``. P values are corrected by Holm 1979 (Scandinavian Journal of
    Statistics 6:65), and then given to six places.

    Args:
        correct: model to how right it is on each question, in [0, 1], questions in one order; not
            the key source, which belongs in no ranking.
        clusters: the patient's key of each question.
        level: coverage of the intervals, which are not corrected.

    Returns:
        A row a pair, in the models' order.

    Raises:
        UsageError: the models were not asked the same questions, or all are of one patient.

    >>> patients = ["a", "b", "c", "d", "e"]
    >>> pair, = pairwise_differences({"m": [1, 1, 1, 0, 1], "n": [0, 0, 1, 0, 0]}, patients)
    >>> pair.first, pair.second, round(pair.difference, 2), round(pair.p, 3)
    ('m', 'n', 0.6, 0.07)
    """
    models = list(correct)
    arrays = [np.asarray(correct[name], dtype=np.float64) for name in models]
    for name, array in zip(models, arrays, strict=True):
        if array.shape != (len(clusters),):
            raise UsageError(
                f"{name} has answers of shape {array.shape}, not ({len(clusters)},)",
                todo="give every model's answer to every question, in one order",
            )
    names, place = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    patients = len(names)
    if patients < 2:
        raise UsageError("too few patients to compare models", todo="ask about two or more")
    sizes = np.bincount(place).astype(np.float64)
    totals = np.array([np.bincount(place, weights=each) for each in arrays]).reshape(-1, patients)
    a, b = np.triu_indices(len(models), k=1)
    apart = totals[a] - totals[b]
    mean = apart.sum(axis=1) / sizes.sum()
    spread = ((apart - mean[:, None] * sizes) ** 2).sum(axis=1)
    error = np.sqrt(patients / (patients - 1) * spread) / sizes.sum()
    p = _p_values(mean, error, patients)
    reach = float(t.ppf(0.5 + level / 2, patients - 1)) * error
    return [
        Difference(models[i], models[j], float(d), float(d - r), float(d + r), float(own), both)
        for i, j, d, r, own, both in zip(a, b, mean, reach, p, holm(p.tolist()), strict=True)
    ]


def _p_values(
    mean: npt.NDArray[np.float64], error: npt.NDArray[np.float64], patients: int
) -> npt.NDArray[np.float64]:
    alike = error <= 1e-12 * np.maximum(1.0, np.abs(mean))
    scaled = np.abs(mean) / np.where(alike, 1.0, error)
    without_spread = np.where(mean == 0, 1.0, 2.0 ** (1 - patients))
    return np.where(alike, without_spread, 2 * t.sf(scaled, patients - 1))
