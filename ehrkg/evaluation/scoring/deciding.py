"""Utilities in, choices out: what is chosen of each question's options, and how right that is."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.evaluation.asking.asked import LEARNT_FROM, Asked, Bools, Ints
from ehrkg.evaluation.baselines.protocol import Utilities
from ehrkg.foundation.errors import UsageError

DIGITS = 6
"""To which utilities are rounded before they are compared."""

LEAST_OF_SEVERAL = 2
"""How many options are chosen where no training question says how many are right."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was chosen of each question's options; see ``SCORES``."""

    choice: Ints
    chosen: pa.Array
    chosen_codes: pa.Array
    answered: pa.Array
    correct: Floats
    partial: pa.Array


def chosen_of(asked: Asked, utilities: Utilities, several: Ints) -> Chosen:
    """The best option of each question, or the best few where several are right.

    A tie is broken by a fair draw, of which the expected value is told, not one outcome: the best
    option being one of k, the answer among them counts 1/k; of questions with several right answers
    the expected values are those of a hypergeometric draw among the options that tie for the last
    places.

    Args:
        asked: questions with options.
        utilities: see ``Baseline.utilities``; rounded before they are compared.
        several: how many are chosen where several are right: one number a question.

    Raises:
        UsageError: there is not one utility an option.
    """
    if not len(asked):
        none = np.zeros(0)
        lists = pa.array([], pa.list_(pa.int32()))
        texts = pa.array([], pa.string())
        codes = pa.array([], pa.list_(pa.string()))
        return Chosen(none.astype(np.int64), lists, codes, texts, none, pa.array(none))
    values = _flat(utilities, len(asked.option))
    counts = np.where(asked.is_form("multi"), np.minimum(several, asked.sizes), 1)
    draw = _Draw(asked, values, counts)
    one, sure = ~asked.is_form("multi"), draw.spare == 0
    correct: Floats = np.where(one, draw.expected_hits(), draw.exact())
    return Chosen(
        choice=np.where(one & sure, draw.first, -1),
        chosen=_lists(asked, draw.taken, ~one & sure),
        chosen_codes=_codes(asked, draw.taken, sure),
        answered=_texts(asked, draw.taken, sure),
        correct=correct.round(4),
        partial=pa.array(np.round(draw.jaccard(), 4), mask=one),
    )


class _Draw:
    """The best options of each question, and those that tie for the last places among them.

    Args:
        asked: the questions.
        values: utilities.
        counts: how many are taken of each question.
    """

    def __init__(self, asked: Asked, values: Floats, counts: Ints) -> None:
        starts, of = asked.starts[:-1], asked.of
        order = np.lexsort((-values, of))
        last = values[order[starts + counts - 1]][of]
        above, tied = values > last, values == last

        def count(which: Bools) -> Ints:
            found: Ints = np.add.reduceat(which.astype(np.int64), starts)
            return found

        self._counts, self._n_right = counts, count(asked.right)
        self._above, self._tied = count(above), count(tied)
        self._above_right, self._tied_right = count(above & asked.right), count(tied & asked.right)
        self._open = counts - self._above
        self.spare = self._tied - self._open
        self.taken = above | (tied & (self.spare == 0)[of])
        self.first = order[starts] - starts

    def expected_hits(self) -> Floats:
        """Right options among those taken, expected."""
        share = self._tied_right * self._open / np.maximum(1, self._tied)
        found: Floats = self._above_right + share
        return found

    def exact(self) -> Floats:
        """The probability that what is taken is all that is right and nothing else."""
        possible = (
            (self._counts == self._n_right)
            & (self._above_right == self._above)
            & (self._tied_right == self._open)
        )
        return np.where(possible, 1 / _ways(self._tied, self._open), 0.0)

    def jaccard(self) -> Floats:
        """What is taken and right over what is taken or right, expected."""
        total = np.zeros(len(self._counts))
        wrong = self._tied - self._tied_right
        for hits in range(int(self._open.max()) + 1):
            ways = _ways(self._tied_right, hits) * _ways(wrong, self._open - hits)
            right = self._above_right + hits
            union = np.maximum(1, self._counts + self._n_right - right)
            total += ways / _ways(self._tied, self._open) * right / union
        return total


def _ways(n: Ints, k: Ints | int) -> Floats:
    """Binomial coefficients; 0 where k is below 0 or above n."""
    most = int(np.max(n, initial=0)) + 1
    table = np.array([[comb(a, b) for b in range(most + 1)] for a in range(most)], np.float64)
    k = np.broadcast_to(k, n.shape)
    return np.where((k >= 0) & (k <= n), table[n, np.clip(k, 0, most)], 0.0)


def chosen_of_several(asked: Asked) -> Ints:
    """How many options are chosen of each question with several right answers.

    As many as are right in most of the training questions of its task that its fold learns from,
    the least of what is as common; ``LEAST_OF_SEVERAL`` where there is none.
    """
    found = np.full(len(asked), LEAST_OF_SEVERAL, np.int64)
    multi = asked.is_form("multi")
    if multi.any():
        right = np.bincount(asked.of, weights=asked.right, minlength=len(asked)).astype(np.int64)
        for task in np.unique(asked.task[multi]):
            mine = multi & (asked.task == task)
            for fold, halves in enumerate(LEARNT_FROM):
                known = right[mine & np.isin(asked.fold, halves)]
                if len(known):
                    found[mine & (asked.fold == fold)] = np.bincount(known).argmax()
    return found


def _flat(utilities: Utilities, options: int) -> Floats:
    flat = utilities if isinstance(utilities, np.ndarray) else np.concatenate([[], *utilities])
    values = np.asarray(flat, np.float64).reshape(-1)
    if len(values) != options:
        raise UsageError(
            f"{options} options were given, and {len(values)} utilities came back",
            todo="let utilities(questions) give one number for each option of each question",
        )
    return np.round(values, DIGITS)


def _lists(asked: Asked, taken: Bools, told: Bools) -> pa.Array:
    """Places of the options taken, as lists; null where not told."""
    at = np.flatnonzero(taken & told[asked.of])
    place = at - asked.starts[asked.of[at]]
    return _by_question(asked, at, pa.array(place, pa.int32()), told)


def _codes(asked: Asked, taken: Bools, told: Bools) -> pa.Array:
    """Codes of the options taken, as lists; of yes/no the word; null where not told."""
    at = np.flatnonzero(taken & told[asked.of])
    found = asked.codes.take(pa.array(asked.option[at]))
    is_word = asked.is_form("yesno")[asked.of[at]]
    if is_word.any():
        words = pc.if_else(pa.array(asked.affirms[at]), "yes", "no")
        found = pc.if_else(pa.array(is_word), words, found)
    return _by_question(asked, at, found, told)


def _texts(asked: Asked, taken: Bools, told: Bools) -> pa.Array:
    """Texts of the options taken, with "; " between them; null where not told."""
    at = np.flatnonzero(taken & told[asked.of])
    texts = pc.list_flatten(asked.column("options")).take(pa.array(at))
    return pc.binary_join(_by_question(asked, at, texts, told), "; ")


def _by_question(asked: Asked, at: Ints, values: pa.Array, told: Bools) -> pa.Array:
    """A value for each of some options, as a list a question; null where not told."""
    sizes = np.bincount(asked.of[at], minlength=len(asked))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=pa.array(~told))
