"""How a base model, which follows no instructions, still says what it holds to be true.

It gives sentences a likelihood. How likely "warfarin treats atrial fibrillation" is says little: it
follows from how common the names are. So the sentence stands in a small table with others, made of
heads and tails drawn from the same hospital: what is left of its log-likelihood, once what its head
and what its tail bring anyway is taken away, is held against what is left of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ehrkg.propose.models.asking import Statement

DIGITS = 3
"""Log-likelihoods are rounded before they are compared: their last digits depend on the machine."""

FEWEST_FOILS = 2
"""Foils on either side; with fewer there is nothing to hold a statement against."""

Sentence = tuple[str, str]
"""An opening ("furosemide treats") and its ending."""

Likelihoods = Callable[[Sequence[Sentence]], Sequence[float]]
"""The log-likelihood of each ending after its opening."""

Floats = npt.NDArray[np.float64]


class Weighing:
    """Weigh statements against foils.

    Args:
        likelihoods: the model's log-likelihoods. It is always asked for the same sentences
            together, whatever was asked before: a batch of other company gives other last digits.
    """

    def __init__(self, likelihoods: Likelihoods) -> None:
        self._likelihoods = likelihoods
        self._held: dict[tuple[Sentence, ...], Floats] = {}

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
        heads, tails, words = statement.other_heads, statement.other_tails, statement.words
        rows = [at for at, head in enumerate(heads) if head != statement.head]
        columns = [at for at, tail in enumerate(tails) if tail != statement.tail]
        if min(len(rows), len(columns)) < FEWEST_FOILS:
            return 1.0
        own, openings = f"{statement.head} {words}", [f"{head} {words}" for head in heads]
        foils = self._weighed((opening, tail) for opening in openings for tail in tails)
        cells = np.empty((len(rows) + 1, len(columns) + 1))
        cells[0, 0] = self._weighed([(own, statement.tail)])[0]
        cells[0, 1:] = self._weighed((own, tail) for tail in tails)[columns]
        cells[1:, 0] = self._weighed((opening, statement.tail) for opening in openings)[rows]
        cells[1:, 1:] = foils.reshape(len(heads), len(tails))[np.ix_(rows, columns)]
        left = cells - cells.mean(1, keepdims=True) - cells.mean(0, keepdims=True) + cells.mean()
        left = left.round(DIGITS)
        return round(float((left >= left[0, 0]).mean()), DIGITS)

    def _weighed(self, sentences: Iterable[Sentence]) -> Floats:
        """Their log-likelihoods; statements of one head, one tail or one predicate share some."""
        asked = tuple(sentences)
        if asked not in self._held:
            self._held[asked] = np.array(self._likelihoods(asked)).round(DIGITS)
        return self._held[asked]
