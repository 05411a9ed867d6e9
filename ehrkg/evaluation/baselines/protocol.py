"""What a baseline is, and how one number for a thing becomes "yes" or "no"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.evaluation.asking.asked import LEARNT_FROM, Asked, Bools

Utilities = Floats | Sequence[npt.NDArray[np.float64]]
"""One number an option: all in one array, one question's after another's, or an array each."""


class Baseline(Protocol):
    """A rule that answers.

    It is given ``Asked``: columns, for who works on arrays, and a sequence of ``Question``, for who
    takes them one by one.
    """

    @property
    def name(self) -> str:
        """As it stands in ``scores.model``."""

    @property
    def key_source(self) -> bool:
        """Whether it is the source of the key, and so shown apart."""

    def utilities(self, questions: Asked) -> Utilities:
        """For each question of choice, one number an option; more is better.

        Of a yes/no question the options are "yes" and "no". Of a question with several right
        answers the best options are chosen, as many as are mostly right.
        """

    def texts(self, questions: Asked) -> Sequence[str]:
        """For each open-ended question, an answer in words ("" for none)."""


def against_cut(asked: Asked, support: Floats) -> Floats:
    """Utilities of options out of the support for their codes.

    Both options of a yes/no question stand for one code, so they have one support. "No" gets a cut
    in its place: of all cuts between two supports, the one that answers most of the training
    questions of its task rightly (a decision stump; Iba and Langley 1992). As with all that is
    learnt, a training patient's cut comes from the other half. Where there is nothing to cut
    between, as for one who finds all alike, "yes" and "no" tie.

    Args:
        asked: the questions.
        support: one number an option; rounded to 6, so that a cut falls between the same two.

    Returns:
        One number an option.
    """
    found = np.round(support, 6)
    yes = np.flatnonzero(asked.affirms)
    if not len(yes):
        return found
    of = asked.of[yes]
    task, fold, right = asked.task[of], asked.fold[of], asked.right[yes]
    no = np.flatnonzero(asked.is_form("yesno")[asked.of] & ~asked.affirms)
    for number in np.unique(task):
        for place, halves in enumerate(LEARNT_FROM):
            here = (task == number) & (fold == place)
            if here.any():
                known = (task == number) & np.isin(fold, halves)
                found[no[here]] = _cut(found[yes[known]], right[known], found[yes[here]])
    return found


def _cut(known: Floats, right: Bools, asked: Floats) -> Floats:
    """What "no" is worth to each asked: the learnt cut, or as much as "yes" where none is."""
    values, at = np.unique(known, return_inverse=True)
    if len(values) < 2:
        return asked
    yes = np.bincount(at, weights=right)
    no = np.bincount(at, weights=~right)
    rightly = np.cumsum(no)[:-1] + yes.sum() - np.cumsum(yes)[:-1]
    best = int(np.argmax(rightly))
    return np.full(len(asked), np.round((values[best] + values[best + 1]) / 2, 7))
