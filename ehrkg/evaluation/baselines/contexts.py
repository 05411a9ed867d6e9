"""Options met with the codes that their stem's context tells, a piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.evaluation.asking.asked import Asked, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

PAIRS = 4_000_000
"""Pairs of option and context code that are held at once: some 100 MB."""

OPEN_ROWS = 2048
"""Open questions that are answered at once."""

Score = Callable[[Ints, Ints], Floats]
"""(options, as places in ``Asked.option``; context codes, as places in ``codes``) to numbers."""


def context_sizes(asked: Asked) -> Ints:
    """How many codes each question's stem tells; 0 without stem."""
    lengths = np.diff(asked.told.offsets)
    if not len(lengths):
        return np.zeros(len(asked), np.int64)
    at = asked.stem_template
    return np.where(at >= 0, lengths[np.maximum(at, 0)], 0)


def by_context(asked: Asked, options: Ints, score: Score, reduce: np.ufunc) -> Floats:
    """For each of some options, the scores against its context's codes, reduced to one number.

    Args:
        asked: the questions.
        options: places in ``asked.option``, rising.
        score: of pairs.
        reduce: ``np.add`` or ``np.maximum``.

    Returns:
        One number an option; 0 where no context is told.
    """
    sizes = context_sizes(asked)[asked.of[options]]
    found = np.zeros(len(options))
    for part in _parts(sizes):
        n = sizes[part]
        mine, starts = options[part], np.cumsum(n) - n
        begins = asked.told.offsets[np.maximum(asked.stem_template[asked.of[mine]], 0)]
        within = np.arange(n.sum()) - np.repeat(starts, n)
        pairs = score(np.repeat(mine, n), asked.told.code[np.repeat(begins, n) + within])
        told = n > 0
        if told.any():
            values = np.zeros(len(mine))
            values[told] = reduce.reduceat(pairs, starts[told])
            found[part] = values
    return found


def _parts(sizes: Ints) -> Iterator[slice]:
    """Consecutive slices of about ``PAIRS`` pairs."""
    piece = np.cumsum(sizes) // PAIRS
    edges = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(sizes)]
    for start, stop in pairwise(edges):
        if stop > start:
            yield slice(start, stop)


def context_matrix(asked: Asked, rows: Ints, columns: Ints, width: int) -> csr_matrix:
    """The contexts of some questions as a sparse table, 1 where a code is told.

    Args:
        asked: the questions.
        rows: which, as places.
        columns: for each code the column it stands in, -1 for none.
        width: columns.
    """
    from scipy.sparse import csr_matrix

    sizes = context_sizes(asked)[rows]
    begins = asked.told.offsets[np.maximum(asked.stem_template[rows], 0)]
    starts = np.cumsum(sizes) - sizes
    within = np.arange(sizes.sum()) - np.repeat(starts, sizes)
    code = columns[asked.told.code[np.repeat(begins, sizes) + within]]
    row = np.repeat(np.arange(len(rows)), sizes)
    ones = np.ones(int((code >= 0).sum()), np.float64)
    return csr_matrix((ones, (row[code >= 0], code[code >= 0])), shape=(len(rows), width))


def best_answers(
    asked: Asked, rows: Ints, known: Ints, score: Callable[[Ints], Floats], least: float = -np.inf
) -> Ints:
    """For each of some open questions, the best of the known answers that its stem does not tell.

    Args:
        asked: the questions.
        rows: which, as places.
        known: the answers to choose from, as places in ``asked.codes``; -1 for a code that no
            question has.
        score: some of the rows to a table of a number an answer; rounded here to 6, and of equals
            the first is taken.
        least: an answer that scores no more is none.

    Returns:
        Places in ``known``; -1 for none.
    """
    columns = np.full(len(asked.codes), -1, np.int64)
    columns[known[known >= 0]] = np.flatnonzero(known >= 0)
    found = np.full(len(rows), -1, np.int64)
    for start in range(0, len(rows) if len(known) else 0, OPEN_ROWS):
        part = rows[start : start + OPEN_ROWS]
        scores = np.round(score(part), 6)
        scores[context_matrix(asked, part, columns, len(known)).nonzero()] = -np.inf
        best = scores.argmax(axis=1)
        at_best = scores[np.arange(len(part)), best]
        found[start : start + OPEN_ROWS] = np.where(at_best > least, best, -1)
    return found
