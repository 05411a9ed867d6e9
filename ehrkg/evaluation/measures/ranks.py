"""The order of models: average rank, and whether settings and patients agree on it.

Scores are arrays with a row a setting (task, number of options, half of the patients) and a column
a model; more is better. The key source belongs in none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import order_by_hash

Floats = npt.NDArray[np.float64]


def ranks(scores: npt.ArrayLike) -> Floats:
    """Each model's rank in each setting, from 1 for the best; models that tie share their mean.

    Args:
        scores: settings by models.

    Raises:
        UsageError: it is no such table, or a score is not a number.

    >>> ranks([[0.7, 0.9, 0.7]]).tolist()
    [[2.5, 1.0, 2.5]]
    """
    table = np.asarray(scores, dtype=np.float64)
    missing = int((~np.isfinite(table)).sum())
    if table.ndim != 2 or missing:
        raise UsageError(
            f"no table of scores: shape {table.shape}, of which {missing} are no numbers",
            todo="give a row a setting and a column a model; leave out models that lack a setting",
        )
    return np.asarray(rankdata(-table, axis=1), dtype=np.float64)


def average_rank(scores: npt.ArrayLike) -> Floats:
    """Each model's mean rank over the settings, from 1 for the best.

    ``R_j = (1 / m) sum_i r_ij`` for model j over m settings (Friedman 1937, JASA 32:675).

    Args:
        scores: settings by models.

    Raises:
        UsageError: see ``ranks``.

    >>> average_rank([[0.9, 0.5, 0.1], [0.8, 0.2, 0.3]]).tolist()
    [1.0, 2.5, 2.5]
    """
    return np.asarray(ranks(scores).mean(axis=0), dtype=np.float64)


def kendalls_w(scores: npt.ArrayLike) -> float:
    """How far the settings agree on the order of the models: 0 not at all, 1 wholly.

    ``W = 12 S / (m^2 (n^3 - n) - m T)``: m settings, n models, S the sum of squares of the models'
    rank sums about their mean, T the sum of ``t^3 - t`` over each group of t tied models in each
    setting (Kendall and Babington Smith 1939, Annals of Mathematical Statistics 10:275; with ties
    Kendall and Gibbons 1990, Rank Correlation Methods, chapter 6).

    Args:
        scores: settings by models.

    Returns:
        W; not a number where there are fewer than two models or settings, or all models tie
        everywhere: no order, nothing to agree on.

    Raises:
        UsageError: see ``ranks``.

    >>> kendalls_w([[0.9, 0.5, 0.1], [0.8, 0.4, 0.3]])
    1.0
    >>> kendalls_w([[0.9, 0.5], [0.5, 0.9]])
    0.0
    """
    table = ranks(scores)
    settings, models = table.shape
    if settings < 2 or models < 2:
        return float("nan")
    sums = table.sum(axis=0)
    spread = float(((sums - sums.mean()) ** 2).sum())
    tied = sum(
        float((counts.astype(np.float64) ** 3 - counts).sum())
        for counts in (np.unique(row, return_counts=True)[1] for row in table)
    )
    most = settings**2 * (models**3 - models) - settings * tied
    return 12 * spread / most if most > 0 else float("nan")


def scores_of_halves(correct: npt.ArrayLike, clusters: Sequence[str], *, seed: int = 7) -> Floats:
    """Each model's accuracy on either of two disjoint halves of the patients.

    ``kendalls_w`` of it says whether the order of models would hold with other patients.

    Args:
        correct: models by questions, in [0, 1].
        clusters: the patient's key of each question.
        seed: names the halving, which depends on nothing but it and the keys.

    Returns:
        Two rows, a column a model.

    Raises:
        UsageError: fewer than two patients, or shapes that do not fit.

    >>> scores_of_halves([[1, 1, 0, 0], [0, 1, 1, 1]], ["a", "b", "a", "b"]).tolist()
    [[0.5, 1.0], [0.5, 0.5]]
    """
    table = np.asarray(correct, dtype=np.float64)
    names, place = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    if table.ndim != 2 or table.shape[1] != len(clusters) or len(names) < 2:
        raise UsageError(
            f"no two halves: shape {table.shape}, {len(clusters)} keys of {len(names)} patients",
            todo="give a row a model, a column a question, and questions of two patients or more",
        )
    first = order_by_hash(names.tolist(), seed, "halves")[: (len(names) + 1) // 2]
    among = np.isin(names, first)[place]
    return np.vstack([table[:, among].mean(axis=1), table[:, ~among].mean(axis=1)])
