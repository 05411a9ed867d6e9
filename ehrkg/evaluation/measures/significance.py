"""Whether one model is better than another on the same questions, beyond what chance explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa

from ehrkg.benchmark.facts.intervals import holm
from ehrkg.evaluation.measures.clusters import Floats, Groups, Ints, clustered_differences


@dataclass(frozen=True)
class Difference:
    """Two models on the same questions.

    Attributes:
        first, second: the models.
        difference: accuracy of the first less that of the second.
        low, high: its interval.
        p: two-sided, of the hypothesis that they are alike.
        p_holm: the same, corrected for the number of pairs.
        items, patients: what it rests on.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    items: int
    patients: int


def compared(
    models: Sequence[str], arrays: Sequence[Floats], patients: Ints, *, level: float = 0.95
) -> list[Difference]:
    """Every pair of models, question by question, clustered by patient.

    The mean of the paired differences ``d = a - b`` over the questions that both answered, with the
    sandwich error over patients, see ``clusters.clustered_differences``. P values are corrected by
    Holm 1979 (Scandinavian Journal of Statistics 6:65), and then given to six places.

    Args:
        models: their names; not the key source, which belongs in no ranking.
        arrays: of each, how right it is on each question, in [0, 1]; NaN where it was not asked.
        patients: of each question, as numbers from 0.
        level: coverage of the intervals, which are not corrected.

    Returns:
        A row a pair, in the models' order.

    >>> right = [np.array([1, 1, 1, 0, 1.0]), np.array([0, 0, 1, 0, 0.0])]
    >>> pair, = compared(["m", "n"], right, np.arange(5))
    >>> pair.first, pair.second, round(pair.difference, 2), round(pair.p, 3)
    ('m', 'n', 0.6, 0.07)
    """
    found = []
    for i, j in combinations(range(len(models)), 2):
        apart = arrays[i] - arrays[j]
        both = np.isfinite(apart)
        every = Groups(pa.table({}), np.zeros(int(both.sum()), dtype=np.int64), 1)
        found.append(clustered_differences(apart[both], every, patients[both], level=level))
    corrected = holm([float(pair.p[0]) for pair in found])
    names = combinations(models, 2)
    return [
        Difference(
            first,
            second,
            float(pair.mean[0]),
            float(pair.low[0]),
            float(pair.high[0]),
            float(pair.p[0]),
            p_holm,
            int(pair.n[0]),
            int(pair.clusters[0]),
        )
        for (first, second), pair, p_holm in zip(names, found, corrected, strict=True)
    ]
