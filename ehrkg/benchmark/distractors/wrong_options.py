"""The wrong options of finished questions, laid out for the rules to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ehrkg.benchmark.distractors.draws import PIECE
from ehrkg.benchmark.distractors.right_ones import MULTI
from ehrkg.benchmark.facts.support import Grid

SIBLING = "sibling"


class Asked(NamedTuple):
    """A question: its strategy, its wrong options and, where several are right, all that are."""

    item: str
    strategy: str
    wrong: list[str]
    right: list[str]


Options = dict[str, list[Asked]]
"""By template: its questions."""


def options_by_template(items: pa.Table) -> dict[bool, Options]:
    """Question and wrong options of every template; those of strategy ``sibling`` apart."""
    found: dict[bool, Options] = {False: defaultdict(list), True: defaultdict(list)}
    names = ["item_id", "template_id", "strategy", "option_codes", "distractor_reasons", "format"]
    for batch in items.select(names).to_batches(max_chunksize=PIECE):
        for row in batch.to_pylist():
            wrong = [
                code
                for code, why in zip(row["option_codes"], row["distractor_reasons"], strict=True)
                if why not in ("answer", "")
            ]
            if row["format"] == "yesno" and row["distractor_reasons"][:1] == ["answer"]:
                wrong = []
            if wrong:
                strategy = row["strategy"]
                kin = strategy == SIBLING
                several = row["format"] == MULTI
                right = [
                    code
                    for code, why in zip(
                        row["option_codes"], row["distractor_reasons"], strict=True
                    )
                    if several and why == "answer"
                ]
                question = Asked(row["item_id"], strategy, wrong, right)
                found[kin][row["template_id"]].append(question)
    return found


class Wrong(NamedTuple):
    """A wrong option: of which question, and where: templates and members of the pool."""

    item: str
    cells: list[tuple[int, int]]


def ruled_out(asked: Sequence[Wrong], grid: Grid) -> list[str]:
    """The questions one of whose wrong options has all its cells ruled out, one an option."""
    there = [one for one in asked if one.cells]
    if not there:
        return []
    lengths = np.array([len(one.cells) for one in there], dtype=np.int64)
    rows, places = np.array([cell for one in there for cell in one.cells], dtype=np.int64).T
    out = np.logical_and.reduceat(np.asarray(grid)[rows, places], np.cumsum(lengths) - lengths)
    return [there[at].item for at in np.flatnonzero(out).tolist()]
