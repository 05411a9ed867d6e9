"""Levelled odds: each code is the answer in about 1/k of the k-option questions it appears in.

Each code gets a price, raised where it is drawn too rarely and lowered where too often, until it is
drawn about k - 1 times for each time it is the answer (the dual of a transport problem, solved by
an auction as in Bertsekas 1988). A code that is never the answer may fill a place that would stay
empty, as often as the slack allows any code and no oftener: what appears twice and is wrong twice
gives nothing away. But such codes are rarer and less well known than answers; so prices favour the
frequent and the well known among them until the answer stands out no more than any other option.
What can't be levelled by prices, because too few questions may hold a code, is levelled by dropping
questions, as few as do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ehrkg.benchmark.distractors.exclusions import Scores
from ehrkg.benchmark.distractors.shortlists import Ints, Shortlist, draw, members_at

ITERATIONS = (20, 80)
"""Rounds of price setting, least and most; the more questions, the sooner the counts settle."""

ROUNDS = (2, 150)
"""Rounds of dropping and pricing again, least and most; then questions are dropped only."""

WORK = 4_000_000
"""Questions that one round of prices, and all of them, may look at: bounds the rounds by size."""

SETTLED = 0.1
"""How much less a price moves while its code is within the slack."""

AT_ONCE = (20, 35, 50, 70)
"""One question in so many is dropped at once, before prices are set again. Which share keeps most
questions can't be told beforehand: each is tried, unless there are more than ``FEW`` questions."""

FEW = 5_000

PATIENCE = 12
"""Price setting ends after so many rounds that brought the counts no nearer to the target."""

SLACK = 0.1
"""A code may be the answer this share oftener or rarer than one time in k ..."""

LEAST_SLACK = 0.5
"""... or by this many answers, where that is more.

Small on purpose: codes lean one way by kind. With a whole answer of slack the option that the graph
knows best was right one and a half times as often as chance.
"""

LEAN = 0.04
"""How far from the middle the answer may stand among its options, on the mean of all questions and
by any axis (0 is the middle, 0.5 always the greatest) ..."""

SPREAD = 0.3
"""... or this much over the root of their number, where that is more: the standard deviation of
where an answer stands that is drawn like any other option."""

TILT = 4.0
"""How fast prices move by what answers lean to."""

Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Fit:
    """What fitting gives for one pool and one number of options.

    Attributes:
        prices: one a member, rounded to 4 digits; minus infinity for whom is never drawn.
        kept: whether each question stands.
        too_few: whether each question was dropped for want of distractors (else: for balance).
        chosen: places in the short lists, a row a question.
    """

    prices: Scores
    kept: Truths
    too_few: Truths
    chosen: Ints


def fit(
    candidates: Shortlist,
    answers: Ints,
    size: int,
    *,
    n_options: int,
    axes: Sequence[npt.NDArray[Any]] = (),
) -> Fit:
    """Set prices, and drop what can't be levelled.

    Args:
        candidates: the short lists of the questions of one task and ICD version.
        answers: position of each question's answer in the pool.
        size: of the pool.
        n_options: k.
        axes: numbers of the members by which the answer shall not stand out, such as how frequent
            they are.
    """
    market = Market(candidates, answers, size, n_options, tuple(axes))
    shares = AT_ONCE if len(answers) <= FEW else AT_ONCE[:1]
    return max((_fit(market, share) for share in shares), key=lambda found: int(found.kept.sum()))


def _fit(market: Market, share: int) -> Fit:
    """Level the odds, dropping one question in so many at once."""
    candidates, n = market.candidates, market.n_options - 1
    prices = np.zeros(market.size)
    too_few: Truths = np.any(draw(candidates, prices, n) < 0, axis=1)
    kept: Truths = ~too_few
    for _ in range(_within(ROUNDS, len(kept))):
        if not kept.any():
            break
        prices = _price(market, kept, prices)
        drawn = market.drawn(kept, prices)
        short = (drawn < 0).any(axis=1)
        going = short if short.any() else _surplus(market, kept, drawn, share, thorough=False)
        if not going.any():
            going = _leaners(market, kept, drawn, share)
        if not going.any():
            break
        too_few[np.flatnonzero(kept)[short]] = True
        kept[np.flatnonzero(kept)[going]] = False
    chosen = draw(candidates, prices, n)
    members = members_at(candidates, chosen)
    too_few |= kept & (members < 0).any(axis=1)
    kept &= ~too_few
    while kept.any():
        going = _surplus(market, kept, members[kept], share, thorough=True)
        if not going.any():
            going = _leaners(market, kept, members[kept], share)
        if not going.any():
            break
        kept[np.flatnonzero(kept)[going]] = False
    kept = _added_back(market, kept, members, ~too_few & ~kept)
    return Fit(prices, kept, too_few, chosen)


