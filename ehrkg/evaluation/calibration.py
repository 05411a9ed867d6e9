"""Whether a model's probabilities of the options mean what they say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ehrkg.foundation.errors import UsageError

BINS = 10
"""Bins of equal width; as many as are usual where there are a few hundred questions or more."""

Floats = npt.NDArray[np.float64]


def brier(probabilities: npt.ArrayLike, answers: npt.ArrayLike) -> float:
    """The Brier score: 0 for certainty of every right option, 2 for certainty of a wrong one.

    ``(1 / n) sum_i sum_k (p_ik - y_ik)^2``, y being 1 for the right option and 0 for the others
    (Brier 1950, Monthly Weather Review 78:1).

    Args:
        probabilities: questions by options, each row with the sum 1; 0 where a question has fewer
            options than the widest.
        answers: the place of each question's right option, from 0.

    Raises:
        UsageError: these are no probabilities, or the answers do not fit them.

    >>> round(brier([[0.8, 0.2], [0.5, 0.5]], [0, 1]), 3)
    0.29
    """
    table, right = _checked(probabilities, answers)
    truth = np.zeros_like(table)
    truth[np.arange(len(table)), right] = 1.0
    return float(((table - truth) ** 2).sum(axis=1).mean())


def calibration_error(
    probabilities: npt.ArrayLike, answers: npt.ArrayLike, *, bins: int = BINS
) -> float:
    """The expected calibration error (ECE): how far confidence and accuracy lie apart.

    ``sum_b (n_b / n) |accuracy_b - confidence_b|`` over bins of equal width, closed above, of the
    probability of each question's likeliest option (Naeini et al. 2015, AAAI; Guo et al. 2017,
    ICML). Of options that tie the first is taken.

    Args:
        probabilities: as for ``brier``.
        answers: likewise.
        bins: how many.

    Raises:
        UsageError: see ``brier``; or there is no bin.

    >>> round(calibration_error([[0.8, 0.2], [0.8, 0.2]], [0, 1]), 3)
    0.3
    """
    if bins < 1:
        raise UsageError(f"no bins: {bins}", todo="take 1 or more")
    table, right = _checked(probabilities, answers)
    choice = table.argmax(axis=1)
    confidence = table[np.arange(len(table)), choice]
    hit = (choice == right).astype(np.float64)
    edges = np.linspace(0, 1, bins + 1)[1:-1]
    place = np.searchsorted(edges, confidence)
    gaps = np.bincount(place, weights=hit - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(table))


def _checked(
    probabilities: npt.ArrayLike, answers: npt.ArrayLike
) -> tuple[Floats, npt.NDArray[np.int64]]:
    table = np.asarray(probabilities, dtype=np.float64)
    right = np.asarray(answers, dtype=np.int64)
    if table.ndim != 2 or not len(table) or right.shape != (len(table),):
        raise UsageError(
            f"shapes that do not fit: probabilities {table.shape}, answers {right.shape}",
            todo="give a row a question, a column an option, and one answer a question",
        )
    wrong = (table < 0).any(axis=1) | ~np.isclose(table.sum(axis=1), 1.0)
    if wrong.any():
        raise UsageError(
            f"no probabilities in row {int(np.flatnonzero(wrong)[0])}",
            todo="divide each row by its sum",
        )
    if ((right < 0) | (right >= table.shape[1])).any():
        raise UsageError("an answer is no option", todo="count options from 0")
    return table, right
