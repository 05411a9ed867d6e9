"""Whether a model's probabilities of the options mean what they say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.measures.clusters import clustered_means, group_rows, numbered
from ehrkg.evaluation.measures.summary import BY_MODEL, filled, mean_columns
from ehrkg.foundation.errors import UsageError

BINS = 10
"""Bins of equal width; as many as are usual where there are a few hundred questions or more."""

CALIBRATION = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("setting", pa.string()),
        ("task", pa.string()),
        ("format", pa.string()),
        ("items", pa.int32()),
        ("confidence", pa.float64()),  # the mean probability of the likeliest option
        ("accuracy", pa.float64()),  # of the likeliest option
        ("ece", pa.float64()),
        ("brier", pa.float64()),
    ]
)

RELIABILITY = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("setting", pa.string()),
        ("format", pa.string()),
        ("bin", pa.int32()),  # from 0; of equal width, closed above
        ("items", pa.int32()),
        ("patients", pa.int32()),
        ("confidence", pa.float64()),
        ("accuracy", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)

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
    ICML). Of k options that tie each is the likeliest to 1/k, as everywhere here.

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
    confidence, hit = _likeliest(table, right)
    gaps = np.bincount(_bin_of(confidence, bins), weights=hit - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(table))


def _bin_of(confidence: Floats, bins: int) -> npt.NDArray[np.int64]:
    """The bin of each confidence: of equal width, closed above."""
    found: npt.NDArray[np.int64] = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], confidence)
    return found


def calibration_of(scores: pa.Table, *, bins: int = BINS) -> pa.Table:
    """Calibration by model, setting, task and format, where there are likelihoods.

    ``ece`` is ``calibration_error``, ``brier`` is ``brier``: formulas and sources stand there.

    Args:
        scores: the schema ``SCORES``; rows without ``probabilities`` are left out.
        bins: of the calibration error.

    Returns:
        The schema ``CALIBRATION``, rounded to 4.

    Raises:
        UsageError: what stands as probabilities is none, or does not fit the options.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> scores = evaluate(example(), Chance()).scores
    >>> calibration_of(scores).num_rows  # chance has no probabilities
    0
    """
    part = _with_likelihoods(scores)
    groups = group_rows(part, (*BY_MODEL, "task", "format"))
    table = _padded(part["probabilities"].combine_chunks()) if part.num_rows else np.zeros((0, 1))
    right = np.asarray(part["answer_index"], dtype=np.int64)
    found = np.zeros((4, len(groups)))
    for at in range(len(groups)):
        rows = groups.of == at
        mine, answers = table[rows], right[rows]
        confidence, hit = _likeliest(mine, answers)
        found[:, at] = (
            confidence.mean(),
            hit.mean(),
            calibration_error(mine, answers, bins=bins),
            brier(mine, answers),
        )
    names = ("confidence", "accuracy", "ece", "brier")
    counts = np.bincount(groups.of, minlength=len(groups)).astype(np.float64)
    numbers = dict(zip(names, found, strict=True))
    return filled(CALIBRATION, groups.keys, {"items": counts}, numbers)


def reliability_of(scores: pa.Table, *, bins: int = BINS, seed: int = 7) -> pa.Table:
    """How often the likeliest option is right, by how likely it was found: the bins of the ECE.

    The reliability diagram (Murphy and Winkler 1977, Applied Statistics 26:41; of classifiers
    Niculescu-Mizil and Caruana 2005, ICML), by model, setting and format, all tasks together. A bin
    without a question has no row.

    Args:
        scores: the schema ``SCORES``; rows without ``probabilities`` are left out.
        bins: how many.
        seed: of the bootstrap over patients.

    Returns:
        The schema ``RELIABILITY``, rounded to 4.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, evaluate
    >>> reliability_of(evaluate(example(), Chance()).scores).num_rows
    0
    """
    part = _with_likelihoods(scores)
    table = _padded(part["probabilities"].combine_chunks()) if part.num_rows else np.zeros((0, 1))
    confidence, hit = _likeliest(table, np.asarray(part["answer_index"], np.int64))
    part = part.append_column("bin", pa.array(_bin_of(confidence, bins), pa.int32()))
    groups = group_rows(part, (*BY_MODEL, "format", "bin"))
    right = clustered_means(hit, groups, numbered(part["cluster"]), seed=seed)
    sums = np.bincount(groups.of, weights=confidence, minlength=len(groups))
    sure = {"confidence": sums / np.maximum(right.n, 1)}
    return filled(RELIABILITY, groups.keys, mean_columns("accuracy", right), sure)


def _with_likelihoods(scores: pa.Table) -> pa.Table:
    return scores.filter(
        pc.and_(pc.is_valid(scores["probabilities"]), pc.is_valid(scores["answer_index"]))
    )


def _likeliest(table: Floats, right: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The likeliest option's probability, and how right it is: 1/k where it is one of k."""
    confidence: Floats = table.max(axis=1)
    tied = table == confidence[:, None]
    hit: Floats = tied[np.arange(len(table)), right] / tied.sum(axis=1)
    return confidence, hit


def _padded(lists: pa.Array) -> Floats:
    """Lists as rows of one table, 0 where a list is shorter; each divided by its sum.

    Probabilities are stored rounded, so their sums are a little off 1.
    """
    sizes = np.diff(np.asarray(lists.offsets))
    row = np.repeat(np.arange(len(lists)), sizes)
    column = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table = np.zeros((len(lists), int(sizes.max(initial=1))))
    table[row, column] = np.asarray(lists.flatten(), dtype=np.float64)
    sums = table.sum(axis=1, keepdims=True)
    near = np.abs(sums - 1) < 1e-4
    return np.where(near, table / np.where(near, sums, 1.0), table)


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
