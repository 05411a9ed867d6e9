"""Levelled odds: each code is the answer in about 1/k of the k-option questions it appears in.

Three steps. Only what is an answer somewhere is drawn as a distractor, since a code that is never
the answer gives itself away. Each such code gets a price, raised where it is drawn too rarely and
lowered where too often, until it is drawn about k - 1 times for each time it is the answer (the
dual of a transport problem, solved by an auction as in Bertsekas 1988). What can't be levelled by
prices, because too few questions may hold a code, is levelled by dropping questions, as few as do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ehrkg.benchmark.distractors import Steps, draw, luck
from ehrkg.benchmark.exclusions import Questions, Scores

ITERATIONS = 80
"""Rounds of price setting; after them the counts hardly move (tests hold the result, not this)."""

ROUNDS = 40
"""Rounds of dropping and pricing again."""

SLACK = 0.15
"""A code may be the answer this share oftener or rarer than one time in k ..."""

LEAST_SLACK = 1.0
"""... or by this many answers, where that is more: "about" for a code in a handful of questions."""


@dataclass(frozen=True)
class Fit:
    """What fitting gives for one pool and one number of options.

    Attributes:
        prices: one a member, rounded to 4 digits; minus infinity for whom is never drawn.
        kept: whether each question stands.
        too_few: whether each question was dropped for want of distractors (else: for balance).
    """

    prices: Scores
    kept: npt.NDArray[np.bool_]
    too_few: npt.NDArray[np.bool_]


def fit(questions: Questions, steps: Steps, *, n_options: int, seed: int) -> Fit:
    """Set prices, and drop what can't be levelled.

    Args:
        questions: the templates of one task and ICD version with their candidates.
        steps: what the strategy says of them.
        n_options: k.
        seed: of the draw.
    """
    scores = luck(questions, steps, n_options=n_options, seed=seed)
    size = len(questions.pool.rows)
    kept = np.ones(len(scores), dtype=bool)
    too_few = np.zeros(len(scores), dtype=bool)
    prices = np.zeros(size)
    for _ in range(ROUNDS):
        lack = _drop_unfillable(questions, scores, kept, n_options)
        too_few |= lack
        kept &= ~lack
        if not kept.any():
            break
        prices = _price(questions, scores, kept, prices, n_options)
        chosen = draw(scores[kept] + prices, questions.pool.clash, n_options - 1)
        surplus = _drop_surplus(questions.answers[kept], chosen, size, n_options)
        short = (chosen < 0).any(axis=1)
        if not (surplus | short).any():
            break
        where = np.flatnonzero(kept)
        too_few[where[short]] = True
        kept[where[surplus | short]] = False
    used = np.bincount(questions.answers[kept], minlength=size) > 0
    final = np.where(used, np.round(prices, 4), -np.inf)
    return Fit(final, kept, too_few & ~kept)


def surplus_of(
    answers: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64], size: int, n_options: int
) -> npt.NDArray[np.int64]:
    """How far each member is the answer too often: (k - 1) x answers - times drawn.

    >>> surplus_of(np.array([0, 1]), np.array([[1], [0]]), 2, 2)
    array([0, 0])
    """
    asked = np.bincount(answers, minlength=size)
    drawn = np.bincount(chosen[chosen >= 0].ravel(), minlength=size)
    return (n_options - 1) * asked - drawn


def slack_of(appearances: npt.NDArray[np.int64], n_options: int) -> Scores:
    """By how much ``surplus_of`` may differ from nought for a code that appears so often."""
    share: Scores = np.maximum(LEAST_SLACK * n_options, SLACK * appearances)
    return share


def _drop_unfillable(
    questions: Questions, scores: Scores, kept: npt.NDArray[np.bool_], n_options: int
) -> npt.NDArray[np.bool_]:
    """Questions that can't be filled from codes that are answers of questions that can."""
    size = len(questions.pool.rows)
    lack = np.zeros(len(scores), dtype=bool)
    while True:
        left = kept & ~lack
        used = np.bincount(questions.answers[left], minlength=size) > 0
        chosen = draw(
            np.where(used, scores[left], -np.inf), questions.pool.clash, n_options - 1
        )
        short = (chosen < 0).any(axis=1)
        if not short.any():
            return lack
        lack[np.flatnonzero(left)[short]] = True


def _price(
    questions: Questions,
    scores: Scores,
    kept: npt.NDArray[np.bool_],
    prices: Scores,
    n_options: int,
) -> Scores:
    """Prices under which each member is drawn k - 1 times for each time it is the answer."""
    size = len(prices)
    answers = questions.answers[kept]
    target = (n_options - 1) * np.bincount(answers, minlength=size)
    start = np.where(np.isfinite(prices), prices, 0.0)
    current = np.where(target > 0, start, -np.inf)
    best, least = current, np.inf
    mine = scores[kept]
    for round_ in range(ITERATIONS):
        chosen = draw(mine + current, questions.pool.clash, n_options - 1)
        drawn = np.bincount(chosen[chosen >= 0].ravel(), minlength=size)
        off = float(np.abs(target - drawn).sum())
        if off < least:
            best, least = current, off
        rate = 0.8 / (1 + round_ / 20)
        change = rate * np.log((target + 0.5) / (drawn + 0.5))
        current = np.where(target > 0, np.round(np.clip(current + change, -30, 30), 4), -np.inf)
    return best


def _drop_surplus(
    answers: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int64],
    size: int,
    n_options: int,
) -> npt.NDArray[np.bool_]:
    """The questions to drop: the code that is the answer far too often loses some.

    Of its questions those go first whose distractors are themselves drawn too often. At most half
    of what is too much goes in one round: prices may level the rest once the worst is gone.
    """
    gone = np.zeros(len(answers), dtype=bool)
    surplus = surplus_of(answers, chosen, size, n_options).astype(np.float64)
    appears = np.bincount(answers, minlength=size) + np.bincount(
        chosen[chosen >= 0].ravel(), minlength=size
    )
    excess = np.abs(surplus) - slack_of(appears, n_options)
    if not (excess > 0).any():
        return gone
    for member in _worst_first(surplus, excess):
        mine = np.flatnonzero(answers == member)
        relief = surplus[chosen[mine]].sum(axis=1)
        ordered = mine[np.lexsort((mine, relief))]
        gone[ordered[: max(1, int(surplus[member] / (2 * (n_options - 1))))]] = True
    return gone


def _worst_first(surplus: Scores, excess: Scores) -> Sequence[int]:
    """Members that are the answer too often and out of bounds; failing such, the most too often."""
    out = [int(at) for at in np.flatnonzero((excess > 0) & (surplus > 0))]
    return out or [int(surplus.argmax())]
