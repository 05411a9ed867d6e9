"""Levelled odds where several options are right: each code is right as often as chance has it.

Of a question with r right ones among k options, each option is right with odds of r in k. So over
all questions in which a code stands it shall be right about as often as the sum of r/k, and right
ones shall stand among the wrong ones neither high nor low by any axis. Each right one has k/r - 1
wrong ones matched to it.

What is right comes in sets, so a price a code (``balance``) leaves little: whoever drops a question
for one of its right ones unlevels the others. Here questions are taken one by one, again and again:
each is taken out, gets the wrong ones that level most, and goes in again if that unlevels less than
a question is worth. What unlevels costs more each turn, as in annealing (Kirkpatrick et al. 1983),
but nothing is left to luck: the order is that of the questions, there and back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from ehrkg.benchmark.distractors.balance import FEW, SLACK, Truths
from ehrkg.benchmark.distractors.shortlists import Ints, Shortlist

LEAST_RIGHT = 2
"""Right ones of a question, at least. What is right in one question only is off by 1 - 2/k answers:
so much any code may be off, for whoever meets it once has nowhere to learn of it."""

TURNS = (8, 32)
"""How often each question is looked at, least and most; then what is not level goes."""

KEPT = 50_000
"""Questions that are kept as plain numbers, ten kilobytes each; of more, each is read anew."""

WORK = 400_000
"""Looks at a question in all, beyond the least: bounds the turns by size."""

AT_ONCE = 200
"""One question in so many goes at once, when what is not level goes."""

PRESSURES = ((0.03, 3.0), (0.1, 8.0))
"""What an answer too many or too few costs in the first turn and in the last, in questions. Which
keeps most can't be told beforehand: each is tried, unless there are more than ``FEW`` questions."""

WITHIN = 0.05
"""The share of it that it costs while a code is within the slack."""

LEAN = 0.08
"""How far right ones may stand out, on the mean of all questions, in any way and by any axis ..."""

SPREAD = 1.0
"""... or this much over the root of their number, where that is more."""

WAYS = 3
"""In which right ones may stand out by an axis: all of them, as the greatest, as the least."""

EXTREME = 4.0
"""What the ends count beside where all stand: most ways to guess pick an end."""

LEANING = 0.5
"""What a question costs that leans as all do, to the end of an axis, in the last turn."""

NEARER = 0.02
"""What better luck by one is worth in choosing who is wrong: it decides among equals."""


@dataclass(frozen=True)
class Sets:
    """Questions with several right ones, and the members of the pool that may be wrong in them.

    Attributes:
        candidates: of each question.
        matched: of each candidate, by place: to which of the right ones it is matched.
        rights: of each question, the positions of the right ones in the pool; NOBODY after them.
        size: of the pool.
        n_options: k.
        axes: numbers of the members by which the right ones shall not stand out.
    """

    candidates: Shortlist
    matched: npt.NDArray[np.int8]
    rights: Ints
    size: int
    n_options: int
    axes: tuple[npt.NDArray[Any], ...] = ()

    def __len__(self) -> int:
        return len(self.rights)


@dataclass(frozen=True)
class Levelled:
    """What levelling gives.

    Attributes:
        kept: whether each question stands.
        too_few: whether each question lacks wrong ones (else it was dropped for balance).
        chosen: of each question, the places in its list of the wrong ones, matched to the right
            ones in turn; -1 after them, and where the question does not stand.
    """

    kept: Truths
    too_few: Truths
    chosen: Ints


def slack_of(expected: float, n_options: int) -> float:
    """By how much a code may be right too often or too rarely, in parts of k.

    Args:
        expected: the sum of r over the questions in which it stands: how often it is right if
            odds are level, times k.
        n_options: k.

    >>> slack_of(2, 6), slack_of(80, 6)
    (4.0, 8.0)
    """
    return max(float(n_options - LEAST_RIGHT), SLACK * expected)


def level(sets: Sets) -> Levelled:
    """Choose who is wrong, and drop what can't be levelled."""
    tried = PRESSURES if len(sets) <= FEW else PRESSURES[:1]
    return max(
        (_level(sets, pressures) for pressures in tried), key=lambda found: int(found.kept.sum())
    )


