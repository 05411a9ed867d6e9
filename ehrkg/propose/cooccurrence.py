"""Propose what occurs together more often than chance, within a visit or from one to the next.

Offline and exact: all pairs are counted, piece by piece, and only those that pass get a name and a
row, so memory grows with what is proposed, not with what was seen. Co-occurrence knows no direction
inside a visit, so there it proposes a pair in each direction that a task can use; what it proposes
is a question to the knowledge, not a claim.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.hashing import short_ids
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.propose.chance import at_least
from ehrkg.propose.counting import PairCounts, pair_pieces
from ehrkg.propose.meetings import Counts
from ehrkg.propose.schema import CANDIDATES
from ehrkg.propose.tasks import WITHIN, Task, choose_tasks

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Cooccurrence:
    """A proposer that counts.

    Within visits and from one to the next are judged apart: a pair is proposed for the tasks of
    those spans in which it is seen often enough, more often than chance, and not by chance.

    Args:
        min_within: least number of visits that hold both codes; 2 by default, since what stands
            together once is a proposal of anything.
        min_across: least number of times that the tail is new in the visit after the head's; 1 by
            default: patients return less often than they stay, and newness is the stricter rule.
        min_lift: least smoothed lift, ``(n + k) / (expected + k)``: 1.0 by default, so that a pair
            that chance explains is not proposed.
        smoothing: the ``k`` above: how many expected sightings a pair starts with. It shrinks the
            lift of rare pairs towards 1 (after DuMouchel 1999's empirical Bayes shrinkage, with a
            fixed prior in the place of a fitted one).
        max_p: greatest one-sided hypergeometric p (Fisher's exact test). 0.2 by default: on the
            hundred patients of the MIMIC-IV demo it keeps 87 % of what the knowledge supports, and
            in large tables it holds back the many pairs that meet as often as chance says.

    >>> Cooccurrence(min_within=3).settings()["min_within"]
    3
    >>> Cooccurrence(min_within=0)
    Traceback (most recent call last):
    ehrkg.foundation.errors.UsageError: min_within and min_across must be 1 or more
      do: a pair never seen is no proposal
    """

    min_within: int = 2
    min_across: int = 1
    min_lift: float = 1.0
    smoothing: float = 1.0
    max_p: float = 0.2

    name = "cooccurrence"

    def __post_init__(self) -> None:
        if min(self.min_within, self.min_across) < 1:
            raise UsageError(
                "min_within and min_across must be 1 or more",
                todo="a pair never seen is no proposal",
            )
        if self.smoothing <= 0:
            raise UsageError("smoothing must be above 0", todo="1.0 is the default")

    def settings(self) -> dict[str, object]:
        """See ``Proposer.settings``."""
        return {"proposer": self.name, **asdict(self)}

    def propose(
        self,
        hospital: Hospital,
        *,
        tasks: Iterable[str] | None = None,
        ledger: Ledger | None = None,
        progress: Progress | None = None,
    ) -> pa.Table:
        """See ``Proposer.propose``."""
        chosen = choose_tasks(tasks)
        families = sorted(
            {task.end_kinds(relation) for task in chosen for relation in task.relations}
        )
        shown = progress or Silent()
        shown.start("counting pairs of codes", len(families))
        parts: list[pa.Table] = []
        dropped = dict.fromkeys(_REASONS, 0)
        rows_in = 0
        for kinds in families:
            for counts in pair_pieces(hospital, head_kind=kinds[0], tail_kind=kinds[1]):
                judged: dict[tuple[str, ...], Judged] = {}
                for predicate, spans, names in _uses(chosen, kinds):
                    if spans not in judged:
                        judged[spans] = self._judge(counts, spans)
                    for reason, n in judged[spans].dropped.items():
                        dropped[reason] += n
                    rows_in += judged[spans].seen
                    parts.append(_as_candidates(judged[spans], predicate, names, self.name))
            shown.advance()
        table = pa.concat_tables(parts).sort_by("id") if parts else CANDIDATES.empty_table()
        if ledger is not None:
            ledger.record(
                "propose", "pair", rows_in=rows_in, rows_out=table.num_rows, dropped=dropped
            )
        return table

    def _judge(self, counts: PairCounts, spans: tuple[str, ...]) -> Judged:
        """Keep the pairs that pass in a span: often enough, with lift, and no chance, all there."""
        scores = [
            self._score(counts, span, self.min_within if span == WITHIN else self.min_across)
            for span in spans
        ]
        seen = np.any([one.n > 0 for one in scores], axis=0)
        often = np.array([one.often for one in scores])
        lifted = np.array([one.lifted for one in scores])
        passing = lifted & np.array([one.p_value <= self.max_p for one in scores])
        left = [int(np.count_nonzero(mask.any(axis=0))) for mask in (often, lifted, passing)]
        before = [int(np.count_nonzero(seen)), *left[:2]]
        dropped = {
            reason: more - fewer for reason, more, fewer in zip(_REASONS, before, left, strict=True)
        }
        kept = passing.any(axis=0)
        p_value = np.where(passing, np.array([one.p_value for one in scores]), np.inf)
        best = np.argmin(p_value, axis=0)  # of two that are equal the first, in the spans' order
        pairs = counts.pairs
        for name in ("lift", "p_value"):
            values = np.array([getattr(one, name) for one in scores])
            pairs = pairs.append_column(name, pa.array(_chosen(values, best)))
        return Judged(
            pairs.filter(pa.array(kept)),
            {span: passing[at][kept] for at, span in enumerate(spans)},
            before[0],
            dropped,
        )

    def _score(self, counts: PairCounts, span: str, least: int) -> Score:
        """Lift of the pairs that are seen often enough, p of those whose lift is high enough."""
        n, head, tail, places = counts.margins(span)
        lift, p_value = np.zeros(len(n)), np.ones(len(n))
        often = n >= least
        at = np.flatnonzero(often)
        expected = head[at] * tail[at] / places[at]
        lift[at] = np.round((n[at] + self.smoothing) / (expected + self.smoothing), 4)
        lifted = often & (lift > self.min_lift)
        at = np.flatnonzero(lifted)
        p_value[at] = np.round(at_least(n[at], head[at], tail[at], places[at]), 6)
        return Score(n, often, lifted, lift, p_value)


def everything_seen(hospital: Hospital, tasks: Iterable[str] | None) -> pa.Table:
    """Every relation that a task could use between codes that were seen together at all.

    What a proposer that does not count chooses from: CANDIDATES with their counts, none left out.
    """
    return Cooccurrence(min_within=1, min_across=1, min_lift=0.0, max_p=1.0).propose(
        hospital, tasks=tasks
    )


_REASONS = ("below_min_count", "below_min_lift", "above_max_p")


@dataclass(frozen=True)
class Judged:
    """What is kept of the pairs of one family.

    Attributes:
        pairs: with lift and p of the span they pass in; of the one with the smaller p, if of two.
        passed: by span, which of the pairs pass in it.
        seen: how many pairs were seen in any of the spans.
        dropped: how many were not kept, by the first reason that no span escapes.
    """

    pairs: pa.Table
    passed: dict[str, Mask]
    seen: int
    dropped: dict[str, int]


@dataclass(frozen=True)
class Score:
    """By pair, in one span.

    Attributes:
        n: sightings.
        often: whether they are enough.
        lifted: whether lift is enough too.
        lift: smoothed, to 4 digits; 0 where there are too few sightings.
        p_value: to 6 digits; 1 where lift is too small.
    """

    n: Counts
    often: Mask
    lifted: Mask
    lift: Floats
    p_value: Floats


def _chosen(values: Floats, best: npt.NDArray[np.intp]) -> Floats:
    """The value of the best span, by pair."""
    picked: Floats = np.take_along_axis(values, best[np.newaxis, :], axis=0)[0]
    return picked


def _uses(
    chosen: tuple[Task, ...], kinds: tuple[str, str]
) -> list[tuple[str, tuple[str, ...], dict[str, list[str]]]]:
    """For each predicate that joins these kinds: the spans it is wanted in, and tasks by span."""
    by_predicate: dict[str, dict[str, set[str]]] = {}
    for task in chosen:
        for relation in task.relations:
            if task.end_kinds(relation) == kinds:
                spans = by_predicate.setdefault(relation.predicate, {})
                spans.setdefault(task.span, set()).add(task.name)
    return [
        (predicate, tuple(sorted(spans)), {span: sorted(names) for span, names in spans.items()})
        for predicate, spans in sorted(by_predicate.items())
    ]


def _as_candidates(
    judged: Judged, predicate: str, names: dict[str, list[str]], proposer: str
) -> pa.Table:
    pairs, count = judged.pairs, judged.pairs.num_rows
    columns = {name: pairs[name] for name in pairs.column_names}
    for name in ("head", "route", "tail"):
        columns[name] = pairs[name].cast(pa.string())
    columns["predicate"] = _same(predicate, count)
    keys = (columns[name] for name in ("head", "route", "predicate", "tail"))
    columns["id"] = pa.array(short_ids("r", *keys), pa.string())
    columns["tasks"] = _tasks(judged, names)
    columns["proposers"] = _same([proposer], count)
    return pa.table({field.name: columns[field.name] for field in CANDIDATES}).cast(CANDIDATES)


def _tasks(judged: Judged, names: dict[str, list[str]]) -> pa.Array:
    """The tasks of the spans that each pair passes in, sorted."""
    which = sum(mask.astype(np.int64) << at for at, mask in enumerate(judged.passed.values()))
    lists = [
        sorted(
            task for at, span in enumerate(judged.passed) if each >> at & 1 for task in names[span]
        )
        for each in range(1 << len(judged.passed))
    ]
    return pa.array(lists, pa.list_(pa.string())).take(pa.array(which))


def _same(value: str | list[str], count: int) -> pa.Array:
    return pa.array([value]).take(pa.array(np.zeros(count, np.int64)))
