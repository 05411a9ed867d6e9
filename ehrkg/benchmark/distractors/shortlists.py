"""Short lists: the candidates that a question draws from, and the draw.

Every question has up to ``LONGEST`` candidates, those with the best luck. Luck is a Gumbel number
out of a hash, less what the strategy's steps cost: the n best of luck plus price are then a
weighted draw without replacement (Efraimidis and Spirakis 2006, in the form with Gumbel numbers) in
which each candidate's number comes from (seed, template, entity) alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ehrkg.benchmark.distractors.exclusions import Questions, Scores
from ehrkg.benchmark.facts.possible import settings
from ehrkg.benchmark.facts.support import Grid
from ehrkg.foundation.hashing import hash_strings, uniform

Ints = npt.NDArray[np.int64]
Steps = npt.NDArray[np.signedinteger[Any]]

TOO_FAR = -1
"""In a grid of steps: this candidate can't stand beside this answer under the strategy."""

LONGEST = 32
"""Candidates a list; the bits of the word in which it is kept which of them clash."""

AT_A_TIME = 4096
"""Rows drawn for together: so many stay near the processor meanwhile."""

_BARS = np.where(
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little") != 0,
    np.float32(-np.inf),
    np.float32(np.inf),
)
"""For each octet of places that are barred, the most that the luck of its eight places may be."""

TIE = 1e-10
"""What a place in the pool costs: luck is rounded, and of equals the first comes first."""

NOBODY = -1

BEFORE = 1000.0
"""More than luck and steps ever amount to."""


@dataclass(frozen=True)
class Shortlist:
    """Candidates of many questions, a row each, best luck first.

    Attributes:
        members: positions in the pool; NOBODY from the place where a row has no more.
        luck: of each candidate; minus infinity for NOBODY.
        steps: of each candidate, as the strategy counts them.
        clash: of each candidate, as bits: with which places of its row it may not stand.
    """

    members: npt.NDArray[np.int32]
    luck: npt.NDArray[np.float32]
    steps: npt.NDArray[np.int16]
    clash: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.members)

    def take(self, rows: npt.NDArray[np.bool_] | Ints) -> Shortlist:
        """Some of the rows."""
        return Shortlist(self.members[rows], self.luck[rows], self.steps[rows], self.clash[rows])

    @classmethod
    def joined(cls, parts: Sequence[Shortlist]) -> Shortlist:
        """The rows of several lists, one after another."""
        return cls(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("members", "luck", "steps", "clash")
            )
        )


def shortlist(
    questions: Questions, steps: Steps, *, seed: int, first: npt.NDArray[np.bool_] | None = None
) -> Shortlist:
    """The candidates that each question draws from.

    Args:
        questions: with who is allowed.
        steps: how far each candidate is off, len(questions) x len(pool); TOO_FAR where it is out.
        seed: names the draw.
        first: members of the pool that come before all others, whatever their luck.
    """
    allowed = questions.allowed & (steps != TOO_FAR)
    row, column = np.nonzero(allowed)
    template = hash_strings(seed, [one["id"] for one in questions.templates])
    entity = hash_strings(seed, [one["entity"] for one in questions.pool.rows])
    draw = uniform(seed, template[row], entity[column])
    gumbel = -np.log(-np.log(np.clip(draw, 1e-12, 1 - 1e-12)))
    luck = np.full(allowed.shape, -np.inf)
    luck[row, column] = np.round(gumbel - settings()["widening"]["step_cost"] * steps[allowed], 5)
    luck -= np.arange(allowed.shape[1]) * TIE
    ordered = luck if first is None else luck + BEFORE * first
    best = _best(ordered, min(LONGEST, allowed.shape[1]))
    shape = (len(allowed), LONGEST)
    members = np.full(shape, NOBODY, np.int32)
    scores = np.full(shape, -np.inf, np.float32)
    stepped = np.zeros(shape, np.int16)
    n = best.shape[1]
    scores[:, :n] = np.take_along_axis(luck, best, axis=1)
    there = np.isfinite(scores[:, :n])
    members[:, :n] = np.where(there, best, NOBODY)
    stepped[:, :n] = np.where(there, np.take_along_axis(steps, best, axis=1), 0)
    return Shortlist(members, scores, stepped, clashes(members, questions.pool.clash))


def _best(luck: Scores, n: int) -> Ints:
    """The columns of the n greatest numbers of each row, greatest first."""
    if n < luck.shape[1]:
        some = np.argpartition(-luck, n - 1, axis=1)[:, :n]
    else:
        some = np.tile(np.arange(luck.shape[1]), (len(luck), 1))
    order = np.argsort(-np.take_along_axis(luck, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1).astype(np.int64)


def clashes(members: npt.NDArray[np.int32], clash: Grid) -> npt.NDArray[np.uint32]:
    """Which places of a row may not stand beside each place, as bits.

    Args:
        members: positions in the pool; NOBODY in places that are empty.
        clash: which two members may not stand in one question.
    """
    bits = np.zeros(members.shape, np.uint32)
    there = members >= 0
    for place in range(members.shape[1]):
        if not there[:, place].any():
            break
        against = clash[members[:, place, None], members] & there & there[:, place, None]
        bits |= against.astype(np.uint32) << np.uint32(place)
    return bits


def draw(candidates: Shortlist, prices: Scores, n: int) -> Ints:
    """The n best of each row, by luck and price, that do not clash with one another.

    Args:
        candidates: the lists.
        prices: one a member of the pool; minus infinity for whom is never drawn.
        n: how many.

    Returns:
        len(candidates) x n places in the lists, best first; -1 from where a row has no more.
    """
    chosen = np.full((len(candidates), n), -1, dtype=np.int64)
    if not len(candidates) or not len(prices):
        return chosen
    # Prices by member, and last, where NOBODY points to, what nobody costs.
    priced = np.append(prices, -np.inf).astype(np.float32)
    for start in range(0, len(candidates), AT_A_TIME):
        part = slice(start, start + AT_A_TIME)
        left = candidates.luck[part] + priced.take(candidates.members[part])
        _draw_from(left, candidates.clash[part], chosen[part])
    return chosen


def _draw_from(left: npt.NDArray[np.float32], clash: npt.NDArray[np.uint32], chosen: Ints) -> None:
    """Fill in the best of each row, one place after another; what clashes with it is out."""
    rows, n = np.arange(len(left)), chosen.shape[1]
    for turn in range(n):
        best = left.argmax(axis=1)
        found = np.isfinite(left[rows, best])
        chosen[found, turn] = best[found]
        if turn + 1 < n:
            barred = clash[rows, best] | (np.uint32(1) << best.astype(np.uint32))
            octets = barred.astype("<u4", copy=False).view(np.uint8)
            # Three times as fast as to write where a mask is set.
            np.minimum(left, _BARS.take(octets, axis=0).reshape(left.shape), out=left)


def members_at(candidates: Shortlist, chosen: Ints) -> Ints:
    """The pool members at some places of the lists; NOBODY where there is none.

    Args:
        candidates: the lists.
        chosen: what ``draw`` gave.
    """
    if not chosen.size:
        return np.full(chosen.shape, NOBODY, dtype=np.int64)
    rows = np.arange(len(chosen))[:, None] * candidates.members.shape[1]
    found = candidates.members.ravel().take(rows + np.maximum(chosen, 0))
    return np.where(chosen >= 0, found, NOBODY).astype(np.int64)
