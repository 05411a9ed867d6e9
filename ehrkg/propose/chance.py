"""How likely chance alone is to bring two things together so often: Fisher's exact test, one-sided.

Of many pairs at once, by their integer counts: the tail of the hypergeometric distribution is
summed from its largest term on, in as many steps as the slowest pair needs, and only for the pairs
that still change.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SMALL = 1e-10
"""A term that adds less than this part to the sum is the last: p is kept to six digits."""


def at_least(n: Counts, head: Counts, tail: Counts, places: Counts) -> Floats:
    """The chance of ``n`` meetings or more, where head and tail are strewn over places blindly.

    Args:
        n: meetings, by pair; 1 or more.
        head: how many places hold the head.
        tail: how many hold the tail.
        places: how many there are.

    Fisher, R. A. (1935), The Logic of Inductive Inference; the tail by the ratio of neighbouring
    terms of the hypergeometric distribution.

    >>> one = np.array([8]), np.array([9]), np.array([10]), np.array([20])
    >>> at_least(*one).round(6).tolist()
    [0.002739]
    """
    upper = n * (places + 2) > (head + 1) * (tail + 1)  # beyond the mode the terms only fall
    first = np.where(upper, n, n - 1)
    least, most = np.maximum(0, head + tail - places), np.minimum(head, tail)
    found = np.zeros(len(n))
    inside = np.flatnonzero((first >= least) & (first <= most))
    logs = _log_factorials(int(places.max(initial=0)))
    terms = _terms(logs, *(each[inside] for each in (first, head, tail, places)))
    for rising in (True, False):
        side = upper[inside] == rising
        at = inside[side]
        found[at] = _sum(terms[side], first[at], head[at], tail[at], places[at], rising)
    chance: Floats = np.clip(np.where(upper, found, 1 - found), 0.0, 1.0)
    return chance


def _log_factorials(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1, dtype=np.float64)))])


def _terms(logs: Floats, k: Counts, head: Counts, tail: Counts, places: Counts) -> Floats:
    """The chance of exactly k meetings."""
    ways = logs[head] - logs[k] - logs[head - k]
    ways += logs[places - head] - logs[tail - k] - logs[places - head - tail + k]
    terms: Floats = np.exp(ways - (logs[places] - logs[tail] - logs[places - tail]))
    return terms


def _sum(term: Floats, k: Counts, head: Counts, tail: Counts, places: Counts, up: bool) -> Floats:
    """The term of k and all beyond it, upwards or downwards."""
    total = term.copy()
    rest = places - head - tail
    at = np.arange(len(k))
    while len(at):
        if up:
            ratio = (head - k) * (tail - k) / ((k + 1) * (rest + k + 1))
            k = k + 1
        else:
            ratio = k * (rest + k) / ((head - k + 1) * (tail - k + 1))
            k = k - 1
        term = term * ratio
        total[at] += term
        left = term > SMALL * total[at]
        at, term, k = at[left], term[left], k[left]
        head, tail, rest = head[left], tail[left], rest[left]
    return total
