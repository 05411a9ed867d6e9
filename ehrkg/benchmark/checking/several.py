"""What is measured of questions with several right answers alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.distractors.right_ones import MULTI
from ehrkg.benchmark.distractors.several_balance import slack_of
from ehrkg.benchmark.distractors.shortlists import Ints
from ehrkg.benchmark.opened.benchmark import Benchmark
from ehrkg.propose.tasks import tasks


def numbers_right(benchmark: Benchmark) -> Iterator[tuple[str, Ints]]:
    """How many options are right, by task: one number a question."""
    part = benchmark.filter(format=MULTI)
    tasks_of = np.array(part.column("task").to_pylist(), dtype=object)
    n_right = np.asarray(pc.list_value_length(part.column("answer")), dtype=np.int64)
    for task in sorted(set(tasks_of.tolist())):
        yield task, n_right[tasks_of == task]


def unlevelled_sets(benchmark: Benchmark) -> Iterator[tuple[str, str, list[str], int]]:
    """Things that are right far more or less often than their questions' right ones are.

    Returns:
        Task, strategy, such things, and how many were looked at.
    """
    part = benchmark.filter(format=MULTI)
    asked = list(
        zip(part.column("task").to_pylist(), part.column("strategy").to_pylist(), strict=True)
    )
    for task, strategy in sorted(set(asked)):
        mine = [at for at, one in enumerate(asked) if one == (task, strategy)]
        options, codes, answers, eras = (
            part.column(name).take(pa.array(mine)).to_pylist()
            for name in ("options", "option_codes", "answer", "icd_version")
        )
        surplus: dict[str, int] = {}
        expected: dict[str, int] = {}
        k = max(len(one) for one in options)
        for texts, held, right, era in zip(options, codes, answers, eras, strict=True):
            # Drugs are things by name and, as their pools are, by the visits' ICD version.
            drugs = tasks()[task].asks_for_drugs
            things = [f"{text} {era}" for text in texts] if drugs else held
            for thing, text in zip(things, texts, strict=True):
                worth = k * (text in right) - len(right)
                surplus[thing] = surplus.get(thing, 0) + worth
                expected[thing] = expected.get(thing, 0) + len(right)
        off = [
            thing.strip()
            for thing in sorted(surplus)
            if abs(surplus[thing]) > slack_of(expected[thing], k)
        ]
        yield task, strategy, off, len(surplus)
