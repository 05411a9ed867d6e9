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

PATIENCE = 12
"""Price setting ends after so many rounds that brought the counts no nearer to the target."""

ROUNDS = 120
"""Rounds of dropping and pricing again, at most; most pools are level after a fifth of them."""

SLACK = 0.1
"""A code may be the answer this share oftener or rarer than one time in k ..."""

LEAST_SLACK = 0.5
"""... or by this many answers, where that is more.

Small on purpose: codes lean one way by kind. With a whole answer of slack the option that the graph
knows best was right one and a half times as often as chance.
"""


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
    # Only what is an answer somewhere takes part: the rest is never drawn.
    asked = np.unique(questions.answers)
    scores = luck(questions, steps, n_options=n_options, seed=seed)[:, asked]
    answers = np.searchsorted(asked, questions.answers)
    market = Market(scores, answers, questions.pool.clash[np.ix_(asked, asked)], n_options)
    kept, too_few, prices = _levelled(market)
    final = np.full(len(questions.pool.rows), -np.inf)
    used = np.bincount(answers[kept], minlength=len(asked)) > 0
    final[asked[used]] = np.round(prices[used], 4)
    return Fit(final, kept, too_few & ~kept)


@dataclass(frozen=True)
class Market:
    """Questions that want distractors, and the answers of other questions that they may have.

    Attributes:
        scores: luck of each candidate in each question; minus infinity where it may not stand.
        answers: of each question, as a column of the scores.
        clash: which two candidates may not stand together.
        n_options: k.
    """

    scores: Scores
    answers: npt.NDArray[np.int64]
    clash: npt.NDArray[np.bool_]
    n_options: int

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return len(self.clash)

    def asked(self, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """How often each candidate is the answer of a question that is kept."""
        return np.bincount(self.answers[kept], minlength=self.size)

    def drawn(self, kept: npt.NDArray[np.bool_], prices: Scores) -> npt.NDArray[np.int64]:
        """Whom the questions that are kept draw at these prices."""
        return draw(self.scores[kept] + prices, self.clash, self.n_options - 1)


def _levelled(
    market: Market,
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], Scores]:
    """Which questions stand, which lack distractors, and the prices."""
    kept = np.ones(len(market.scores), dtype=bool)
    too_few = np.zeros(len(market.scores), dtype=bool)
    prices = np.zeros(market.size)
    for _ in range(ROUNDS):
        lack = _unfillable(market, kept)
        too_few |= lack
        kept &= ~lack
        if not kept.any():
            break
        prices = _price(market, kept, prices)
        chosen = market.drawn(kept, prices)
        short = (chosen < 0).any(axis=1)
        surplus = _surplus(market, kept, chosen)
        if not (surplus | short).any():
            break
        where = np.flatnonzero(kept)
        too_few[where[short]] = True
        kept[where[surplus | short]] = False
    return kept, too_few, prices


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


def _unfillable(market: Market, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Questions that can't be filled from codes that are answers of questions that can."""
    lack = np.zeros(len(kept), dtype=bool)
    while True:
        left = kept & ~lack
        unused = np.where(market.asked(left) > 0, 0.0, -np.inf)
        short = (market.drawn(left, unused) < 0).any(axis=1)
        if not short.any():
            return lack
        lack[np.flatnonzero(left)[short]] = True


def _price(market: Market, kept: npt.NDArray[np.bool_], prices: Scores) -> Scores:
    """Prices under which each member is drawn k - 1 times for each time it is the answer."""
    target = (market.n_options - 1) * market.asked(kept)
    current = np.where(target > 0, np.where(np.isfinite(prices), prices, 0.0), -np.inf)
    best, least, idle = current, np.inf, 0
    for turn in range(ITERATIONS):
        chosen = market.drawn(kept, current)
        drawn = np.bincount(chosen[chosen >= 0].ravel(), minlength=market.size)
        off = float(np.abs(target - drawn).sum())
        idle += 1
        if off < least:
            best, least, idle = current, off, 0
        if not off or idle >= PATIENCE:
            break
        rate = 0.8 / (1 + turn / 20)
        change = rate * np.log((target + 0.5) / (drawn + 0.5))
        current = np.where(target > 0, np.round(np.clip(current + change, -30, 30), 4), -np.inf)
    return best


def _surplus(
    market: Market, kept: npt.NDArray[np.bool_], chosen: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """The questions to drop: the code that is the answer far too often loses some.

    Of its questions those go first whose distractors are themselves drawn too often. At most half
    of what is too much goes in one round: prices may level the rest once the worst is gone.
    """
    answers, k = market.answers[kept], market.n_options
    gone = np.zeros(len(answers), dtype=bool)
    surplus = surplus_of(answers, chosen, market.size, k).astype(np.float64)
    appears = k * np.bincount(answers, minlength=market.size) - surplus.astype(np.int64)
    excess = np.abs(surplus) - slack_of(appears, k)
    if not (excess > 0).any():
        return gone
    for member in _worst_first(surplus, excess):
        mine = np.flatnonzero(answers == member)
        relief = surplus[chosen[mine]].sum(axis=1)
        ordered = mine[np.lexsort((mine, relief))]
        gone[ordered[: max(1, int(surplus[member] / (2 * (k - 1))))]] = True
    return gone


def _worst_first(surplus: Scores, excess: Scores) -> Sequence[int]:
    """Members that are the answer too often and out of bounds; failing such, the most too often."""
    out = [int(at) for at in np.flatnonzero((excess > 0) & (surplus > 0))]
    return out or [int(surplus.argmax())]