def surplus_of(answers: Ints, drawn: Ints, size: int, n_options: int) -> Ints:
    """How far each member is the answer too often: (k - 1) x answers - times drawn.

    >>> surplus_of(np.array([0, 1]), np.array([[1], [0]]), 2, 2)
    array([0, 0])
    """
    asked = np.bincount(answers, minlength=size)
    counts = np.bincount(drawn[drawn >= 0].ravel(), minlength=size)
    return (n_options - 1) * asked - counts


def slack_of(appearances: Ints, n_options: int) -> Scores:
    """By how much ``surplus_of`` may differ from nought for a code that appears so often."""
    share: Scores = np.maximum(LEAST_SLACK * n_options, SLACK * appearances)
    return share


@dataclass(frozen=True)
class Market:
    """Questions that want distractors, and the members of the pool that they may have.

    Attributes:
        candidates: of each question.
        answers: of each question.
        size: of the pool.
        n_options: k.
        axes: numbers of the members by which the answer shall not stand out.
    """

    candidates: Shortlist
    answers: Ints
    size: int
    n_options: int
    axes: tuple[npt.NDArray[Any], ...]

    def drawn(self, kept: Truths, prices: Scores) -> Ints:
        """Whom the questions that are kept draw at these prices."""
        lists = self.candidates.take(kept)
        return members_at(lists, draw(lists, prices, self.n_options - 1))

    def standing(self, kept: Truths, drawn: Ints) -> Scores:
        """Where each answer stands among its options, a column an axis: -0.5 least, 0.5 greatest.

        Args:
            kept: which questions.
            drawn: whom they drew.
        """
        mine = self.answers[kept]
        columns = [_among(axis, drawn, mine) for axis in self.axes]
        return np.column_stack(columns) if columns else np.zeros((len(mine), 0))


def _among(axis: npt.NDArray[Any], drawn: Ints, mine: Ints) -> Scores:
    """The share of a row's others that are less than its own; as less counts half of the equal."""
    own = axis.take(mine)
    halves = np.zeros(len(mine), dtype=np.int8)
    for place in range(drawn.shape[1]):  # places are few and rows many
        other = axis.take(drawn[:, place])
        halves += other < own
        halves += other <= own
    found: Scores = halves / (2 * drawn.shape[1]) - 0.5
    return found


