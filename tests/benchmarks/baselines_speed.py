"""How long the baselines take to answer a million questions, and their memory.

    python tests/benchmarks/questions_speed.py world --templates 250000 --out DIR
    python tests/benchmarks/questions_speed.py make --out DIR
    python tests/benchmarks/baselines_speed.py arrays --out DIR
    python tests/benchmarks/baselines_speed.py rows --out DIR

``arrays`` lets all baselines that need no model answer all the questions of DIR, plain and under
both controls, and writes the scores; its time is the whole process, reading and learning included.
``rows`` lets one that takes questions one by one answer a fiftieth of them, as a peer does, and
says what all of them would take.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.asking.asked import Asked, asked_of
from ehrkg.evaluation.baselines import Baseline
from ehrkg.evaluation.run import baselines_on_arrays, names_said
from ehrkg.evaluation.schema import SCORES
from ehrkg.evaluation.scoring.scores import score_blocks
from ehrkg.foundation.storage import read_parquet, stream_parquet
from ehrkg.verify.schema import Verified

UNREAD = ("stem", "distractor_reasons", "flags")
"""Columns of the items that no baseline without a model reads."""


class OneByOne:
    """The most frequent option, asked question by question."""

    name = "one by one"
    key_source = False

    def __init__(self, visits_with: dict[str, int]) -> None:
        self._visits_with = visits_with

    def utilities(self, questions: Asked) -> list[np.ndarray]:
        """The visits that hold each option's code."""
        return [
            np.array([self._visits_with.get(code, 0) for code in question.option_codes], float)
            for question in questions
        ]

    def texts(self, questions: Asked) -> list[str]:
        """Nothing."""
        return [""] * len(questions)


def world(out: Path) -> tuple[Hospital, Verified]:
    """The hospital and the relations that the questions were made of."""
    _, hospital, _, _, verified = pickle.loads((out / "world.pickle").read_bytes())
    return hospital, verified


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["arrays", "rows"])
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    held = pq.read_schema(given.out / "items.parquet").names
    skipped = UNREAD if given.command == "arrays" else ()
    items = pq.read_table(
        given.out / "items.parquet", columns=[name for name in held if name not in skipped]
    )
    templates = read_parquet(given.out / "templates.parquet")
    hospital, verified = world(given.out)
    names: dict[str, list[str]] = {}
    if given.command == "rows":
        items = items.take(np.arange(0, items.num_rows, 50))
    asked = asked_of(items, templates)
    start = time.process_time()
    if given.command == "rows":
        baselines: Sequence[Baseline] = [OneByOne(dict.fromkeys(asked.codes.to_pylist(), 1))]
    else:
        said = names_said(items, names)
        baselines = baselines_on_arrays(asked, templates, hospital, verified.relations, said)
    blocks = score_blocks(asked, baselines, names)
    stream_parquet(blocks, SCORES, given.out / f"scores_{given.command}.parquet")
    took = time.process_time() - start
    rows = pq.read_metadata(given.out / f"scores_{given.command}.parquet").num_rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{given.command}: {len(asked):,} questions, {rows:,} scores; {1e6 * took / rows:.1f} "
        f"microseconds a score, {time.process_time():.1f} s CPU in all, {peak:.2f} GB"
    )


if __name__ == "__main__":
    main()
