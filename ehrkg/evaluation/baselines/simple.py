"""Baselines that look at the options alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.evaluation.asking.asked import LEARNT_FROM, Asked, Ints, places
from ehrkg.evaluation.baselines.practice import Practice
from ehrkg.evaluation.baselines.protocol import against_cut


@dataclass(frozen=True)
class Chance:
    """Every option alike: the floor that the number of options sets.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation.asking.asked import asked_of
    >>> asked = asked_of(example().to_arrow())
    >>> choices = asked.take(np.flatnonzero(asked.is_form("mcq")))
    >>> set(Chance().utilities(choices).tolist())
    {0.0}
    """

    name: str = "chance"
    key_source: bool = False

    def utilities(self, questions: Asked) -> Floats:
        """See ``Baseline.utilities``."""
        return np.zeros(len(questions.option))

    def texts(self, questions: Asked) -> Sequence[str]:
        """See ``Baseline.texts``: chance says nothing."""
        return [""] * len(questions)


@dataclass(frozen=True, eq=False)
class MostFrequent:
    """The option that the hospital records in most visits of the training patients.

    An open-ended question gets the answer that most training questions of its task have.

    Args:
        codes: ids of codes.
        visits_with: how many training visits hold each: a row a fold of ``LEARNT_FROM``.
        common_answers: fold and task to the answer text.
    """

    codes: pa.Array
    visits_with: Ints
    common_answers: Mapping[tuple[int, str], str]
    name: str = "most frequent option"
    key_source: bool = False

    @classmethod
    def learn(cls, practice: Practice, asked: Asked) -> MostFrequent:
        """Count codes over the visits of training patients, and answers over training items."""
        counts = np.stack([practice.visits_with(fold) for fold in range(len(LEARNT_FROM))])
        return cls(practice.codes, counts, common_answers(asked))

    def utilities(self, questions: Asked) -> Floats:
        """See ``Baseline.utilities``."""
        at = places(questions.codes, self.codes)[questions.option]
        fold = questions.fold[questions.of]
        counts = np.where(at >= 0, self.visits_with[fold, np.maximum(at, 0)], 0)
        return against_cut(questions, counts.astype(np.float64))

    def texts(self, questions: Asked) -> Sequence[str]:
        """See ``Baseline.texts``."""
        return [
            self.common_answers.get((fold, questions.tasks[task]), "")
            for fold, task in zip(questions.fold.tolist(), questions.task.tolist(), strict=True)
        ]


def common_answers(asked: Asked) -> dict[tuple[int, str], str]:
    """For each fold and task, the commonest answer of the open training questions it learns from.

    Of answers that are as common as each other, the first in the alphabet.
    """
    asked = asked.take(np.flatnonzero(asked.is_form("oeq") & (asked.fold > 0)))
    answers = pc.list_element(asked.column("answer"), 0)
    names = answers.unique().sort()
    at = places(answers, names)
    found = {}
    for fold, halves in enumerate(LEARNT_FROM):
        for number, task in enumerate(asked.tasks):
            mine = at[(asked.task == number) & np.isin(asked.fold, halves)]
            if len(mine):
                found[fold, task] = names[int(np.argmax(np.bincount(mine)))].as_py()
    return found
