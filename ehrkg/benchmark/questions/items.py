"""Questions: templates, their distractors and their words, put together.

A question is a function of its template, format, number of options, strategy, phrasing, history,
the seed and the build's pool. Balancing decides which questions stand, never what a question says;
but where several options are right, both are chosen together, out of all templates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.benchmark.distractors.accepted import Accepted
from ehrkg.benchmark.distractors.draws import PIECE, SHARED, STAGE, YES_NO, Drawn, World, draw_all
from ehrkg.benchmark.distractors.pools import make_pool
from ehrkg.benchmark.distractors.right_ones import MULTI, OPTIONS, RightOnes
from ehrkg.benchmark.distractors.several_draws import draw_several
from ehrkg.benchmark.distractors.strategies import STRATEGIES
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.giveaways import context_rules
from ehrkg.benchmark.facts.support import Support
from ehrkg.benchmark.questions.several import YESNO, Multi, YesNo
from ehrkg.benchmark.questions.writing import (
    ALIKE,
    OPEN,
    Choices,
    Piece,
    Written,
    in_pieces,
    open_items,
)
from ehrkg.benchmark.schema import ITEMS
from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.garbage import uncollected
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.foundation.storage import stream_parquet
from ehrkg.foundation.workers import workers_for
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.schema import Verified

FORMATS = {"mcq4": 4, "mcq5": 5, "mcq6": 6, OPEN: 0, YESNO: YES_NO, MULTI: OPTIONS}
"""Every format with its number of options."""

DEFAULT_FORMATS = ("mcq4", "mcq5", "mcq6", OPEN)
"""What is made where nobody names formats: what every baseline can answer."""


@dataclass(frozen=True)
class Made:
    """Questions and the pool they were drawn from.

    Attributes:
        items: a table with the schema ITEMS.
        pool: a table with the schema POOL, priced: the frozen pool of the build.
    """

    items: pa.Table
    pool: pa.Table


class Asked(TypedDict, total=False):
    """What questions are asked for; every part may be left out.

    Attributes:
        formats: which of FORMATS to make; by default ``DEFAULT_FORMATS``.
        strategies: how distractors are chosen, names of STRATEGIES; by default ``frequency``.
        history: how many earlier admissions a stem tells of; by default 0.
        seed: of every draw; by default 7.
        ledger: gets, per task, one entry a format and strategy (questions) and one of the
            candidates ruled out (pairs of question and candidate, by reason).
        progress: told of every draw.
        workers: processes that share the work; by default one a core where there is much of it
            (``workers_for``). They change no question and no byte.
    """

    formats: Sequence[str]
    strategies: Sequence[str]
    history: int
    seed: int
    ledger: Ledger | None
    progress: Progress | None
    workers: int | None


@uncollected()
def make_questions(
    templates: pa.Table,
    hospital: Hospital,
    knowledge: Knowledge,
    mapping: CodeMapping,
    verified: Verified,
    **asked: Unpack[Asked],
) -> Made:
    """Make the questions of all templates, and the pool they are drawn from.

    Args:
        templates: TEMPLATES.
        hospital: what the templates were made from, as are the next three.
        knowledge: its edges rule distractors out and give their degree.
        mapping: links of codes.
        verified: relations that are not plainly refused rule distractors out.
        asked: formats, strategies, history, seed and the rest of ``Asked``.

    Returns:
        Items with the schema ITEMS, sorted by item_id, and their pool.

    Raises:
        UsageError: an unknown format or strategy, or a longer history than templates keep.
    """
    making = _Making(templates, hospital, knowledge, mapping, verified, **asked)
    tables = list(making.tables())
    return Made(pa.concat_tables([ITEMS.empty_table(), *tables]).combine_chunks(), making.pool)


@uncollected()
def write_questions(
    path: Path,
    templates: pa.Table,
    hospital: Hospital,
    knowledge: Knowledge,
    mapping: CodeMapping,
    verified: Verified,
    **asked: Unpack[Asked],
) -> pa.Table:
    """Make the questions of all templates and write them as they come; see ``make_questions``.

    Memory holds the templates and their short lists, never all questions.

    Args:
        path: of the Parquet file; the same bytes as writing ``make_questions(...).items``.
        templates: TEMPLATES.
        hospital: what they were made from, as are the next three.
        knowledge: its edges rule distractors out.
        mapping: links of codes.
        verified: relations.
        asked: as for ``make_questions``.

    Returns:
        The pool, priced.
    """
    making = _Making(templates, hospital, knowledge, mapping, verified, **asked)
    stream_parquet(making.tables(), ITEMS, path)
    return making.pool


class _Making:
    """The draws of a set of templates, and the writing of their questions."""

    def __init__(
        self,
        templates: pa.Table,
        hospital: Hospital,
        knowledge: Knowledge,
        mapping: CodeMapping,
        verified: Verified,
        *,
        formats: Sequence[str] = DEFAULT_FORMATS,
        strategies: Sequence[str] = ("frequency",),
        history: int = 0,
        seed: int = 7,
        ledger: Ledger | None = None,
        progress: Progress | None = None,
        workers: int | None = None,
    ) -> None:
        _refuse_unknown(formats, strategies, history)
        self._templates = templates.sort_by("id")
        self._cohort = Cohort(hospital, knowledge, mapping)
        self._formats, self._history, self._seed = formats, history, seed
        self._ledger = ledger if ledger is not None else Ledger()
        self._workers = workers or workers_for(-(-templates.num_rows // PIECE), least=SHARED)
        support = Support(self._cohort, knowledge, verified)
        self.drawn, self.pool = draw_all(
            self._templates,
            make_pool(templates, self._cohort, support, mapping),
            World(self._cohort, support, verified, seed),
            sizes=sorted({FORMATS[name] for name in formats if name != MULTI} - {0}),
            strategies=strategies,
            ledger=self._ledger,
            progress=progress or Silent(),
            workers=self._workers,
        )
        self._accepted = Accepted(self._cohort, verified)
        self._right_ones = RightOnes(self._templates, self._cohort, self._accepted, seed)
        self._several = draw_several(
            self._templates,
            self.pool,
            World(self._cohort, support, verified, seed),
            self._right_ones,
            strategies=strategies if MULTI in formats else (),
            progress=progress or Silent(),
            workers=self._workers,
        )

    def tables(self) -> Iterator[pa.Table]:
        """The questions, sorted, a piece at a time; at their end the ledger is complete."""
        choices = [
            Choices(part, self._cohort, self._seed)
            for part in self.drawn
            if f"mcq{part.n_options}" in self._formats
        ]
        yesno = [
            YesNo(part, self._cohort, self._seed) for part in self.drawn if part.n_options == YES_NO
        ]
        multi = [Multi(part, self._right_ones, self._cohort, self._seed) for part in self._several]
        open_for = self._open_ended()

        def write(piece: Piece) -> Written:
            wanted = open_for[piece.start : piece.start + len(piece.rows)]
            dropped: Counter[str] = Counter()
            tables = [
                *(one.items(piece, dropped) for one in choices),
                *(one.items(piece) for one in yesno),
                *(one.items(piece, dropped) for one in multi),
                open_items(piece, self._accepted, wanted),
            ]
            return Written(tables, dropped)

        made = multis = 0
        dropped: Counter[str] = Counter()
        for table, left_out in in_pieces(
            self._templates,
            write,
            self._cohort,
            seed=self._seed,
            history=self._history,
            workers=self._workers,
        ):
            multis += table.filter(pa.compute.equal(table["format"], MULTI)).num_rows
            made += table.num_rows
            dropped.update(left_out)
            yield table
        self._account(int(open_for.sum()), multis if multi else None, dropped, made)

    def _open_ended(self) -> npt.NDArray[np.bool_]:
        """Which templates have an open-ended question.

        All, if that format is asked for; else those that a strategy of kin leaves without choices.
        """
        n = self._templates.num_rows
        if OPEN in self._formats:
            return np.ones(n, dtype=bool)
        wanted = np.zeros(n, dtype=bool)
        for part in self.drawn:
            if part.strategy.of_kin:
                wanted[part.rows[part.too_few]] = True
        return wanted

    def _account(
        self, open_ended: int, multis: int | None, dropped: Mapping[str, int], made: int
    ) -> None:
        n = self._templates.num_rows
        if open_ended:
            kin_only = {"not_asked_for": n - open_ended}
            self._ledger.record(STAGE, OPEN, rows_in=n, rows_out=open_ended, dropped=kin_only)
        if multis is not None:
            lost_here = {reason: dropped.get(f"{MULTI}: {reason}", 0) for reason in Multi.REASONS}
            rows_in = multis + sum(lost_here.values())
            self._ledger.record(STAGE, MULTI, rows_in=rows_in, rows_out=multis, dropped=lost_here)
        alike = dropped.get(ALIKE, 0)
        if alike:
            self._ledger.record(
                STAGE, "options", rows_in=made + alike, rows_out=made, dropped={ALIKE: alike}
            )


def lost(drawn: Sequence[Drawn]) -> Mapping[str, str]:
    """By strategy: how many questions it lost for want of distractors, and what to relax."""
    found: dict[str, str] = {}
    for name in sorted({part.strategy.name for part in drawn}):
        mine = [part for part in drawn if part.strategy.name == name]
        few = sum(int((part.too_few & ~part.kept).sum()) for part in mine)
        asked = sum(len(part.kept) for part in mine)
        if few:
            found[name] = f"{few:,} of {asked:,} questions: {STRATEGIES[name].relax}"
    return found


def _refuse_unknown(formats: Sequence[str], strategies: Sequence[str], history: int) -> None:
    for wanted, known, what in ((formats, FORMATS, "format"), (strategies, STRATEGIES, "strategy")):
        unknown = sorted(set(wanted) - set(known))
        if unknown:
            raise UsageError(
                f"no such {what}: {', '.join(unknown)}", todo=f"use {', '.join(known)}"
            )
    most = int(context_rules()["history"]["visits"])
    if not 0 <= history <= most:
        raise UsageError(
            f"history={history}: templates keep the last {most} admissions",
            todo=f"ask for 0 to {most}, or change history.visits in context.yaml and build again",
        )
