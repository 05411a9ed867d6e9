"""Meetings of codes as integers: each is one number, and sorting these numbers counts them.

A meeting is a head and a tail in one visit, or a head and, in the patient's next visit, a tail that
is new there. Head, tail and patient are packed into one number of 64 bits, so that a plain sort
brings together what is counted; the heads are taken in pieces, so that memory stays small however
many meetings there are.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_WITHIN_FOLLOWED, _ACROSS = 1, 2
"""The two lowest bits of a meeting: within a visit that another follows; from one to the next."""
_FLAGS = 2


@dataclass(frozen=True)
class Stays:
    """Visits in the order of patients and ordinals.

    Attributes:
        patient: the patient's number.
        ordinal: of the visit among the patient's.
    """

    patient: Counts
    ordinal: Counts

    @cached_property
    def first(self) -> Flags:
        """Whether a visit's row is the first of its patient's."""
        return np.concatenate([[True], self.patient[1:] != self.patient[:-1]])[: len(self.patient)]

    @cached_property
    def before(self) -> Counts:
        """The row of the visit right before, -1 where there is none."""
        rows = np.arange(len(self.patient))
        close = ~self.first
        close[1:] &= self.ordinal[1:] == self.ordinal[:-1] + 1
        return np.where(close, rows - 1, -1)

    @cached_property
    def next(self) -> Counts:
        """The row of the visit right after, -1 where there is none."""
        found = np.full(len(self.patient), -1, np.int64)
        later = np.flatnonzero(self.before >= 0)
        found[self.before[later]] = later
        return found

    @cached_property
    def followed(self) -> Flags:
        """Whether the patient has a later visit."""
        return np.concatenate([~self.first[1:], [False]])[: len(self.patient)]


@dataclass(frozen=True)
class Holdings:
    """What each visit holds, sorted by visit and thing, no pair twice.

    Attributes:
        visit: a row of Stays.
        thing: what it holds.
        visits: how many rows of Stays there are.
        things: how many things there are.
    """

    visit: Counts
    thing: Counts
    visits: int
    things: int

    @classmethod
    def of(cls, visit: Counts, thing: Counts, visits: int, things: int) -> Holdings:
        """The distinct pairs, sorted."""
        keys = np.sort(visit * max(things, 1) + thing)
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)]]
        rows, held = np.divmod(keys, max(things, 1))
        return cls(rows, held, visits, things)

    @cached_property
    def starts(self) -> Counts:
        """Where each visit's things begin, and the end."""
        sizes = np.bincount(self.visit, minlength=self.visits)
        return np.concatenate([[0], np.cumsum(sizes)])

    def many(self, weigh: Flags | None = None) -> Counts:
        """In how many visits each thing stands, or in how many of those that count."""
        rows = self.thing if weigh is None else self.thing[weigh[self.visit]]
        return np.bincount(rows, minlength=self.things)

    def new(self, stays: Stays) -> Holdings:
        """What the visit before does not hold, of visits that are not their patient's first."""
        keys = self.visit * self.things + self.thing
        earlier = stays.before[self.visit]
        sought = earlier * self.things + self.thing
        at = np.minimum(np.searchsorted(keys, sought), max(len(keys) - 1, 0))
        held = (earlier >= 0) & (keys[at] == sought)
        fresh = ~held & (stays.ordinal[self.visit] > 1)
        return Holdings(self.visit[fresh], self.thing[fresh], self.visits, self.things)


@dataclass(frozen=True)
class Met:
    """Pairs that met at least once, by head and tail.

    Attributes:
        head, tail: their numbers.
        within, across: how often they met in a visit, and from one to the next.
        patients: in how many patients.
        followed: how many of the meetings in a visit were in one that another follows.
    """

    head: Counts
    tail: Counts
    within: Counts
    across: Counts
    patients: Counts
    followed: Counts


def meet(heads: Holdings, tails: Holdings, stays: Stays, piece: int) -> Iterator[Met]:
    """Count all meetings, a piece of the heads at a time, by a thread a core.

    Args:
        heads: what each visit holds of heads.
        tails: and of tails.
        stays: the visits.
        piece: about how many meetings are counted at a time; a head is never cut.
    """
    fresh = tails.new(stays)
    order = np.argsort(heads.thing, kind="stable")
    visit, thing = heads.visit[order], heads.thing[order]
    after = stays.next[visit]
    many = np.diff(tails.starts)[visit] + np.where(after >= 0, np.diff(fresh.starts)[after], 0)
    bounds = _bounds(thing, many, heads.things, piece)

    def count(span: tuple[int, int]) -> Met:
        rows = slice(*span)
        return _count(thing[rows], visit[rows], after[rows], tails, fresh, stays)

    threads = os.cpu_count() or 1
    waiting: deque[Future[Met]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for span in bounds:
            waiting.append(pool.submit(count, span))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        for future in waiting:
            yield future.result()


def _bounds(thing: Counts, many: Counts, things: int, piece: int) -> Iterator[tuple[int, int]]:
    """Rows from and to, of heads that have about so many meetings together."""
    ends = np.cumsum(np.bincount(thing, minlength=things))
    sums = np.concatenate([[0], np.cumsum(many)])[ends]
    at = begin = 0
    while at < things:
        before = sums[at - 1] if at else 0
        at = max(int(np.searchsorted(sums, before + piece, side="right")), at + 1)
        end = int(ends[min(at, things) - 1])
        if end > begin:
            yield begin, end
        begin = end


def _count(
    head: Counts, visit: Counts, after: Counts, tails: Holdings, fresh: Holdings, stays: Stays
) -> Met:
    place = int(stays.patient.max(initial=0)).bit_length() + _FLAGS
    shift = place + max(tails.things - 1, 0).bit_length()
    least = int(head[0])
    base = ((head - least) << shift) | (stays.patient[visit] << _FLAGS)
    later = after >= 0
    keys = np.concatenate(
        [
            _meetings(
                base | np.where(stays.followed[visit], _WITHIN_FOLLOWED, 0), visit, tails, place
            ),
            _meetings(base[later] | _ACROSS, after[later], fresh, place),
        ]
    )
    keys.sort()
    pair = keys >> place
    begins = np.flatnonzero(np.concatenate([[True], pair[1:] != pair[:-1]])[: len(pair)])
    who = keys >> _FLAGS
    another = np.concatenate([[True], who[1:] != who[:-1]])[: len(who)]
    pair = pair[begins]
    across = _sums((keys & _ACROSS) != 0, begins)
    return Met(
        head=(pair >> (shift - place)) + least,
        tail=pair & ((1 << (shift - place)) - 1),
        within=np.diff(np.append(begins, len(keys))) - across,
        across=across,
        patients=_sums(another, begins),
        followed=_sums((keys & _WITHIN_FOLLOWED) != 0, begins),
    )


def _meetings(base: Counts, visit: Counts, held: Holdings, place: int) -> Counts:
    """Each base with each thing of its visit."""
    begin = held.starts[visit]
    many = held.starts[visit + 1] - begin
    shift = begin - (np.cumsum(many) - many)
    things = held.thing[np.arange(int(many.sum())) + np.repeat(shift, many)]
    keys: Counts = np.repeat(base, many) | (things << place)
    return keys


def _sums(flags: Flags, begins: Counts) -> Counts:
    if not len(begins):
        return np.zeros(0, np.int64)
    sums: Counts = np.add.reduceat(flags, begins, dtype=np.int64)
    return sums