def _level(sets: Sets, pressures: tuple[float, float]) -> Levelled:
    scale = _Scale(sets)
    turns = max(TURNS[0], min(TURNS[1], WORK // max(1, len(sets))))
    for turn, pressure in enumerate(np.geomspace(*pressures, turns).tolist()):
        scale.turn(pressure, backwards=turn % 2 == 1)
    scale.drop_unlevel()
    scale.add_what_fits(pressures[1])
    chosen: Ints = np.full((len(sets), sets.n_options - LEAST_RIGHT), -1, dtype=np.int64)
    for at, places in scale.held.items():
        chosen[at, : len(places)] = places
    kept = np.isin(np.arange(len(sets)), list(scale.held))
    return Levelled(kept, np.array(scale.too_few, dtype=bool), chosen)


class _Scale:
    """The questions that stand, with how far each code and each axis is off.

    Attributes:
        held: of each question that stands, the places of its wrong ones.
        too_few: which questions lack wrong ones whatever the balance.
    """

    def __init__(self, sets: Sets) -> None:
        self._k = sets.n_options
        self._sets = sets
        self._known: dict[int, _Question] = {}
        self._axes = [axis.tolist() for axis in sets.axes]
        self._surplus = [0] * sets.size  # in parts of k: right (k - r), wrong -r a time
        self._expected = [0] * sets.size  # the sum of r over the questions of a code
        self._lean = [0.0] * (len(self._axes) * WAYS)
        self.held: dict[int, list[int]] = {}
        self.too_few = [self._choose(self._asked(at), 0.0) is None for at in range(len(sets))]

    def turn(self, pressure: float, *, backwards: bool) -> None:
        """Take each question out and, if it is worth what it unlevels, in again.

        Args:
            pressure: what an answer too many or too few costs, in questions.
            backwards: begin with the last.
        """
        order = range(len(self._sets))
        for at in reversed(order) if backwards else order:
            if self.too_few[at]:
                continue
            self._take_out(at)
            places = self._choose(self._asked(at), pressure)
            if places is not None and self._cost(at, places, pressure) < 1:
                self._put_in(at, places)

    def drop_unlevel(self) -> None:
        """Drop questions, those that level most and few at a time, until all is level."""
        while self.held:
            off = {code for code, value in enumerate(self._surplus) if self._off(code, value)}
            leaning = self._leans()
            if not off and not leaning:
                return
            helps = [at for at in sorted(self.held) if not off or self._helps(at, off)]
            relief = {at: self._relief(at) for at in helps}
            going = sorted(helps, key=lambda at: (-relief[at], at))
            for at in going[: max(1, len(self.held) // AT_ONCE)]:
                self._take_out(at)

    def add_what_fits(self, pressure: float) -> None:
        """Add questions that were left out and fit with all codes level.

        Args:
            pressure: as of ``turn``.
        """
        for at in range(len(self._sets)):
            if at in self.held or self.too_few[at]:
                continue
            one = self._asked(at)
            places = self._choose(one, pressure)
            if places is None:
                continue
            before = [abs(value) for value in self._lean]
            self._put_in(at, places)
            who = (*one.rights, *(one.members[place] for place in places))
            worse = any(abs(value) > was for value, was in zip(self._lean, before, strict=True))
            if any(self._off(code, self._surplus[code]) for code in who) or (
                worse and self._leans()
            ):
                self._take_out(at)

    # ---- one question ----

    def _asked(self, at: int) -> _Question:
        """A question; kept unless there are too many to keep."""
        found = self._known.get(at)
        if found is None:
            found = _Question.of(self._sets, at)
            if len(self._sets) <= KEPT:
                self._known[at] = found
        return found

    def _choose(self, one: _Question, pressure: float) -> list[int] | None:
        """Places of the wrong ones that unlevel least, the right ones in turn; None: too few."""
        n_right = len(one.rights)
        pulls = self._pulls()
        share = LEANING / (self._k - n_right)
        costs = [
            pressure
            * (
                self._price(code, -n_right, n_right)
                + share * sum(map(mul, pulls, self._alone(one, place)))
            )
            - NEARER * one.luck[place]
            if code >= 0
            else 0.0
            for place, code in enumerate(one.members)
        ]
        chosen: list[int] = []
        barred = 0
        for turn in range(self._k - n_right):
            matched = one.by_right[turn % n_right]
            left = [place for place in matched if not barred >> place & 1]
            if not left:
                return None
            best = min(left, key=costs.__getitem__)
            chosen.append(best)
            barred |= one.clash[best] | 1 << best
        return chosen

    def _alone(self, one: _Question, place: int) -> list[float]:
        """How right ones stand beside one candidate."""
        if place not in one.alone:
            one.alone[place] = self._standing(one, [one.members[place]])
        return one.alone[place]

    def _cost(self, at: int, places: list[int], pressure: float) -> float:
        """What a question that is out would cost if it were in, in questions."""
        one = self._asked(at)
        n_right = len(one.rights)
        wrong = [one.members[place] for place in places]
        cost = sum(self._price(code, self._k - n_right, n_right) for code in one.rights)
        cost += sum(self._price(code, -n_right, n_right) for code in wrong)
        return pressure * (cost + self._leaning_of(one, wrong))

    def _price(self, code: int, worth: int, n_right: int) -> float:
        """What it costs, in answers, to move a code's surplus."""
        before, expected = self._surplus[code], self._expected[code]
        after = before + worth
        beyond = max(0.0, abs(after) - slack_of(expected + n_right, self._k))
        beyond -= max(0.0, abs(before) - slack_of(expected, self._k))
        return (beyond + WITHIN * (abs(after) - abs(before))) / self._k

    def _leaning_of(self, one: _Question, wrong: list[int]) -> float:
        """What it costs that wrong ones let a question lean as all do."""
        leans: float = sum(map(mul, self._pulls(), self._standing(one, wrong)), 0.0)
        return LEANING * leans

    def _pulls(self) -> list[float]:
        """How far all lean in each way, from -1 to 1 where it is as far as they may."""
        reach = max(1.0, self._reach())
        return [max(-1.0, min(1.0, lean / reach)) for lean in self._lean]

    def _standing(self, one: _Question, wrong: list[int]) -> list[float]:
        return [value for axis in self._axes for value in _stand(axis, one.rights, wrong, self._k)]

    def _put_in(self, at: int, places: list[int]) -> None:
        self.held[at] = places
        self._move(at, places, 1)

    def _take_out(self, at: int) -> None:
        places = self.held.pop(at, None)
        if places is not None:
            self._move(at, places, -1)

    def _move(self, at: int, places: list[int], sign: int) -> None:
        one = self._asked(at)
        n_right = len(one.rights)
        wrong = [one.members[place] for place in places]
        for code, worth in self._worths(one, places):
            self._surplus[code] += sign * worth
            self._expected[code] += sign * n_right
        # Rounded, so that what goes in and out again leaves nothing.
        self._lean = [
            round(lean + sign * value, 9)
            for lean, value in zip(self._lean, self._standing(one, wrong), strict=True)
        ]

    def _worths(self, one: _Question, places: list[int]) -> list[tuple[int, int]]:
        n_right = len(one.rights)
        right = [(code, self._k - n_right) for code in one.rights]
        return right + [(one.members[place], -n_right) for place in places]

    # ---- what is level ----

    def _off(self, code: int, surplus: int) -> bool:
        return abs(surplus) > slack_of(self._expected[code], self._k)

    def _leans(self) -> bool:
        return any(abs(lean) > self._reach() for lean in self._lean)

    def _reach(self) -> float:
        """How far all questions together may lean by an axis."""
        n = len(self.held)
        return max(LEAN * n, SPREAD * math.sqrt(n))

    def _helps(self, at: int, off: set[int]) -> bool:
        """Whether a code that is off would be less so without the question."""
        return any(
            code in off and self._surplus[code] * worth > 0
            for code, worth in self._worths(self._asked(at), self.held[at])
        )

    def _relief(self, at: int) -> float:
        """How much more level all would be without a question."""
        one, places = self._asked(at), self.held[at]
        found = self._leaning_of(one, [one.members[place] for place in places])
        for code, worth in self._worths(one, places):
            now, slack = abs(self._surplus[code]), slack_of(self._expected[code], self._k)
            after = abs(self._surplus[code] - worth)
            found += (max(0.0, now - slack) - max(0.0, after - slack)) / self._k
        return found


def _stand(
    axis: list[float], rights: list[int], wrong: list[int], n_options: int
) -> tuple[float, float, float]:
    """How right ones stand among wrong ones by an axis: on the mean nought each, if odds are level.

    Returns:
        How high they stand, from -1 (below all) to 1 (above all); and how much oftener than by
        chance the greatest option is right, and the least, times ``EXTREME``.
    """
    mine, other = [axis[one] for one in rights], [axis[one] for one in wrong]
    less = sum((two < one) + (two == one) / 2 for one in mine for two in other)
    chance = len(mine) / n_options
    ends = []
    for end in (max(*mine, *other), min(*mine, *other)):
        hits = mine.count(end)
        ends.append(EXTREME * (hits / (hits + other.count(end)) - chance))
    return 2 * less / (len(mine) * len(other)) - 1, ends[0], ends[1]


@dataclass(frozen=True)
class _Question:
    """A question as plain numbers: its right ones and, by place, its candidates.

    Attributes:
        rights: positions in the pool.
        by_right: of each right one, the places of those matched to it.
        members: positions in the pool. luck: of each. clash: of each, as bits.
        alone: how right ones stand beside each alone, once that was asked.
    """

    rights: list[int]
    by_right: list[list[int]]
    members: list[int]
    luck: list[float]
    clash: list[int]
    alone: dict[int, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, sets: Sets, at: int) -> _Question:
        rights = [int(one) for one in sets.rights[at] if one >= 0]
        lists, matched = sets.candidates, sets.matched[at].tolist()
        members = lists.members[at].tolist()
        by_right = [
            [place for place, one in enumerate(members) if one >= 0 and matched[place] == turn]
            for turn in range(len(rights))
        ]
        luck, clash = lists.luck[at].tolist(), lists.clash[at].tolist()
        return cls(rights, by_right, members, luck, clash)
