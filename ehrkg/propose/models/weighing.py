"""How a base model, which follows no instructions, still says what it holds to be true.

It gives sentences a likelihood. How likely "warfarin treats atrial fibrillation" is says little: it
follows from how common the names are. So the sentence stands in a small table with others, made of
heads and tails drawn from the same hospital: what is left of its log-likelihood, once what its head
and what its tail bring anyway is taken away, is held against what is left of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ehrkg.propose.models.asking import Statement

DIGITS = 3
"""Log-likelihoods are rounded before they are compared: their last digits depend on the machine."""

FEWEST_FOILS = 2
"""Foils on either side; with fewer there is nothing to hold a statement against."""

Likelihoods = Callable[[str, Sequence[str]], Sequence[float]]
"""The log-likelihood of each of several endings after one opening."""


class Weighing:
    """Weigh statements against foils.

    Args:
        likelihoods: the model's log-likelihoods. It is always asked for the same endings together,
            whatever was asked before: a batch of other company gives other last digits.
    """

    def __init__(self, likelihoods: Likelihoods) -> None:
        self._likelihoods = likelihoods
        self._held: dict[tuple[str, tuple[str, ...]], tuple[float, ...]] = {}

    def chance(self, statement: Statement) -> float:
        """How often a sentence of the same predicate out of random names would stand out as much.

        The log-likelihoods L of a table with the statement's head and the foil heads as rows, its
        tail and the foil tails as columns, are centred twice: L[i,j] - L[i,.] - L[.,j] + L[.,.],
        the interaction of a two-way layout without replication (Tukey 1949), and an estimate of the
        pointwise mutual information of head and tail (Church and Hanks 1990; for language models
        Holtzman et al. 2021) that takes the names' own likelihood from the foils. The share of
        cells whose interaction is as large as the statement's, itself among them, is the p of a
        permutation test (Phipson and Smyth 2010). It errs upwards where foils hold by chance.

        Returns:
            From one cell's share up to 1; 1 where there are too few foils.
        """
        heads, tails = statement.other_heads, statement.other_tails
        if min(len(heads), len(tails)) < FEWEST_FOILS:
            return 1.0
        openings = [f"{head} {statement.words}" for head in (statement.head, *heads)]
        cells = np.array(
            [
                [*self._row(opening, (statement.tail,)), *self._row(opening, tails)]
                for opening in openings
            ]
        )
        left = cells - cells.mean(1, keepdims=True) - cells.mean(0, keepdims=True) + cells.mean()
        return round(float((left.round(DIGITS) >= left[0, 0].round(DIGITS)).mean()), DIGITS)

    def _row(self, opening: str, endings: tuple[str, ...]) -> tuple[float, ...]:
        place = (opening, endings)
        if place not in self._held:
            found = self._likelihoods(opening, endings)
            self._held[place] = tuple(round(one, DIGITS) for one in found)
        return self._held[place]