def _within(least_and_most: tuple[int, int], n: int) -> int:
    """How many rounds, by how much work one is."""
    least, most = least_and_most
    return max(least, min(most, WORK // max(1, n)))


def _price(market: Market, kept: Truths, prices: Scores) -> Scores:
    """Prices under which each member is drawn k - 1 times for each time it is the answer."""
    lists, k = market.candidates.take(kept), market.n_options
    asked = np.bincount(market.answers[kept], minlength=market.size)
    # Who is never the answer aims at one appearance; the slack allows a little more.
    target = np.maximum((k - 1) * asked, 1)
    ranks = _ranks(market)
    current, best, least, idle = prices, prices, np.inf, 0
    for turn in range(_within(ITERATIONS, len(lists))):
        found = members_at(lists, draw(lists, current, k - 1))
        drawn = np.bincount(found[found >= 0].ravel(), minlength=market.size)
        surplus = (k - 1) * asked - drawn
        beyond = np.maximum(0, np.abs(surplus) - slack_of(asked + drawn, k))
        lean = market.standing(kept, found).mean(axis=0) if market.axes else np.zeros(0)
        off = float(beyond.sum()) + k * len(lists) * float(
            np.maximum(0, abs(lean) - _bound(len(lists))).sum()
        )
        idle += 1
        if off < least:
            best, least, idle = current, off, 0
        if not off or idle >= PATIENCE:
            break
        rate = 0.8 / (1 + turn / 20) * np.where(beyond > 0, 1.0, SETTLED).astype(np.float64)
        change = rate * np.log((target + 0.5) / (drawn + 0.5)) + TILT * (ranks @ lean)
        current = np.asarray(np.round(np.clip(current + change, -30, 30), 4), dtype=np.float64)
    return best


def _ranks(market: Market) -> Scores:
    """The rank of every member by every axis, a column an axis, from -0.5 to 0.5."""
    columns = [
        np.searchsorted(np.sort(axis), axis, side="left") / max(1, market.size - 1) - 0.5
        for axis in market.axes
    ]
    return np.column_stack(columns) if columns else np.zeros((market.size, 0))


def _added_back(market: Market, kept: Truths, members: Ints, left: Truths) -> Truths:
    """Questions that were dropped and, one by one, fit in again with all codes level."""
    k = market.n_options
    surplus = surplus_of(market.answers[kept], members[kept], market.size, k)
    appears = k * np.bincount(market.answers[kept], minlength=market.size) - surplus
    whole = np.ones(len(kept), dtype=bool)
    standing, n = market.standing(whole, members), int(kept.sum())
    lean = standing[kept].sum(axis=0)
    kept = kept.copy()
    for at in np.flatnonzero(left):
        who = np.append(market.answers[at], members[at])
        after = surplus[who] + np.append(k - 1, np.full(k - 1, -1))
        leans = np.abs(lean + standing[at]) / (n + 1)
        level = (np.abs(after) <= slack_of(appears[who] + 1, k)).all()
        if level and (leans <= np.maximum(_bound(n + 1), np.abs(lean) / max(1, n))).all():
            kept[at] = True
            surplus[who], appears[who] = after, appears[who] + 1
            lean, n = lean + standing[at], n + 1
    return kept


def _surplus(market: Market, kept: Truths, drawn: Ints, share: int, *, thorough: bool) -> Truths:
    """The questions to drop next, among those that are kept; none where all is level.

    A code that is the answer too often loses some of its questions, one that is a distractor too
    often some of those it stands in. Those go first that bring most members nearer to level. Of
    what is too much at most half goes at once; unless thorough, only from the codes that are the
    answer too often, where there are such: prices may level the rest.
    """
    answers, k = market.answers[kept], market.n_options
    surplus = surplus_of(answers, drawn, market.size, k).astype(np.float64)
    asked = np.bincount(answers, minlength=market.size)
    appears = k * asked - surplus.astype(np.int64)
    slack = slack_of(appears, k)
    over: Scores = (surplus - slack).clip(min=0)
    under: Scores = (-surplus - slack).clip(min=0)
    gone = np.zeros(len(answers), dtype=bool)
    if not over.any() and not under.any():
        return gone
    sides: Scores = np.where(over > 0, 1.0, np.where(under > 0, -1.0, 0.0))
    relief: Scores = (k - 1) * sides[answers] - sides[drawn].sum(axis=1)
    if over.any():
        gone |= _first_of(answers, over / (k - 1), relief)
    if under.any() and (thorough or not gone.any()):
        for place in range(drawn.shape[1]):
            gone |= _first_of(drawn[:, place], under / (k - 1), relief)
    worth = relief + k * _leaning(market.standing(kept, drawn)) + over[answers] / len(answers)
    return _at_most(gone, worth, max(1, len(gone) // share))


def _bound(n: int) -> float:
    """How far the answers of so many questions may lean."""
    return max(LEAN, SPREAD / math.sqrt(max(1, n)))


def _leaning(standing: Scores) -> Scores:
    """How much each question adds to what the answers of all lean to."""
    if not standing.size:
        return np.zeros(len(standing))
    mean = standing.mean(axis=0)
    found: Scores = standing @ (
        np.sign(mean) * np.minimum(1.0, np.abs(mean) / _bound(len(standing)))
    )
    return found


def _leaners(market: Market, kept: Truths, drawn: Ints, share: int) -> Truths:
    """The questions to drop next for what all lean to, among those kept; none if it is little."""
    standing = market.standing(kept, drawn)
    gone = np.zeros(len(standing), dtype=bool)
    if not standing.size or (np.abs(standing.mean(axis=0)) <= _bound(len(standing))).all():
        return gone
    worth = _leaning(standing)
    order = np.lexsort((np.arange(len(worth)), -worth))
    gone[order[: max(1, len(gone) // (2 * share))]] = True
    return gone & (worth > 0)


def _at_most(gone: Truths, worth: Scores, most: int) -> Truths:
    """Those that are worth most, and few at a time: each that goes moves all whom it held."""
    at = np.flatnonzero(gone)
    if len(at) <= most:
        return gone
    kept = np.zeros_like(gone)
    kept[at[np.lexsort((at, -worth[at]))][:most]] = True
    return kept


def _first_of(members: Ints, excess: Scores, relief: Scores) -> Truths:
    """Of each member's questions as many as half of its excess (one at least), by their relief."""
    at = np.flatnonzero(excess[members] > 0)
    order = at[np.lexsort((at, -relief[at], members[at]))]
    held = members[order]
    rank = np.arange(len(order)) - np.searchsorted(held, held)
    gone = np.zeros(len(members), dtype=bool)
    gone[order[rank < np.maximum(1, excess[held] / 2)]] = True
    return gone
