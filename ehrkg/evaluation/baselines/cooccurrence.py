"""The option that meets the stem's codes more often than chance has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.evaluation.asking.asked import LEARNT_FROM, Asked, Ints, Told, places
from ehrkg.evaluation.baselines.contexts import (
    Score,
    best_answers,
    by_context,
    context_matrix,
    context_sizes,
)
from ehrkg.evaluation.baselines.practice import Practice
from ehrkg.evaluation.baselines.protocol import against_cut
from ehrkg.propose.tasks import tasks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

PRIOR = 10.0
"""Visits that a code's own are smoothed with: mu of the formula."""


@dataclass(frozen=True, eq=False)
class Meetings:
    """How much likelier each answer is beside each code, for one span and fold.

    Attributes:
        answers: codes that count as answers, as places in ``Cooccurrence.codes``, rising.
        alone: of each code, the association with an answer that it never meets.
        gain: codes by answers, what is added where they meet: a sparse table.
        keys, gains: the same as one rising list of ``code * len(answers) + answer``, and values.
    """

    answers: Ints
    alone: Floats
    gain: csr_matrix
    keys: Ints
    gains: Floats


@dataclass(frozen=True, eq=False)
class Cooccurrence:
    """The option most associated with the context in the visits of the training patients.

    The association of an answer a with a code c of the context is their pointwise mutual
    information (Church and Hanks 1990), with P(a | c) smoothed towards P(a) by a Dirichlet prior of
    mu visits (Zhai and Lafferty 2004)::

        log( (n(a, c) + mu p(a)) / ((n(c) + mu) p(a)) ),   p(a) = (n(a) + 1/2) / (n + 1)

    where n counts visits (of the next visit's task: pairs of consecutive visits, c in the first and
    a in the second). An option's utility is the mean over the context; without a context all
    options are alike. An open-ended question takes the best of the answers that training questions
    of its task have, none of which stands in the stem.

    Args:
        codes: ids of codes, sorted.
        meetings: span and fold to what was counted.
        known: task and fold to the answers of its training questions, as places in ``codes``.
        names: code to the text of an answer.
    """

    codes: pa.Array
    meetings: Mapping[tuple[str, int], Meetings]
    known: Mapping[tuple[str, int], Ints]
    names: Mapping[str, str]
    name: str = "co-occurrence"
    key_source: bool = False

    @classmethod
    def learn(cls, practice: Practice, asked: Asked, names: Mapping[str, str]) -> Cooccurrence:
        """Count the visits in which codes meet whatever is an option or an answer.

        Args:
            practice: the visits.
            asked: the questions, for which codes are asked about.
            names: code to the text of an answer.
        """
        wanted = np.zeros(len(asked.codes), bool)
        wanted[asked.option] = True
        wanted[asked.told.answer[asked.told.answer >= 0]] = True
        answers = places(asked.codes.filter(pa.array(wanted)), practice.codes)
        answers = np.sort(answers[answers >= 0])
        spans = sorted({tasks()[task].span for task in asked.tasks})
        meetings = {
            (span, fold): _meetings(practice, fold, span, answers)
            for span in spans
            for fold in range(len(LEARNT_FROM))
        }
        at = places(asked.codes, practice.codes)
        return cls(practice.codes, meetings, _known(asked.told, at), names)

    def utilities(self, questions: Asked) -> Floats:
        """See ``Baseline.utilities``."""
        at = places(questions.codes, self.codes)
        sizes = context_sizes(questions)
        found = np.zeros(len(questions.option))
        for (span, fold), met in self.meetings.items():
            of_span = [tasks()[task].span == span for task in questions.tasks]
            mine = np.array(of_span, bool)[questions.task] & (questions.fold == fold) & (sizes > 0)
            options = np.flatnonzero(mine[questions.of])
            total = by_context(questions, options, _scores(questions, at, met), np.add)
            found[options] = total / sizes[questions.of[options]]
        return against_cut(questions, found)

    def texts(self, questions: Asked) -> Sequence[str]:
        """See ``Baseline.texts``."""
        names = [self.names.get(code, "") for code in self.codes.to_pylist()]
        said = [""] * len(questions)
        for number, task in enumerate(questions.tasks):
            for fold in range(len(LEARNT_FROM)):
                rows = np.flatnonzero((questions.task == number) & (questions.fold == fold))
                known = self.known.get((task, fold))
                if known is not None and len(rows):
                    best = self._best(
                        questions, rows, self.meetings[tasks()[task].span, fold], known
                    )
                    for row, place in zip(rows.tolist(), best.tolist(), strict=True):
                        said[row] = names[known[place]] if place >= 0 else ""
        return said

    def _best(self, questions: Asked, rows: Ints, met: Meetings, known: Ints) -> Ints:
        at = places(questions.codes, self.codes)
        gains = met.gain[:, np.searchsorted(met.answers, known)]

        def score(part: Ints) -> Floats:
            total = context_matrix(questions, part, at, len(self.codes)) @ gains
            return np.asarray(total.toarray(), np.float64)

        here = places(self.codes.take(pa.array(known)), questions.codes)
        return best_answers(questions, rows, here, score, least=0.0)


def _scores(questions: Asked, at: Ints, met: Meetings) -> Score:
    """The association of options with codes of the context."""
    column = np.full(at.max(initial=-1) + 2, -1, np.int64)
    inside = met.answers < len(column)
    column[met.answers[inside]] = np.flatnonzero(inside)
    answer = np.where(at >= 0, column[at], -1)
    alone = np.where(at >= 0, met.alone[at], 0.0)

    def score(options: Ints, context: Ints) -> Floats:
        answers, codes = answer[questions.option[options]], at[context]
        keys = np.where((answers >= 0) & (codes >= 0), codes * len(met.answers) + answers, -1)
        place = np.minimum(np.searchsorted(met.keys, keys), max(0, len(met.keys) - 1))
        meets = met.keys[place] == keys if len(met.keys) else np.zeros(len(keys), bool)
        gain = met.gains[place] if len(met.keys) else np.zeros(len(keys))
        found: Floats = alone[context] + np.where(meets, gain, 0.0)
        return found

    return score


def _known(told: Told, at: Ints) -> dict[tuple[str, int], Ints]:
    """For each task and fold, the answers that training templates have, as places in codes."""
    found = {}
    answer = np.where(told.answer >= 0, at[told.answer], -1) if len(at) else told.answer
    for task in sorted(set(told.task.tolist())):
        for fold, halves in enumerate(LEARNT_FROM):
            mine = (told.task == task) & np.isin(told.fold, halves) & (answer >= 0)
            if mine.any():
                found[task, fold] = np.unique(answer[mine])
    return found


def _meetings(practice: Practice, fold: int, span: str, answers: Ints) -> Meetings:
    from scipy.sparse import csr_matrix

    counts, given, found, n = practice.meetings(fold, span, answers)
    share = (found + 0.5) / (n + 1)
    counts = counts.tocoo()
    gains = np.log1p(counts.data / (PRIOR * share[counts.col]))
    keys = counts.row.astype(np.int64) * len(answers) + counts.col
    order = np.argsort(keys)
    return Meetings(
        answers=answers,
        alone=np.log(PRIOR / (given + PRIOR)),
        gain=csr_matrix((gains, (counts.row, counts.col)), shape=counts.shape),
        keys=keys[order],
        gains=gains[order],
    )
