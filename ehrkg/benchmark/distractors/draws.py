"""Draws: for every template its distractors, by strategy and number of options.

Templates are taken in pieces, so that a pool of thousands beside a million templates needs no grid
of all of them; what is kept of each is a short list of candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.distractors.balance import Fit, fit
from ehrkg.benchmark.distractors.exclusions import Pool, Rows, Screen, SiblingScreen
from ehrkg.benchmark.distractors.pools import POOL, era_of, price_column
from ehrkg.benchmark.distractors.shortlists import TOO_FAR, Ints, Shortlist, members_at, shortlist
from ehrkg.benchmark.distractors.strategies import STRATEGIES, Strategy, denied
from ehrkg.benchmark.distractors.surroundings import Surroundings
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.support import Support
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress
from ehrkg.foundation.workers import in_order
from ehrkg.verify.schema import Verified

STAGE = "items"

PIECE = 8192
"""Templates that are looked at together: beside a pool of 2,000 a grid of 16 million."""

SHARED = 4
"""Pieces from which on several processes share them, where nobody says how many."""

LOOKED_AT = (
    "id",
    "task",
    "patient",
    "visit",
    "context",
    "anchor_position",
    "answer",
    "answer_route",
    "predicate",
    "sex",
    "age",
)
"""The columns of a template that a draw looks at."""

AXES = ("n_visits", "degree")
"""Columns of the pool by which an answer shall not stand out among its options."""

YES_NO = 2
"""The options of a yes/no question: what was recorded, or something denied in its place."""


@dataclass(frozen=True)
class Drawn:
    """The distractors of one task, ICD version, strategy and number of options.

    Attributes:
        task: of the templates. strategy: by which they are chosen. n_options: of the questions.
        pool: where they come from.
        rows: positions of the templates in their table, rising.
        answers: of each template, the position in the pool.
        members: of each template, the positions of n_options - 1 distractors; -1 where there is no
            more.
        steps: of each distractor, as the strategy counts them.
        kept: which templates have such a question.
        too_few: of those that have none, which lack distractors (the others went for balance).
        about: what the surroundings say of them.
    """

    task: str
    strategy: Strategy
    n_options: int
    pool: Pool
    rows: Ints
    answers: Ints
    members: Ints
    steps: Ints
    kept: npt.NDArray[np.bool_]
    too_few: npt.NDArray[np.bool_]
    about: Surroundings


@dataclass(frozen=True)
class World:
    """What templates are drawn in.

    Attributes:
        cohort: facts about codes and visits.
        support: what the knowledge joins.
        verified: relations with their verdicts.
        seed: of every draw.
    """

    cohort: Cohort
    support: Support
    verified: Verified
    seed: int


def draw_all(
    templates: pa.Table,
    pool: pa.Table,
    world: World,
    *,
    sizes: Sequence[int],
    strategies: Sequence[str],
    ledger: Ledger,
    progress: Progress,
    workers: int = 1,
) -> tuple[list[Drawn], pa.Table]:
    """Price the pool and draw the distractors of every template.

    Args:
        templates: TEMPLATES, sorted by id.
        pool: POOL, without prices.
        world: what they are drawn in.
        sizes: numbers of options; ``YES_NO`` draws among what may be denied.
        strategies: names of STRATEGIES.
        ledger: gets candidates ruled out, and questions dropped.
        progress: told of each draw.
        workers: processes that share the work; they change nothing in what is drawn.

    Returns:
        What was drawn, and the pool with its prices: frozen, it gives the same questions again, for
        any of the templates alone.
    """
    groups = group_rows(templates, world.cohort)
    progress.start("choosing distractors", len(groups) * len(sizes) * len(strategies))
    asked: list[_Asked] = []
    for (task, era), rows in groups.items():
        for of_kin in sorted({STRATEGIES[name].of_kin for name in strategies}):
            named = [name for name in strategies if STRATEGIES[name].of_kin == of_kin]
            group = Group(task, era, pool, world, of_kin=of_kin)
            lists = group.shortlists(
                pieces(templates, rows),
                named,
                also_denied=YES_NO in sizes,
                ledger=ledger,
                workers=workers,
            )
            asked += [
                _Asked(task, era, name, size, group, rows, lists[_list_name(name, size)])
                for name in named
                for size in sizes
            ]
    drawn: list[Drawn] = []
    prices: dict[str, dict[tuple[str, str, str], float]] = {}
    for one, found in _fits(asked, workers, progress):
        prices.setdefault(price_column(one.strategy, one.size), {}).update(
            {
                (one.task, one.era, row["entity"]): float(price)
                for row, price in zip(one.group.pool.rows, found.prices, strict=True)
            }
        )
        drawn.append(_drawn(one, found))
    _account(drawn, ledger)
    return drawn, _priced(pool, prices)


@dataclass(frozen=True)
class _Asked:
    """A draw before its prices are set: of a task, ICD version, strategy, number of options."""

    task: str
    era: str
    strategy: str
    size: int
    group: Group
    rows: Ints
    listed: Shortlist


def _fits(
    asked: Sequence[_Asked], workers: int, progress: Progress
) -> Iterator[tuple[_Asked, Fit]]:
    """Every draw with its prices, in the order they were asked for."""
    # What takes longest is begun first, so that nobody waits for it alone.
    order = sorted(range(len(asked)), key=lambda at: -len(asked[at].rows) * asked[at].size)
    found = {}
    for at, fitted in zip(
        order, in_order(_fitted, [asked[at] for at in order], workers=workers), strict=True
    ):
        found[at] = fitted
        progress.advance()
    return ((one, found[at]) for at, one in enumerate(asked))


def axes_of(pool: Pool) -> tuple[npt.NDArray[Any], ...]:
    """By what an answer shall not stand out among its options: ``AXES``, and being asked for.

    Who is never asked for by any template would be told for wrong by whoever learnt the answers.

    Args:
        pool: the pool.
    """
    return (*(pool.column(name) for name in AXES), pool.asked_for.astype(np.int64))


def _fitted(one: _Asked) -> Fit:
    pool = one.group.pool
    return fit(
        one.listed,
        one.group.answers,
        len(pool.rows),
        n_options=one.size,
        axes=axes_of(pool),
    )


def _drawn(one: _Asked, found: Fit) -> Drawn:
    listed, chosen = one.listed, found.chosen
    steps = (
        np.take_along_axis(listed.steps, np.maximum(chosen, 0), axis=1).astype(np.int64)
        if chosen.size
        else chosen
    )
    return Drawn(
        one.task,
        STRATEGIES[one.strategy],
        one.size,
        one.group.pool,
        one.rows,
        one.group.answers,
        members_at(listed, chosen),
        steps,
        found.kept,
        found.too_few,
        one.group.about,
    )


class Group:
    """The templates of one task and ICD version, with their pool.

    Args:
        task: the task. era: the ICD version. pool: POOL. world: what they are drawn in.
        of_kin: whether the answer's next of kin may stand beside it.
    """

    def __init__(
        self, task: str, era: str, pool: pa.Table, world: World, *, of_kin: bool = False
    ) -> None:
        cohort, support = world.cohort, world.support
        self.unit = f"{task} candidate, ICD-{era or 'none'}" + (", next of kin" if of_kin else "")
        self.pool = slice_of(pool, task, era, cohort, of_kin=of_kin)
        kind = SiblingScreen if of_kin else Screen
        self.screen = kind(task, self.pool, cohort, support)
        self.about = Surroundings(task, era, self.pool, cohort, support, world.verified)
        self.answers: Ints = np.zeros(0, dtype=np.int64)
        self._seed = world.seed

    def shortlists(
        self,
        parts: Sequence[pa.Table],
        strategies: Sequence[str],
        *,
        also_denied: bool = False,
        ledger: Ledger | None = None,
        workers: int = 1,
    ) -> dict[str, Shortlist]:
        """The short lists by strategy (and of what may be denied), over all parts.

        Args:
            parts: columns ``LOOKED_AT`` of TEMPLATES, in the order of ids.
            strategies: names of STRATEGIES.
            also_denied: make those of yes/no questions too.
            ledger: gets the candidates ruled out.
            workers: processes that share the parts.
        """
        if workers > 1:
            self.about.share()

        def listed(part: pa.Table) -> _Listed:
            return self._listed(part.to_pylist(), strategies, also_denied)

        lists: dict[str, list[Shortlist]] = {}
        answers, dropped, pairs, left = [], dict[str, int](), 0, 0
        for one in in_order(listed, parts, workers=workers):
            answers.append(one.answers)
            pairs, left = pairs + one.pairs, left + one.left
            for reason, n in one.dropped.items():
                dropped[reason] = dropped.get(reason, 0) + n
            for name, held in one.lists.items():
                lists.setdefault(name, []).append(held)
        self.answers = np.concatenate(answers)
        if ledger is not None:
            ledger.record(STAGE, self.unit, rows_in=pairs, rows_out=left, dropped=dropped)
        return {name: Shortlist.joined(held) for name, held in lists.items()}

    def _listed(self, rows: Rows, strategies: Sequence[str], also_denied: bool) -> _Listed:
        questions = self.screen.questions(rows)
        no = denied(questions, self.about) if also_denied else None
        first = self.pool.asked_for
        lists: dict[str, Shortlist] = {}
        for name in strategies:
            steps = STRATEGIES[name].steps(questions, self.about)
            lists[name] = shortlist(questions, steps, seed=self._seed, first=first)
            if no is not None:
                steps = np.where(no, steps, TOO_FAR)
                key = _list_name(name, YES_NO)
                lists[key] = shortlist(questions, steps, seed=self._seed, first=first)
        allowed = questions.allowed
        return _Listed(
            questions.answers, allowed.size, int(allowed.sum()), questions.dropped, lists
        )


@dataclass(frozen=True)
class _Listed:
    """Short lists of some templates, with how many candidates were looked at and are left."""

    answers: Ints
    pairs: int
    left: int
    dropped: Mapping[str, int]
    lists: Mapping[str, Shortlist]


def _list_name(strategy: str, size: int) -> str:
    return f"{strategy}, denied" if size == YES_NO else strategy


def group_rows(templates: pa.Table, cohort: Cohort) -> dict[tuple[str, str], Ints]:
    """Positions of TEMPLATES by task and ICD version of the answer, rising."""
    codes = pc.list_element(templates["answer"], 0).to_pylist() if templates.num_rows else []
    eras = templates["icd_version"].to_pylist()
    found: dict[tuple[str, str], list[int]] = {}
    for at, (task, code, era) in enumerate(
        zip(templates["task"].to_pylist(), codes, eras, strict=True)
    ):
        found.setdefault((task, era_of(code, era, cohort)), []).append(at)
    return {key: np.array(rows, dtype=np.int64) for key, rows in sorted(found.items())}


def pieces(templates: pa.Table, rows: Ints, columns: Sequence[str] = LOOKED_AT) -> list[pa.Table]:
    """What a draw looks at of some templates, a table a piece."""
    table = templates.select(list(columns)).take(pa.array(rows))
    return [table.slice(start, PIECE) for start in range(0, len(rows), PIECE)]


def slice_of(pool: pa.Table, task: str, era: str, cohort: Cohort, *, of_kin: bool = False) -> Pool:
    """The pool of one task and ICD version; where kin may stand, only what is on a line clashes."""
    here = pc.and_(pc.equal(pool["task"], task), pc.equal(pool["era"], era))
    return Pool.of(pool.filter(here), cohort, kin=cohort.line if of_kin else None)


def _account(drawn: Sequence[Drawn], ledger: Ledger) -> None:
    """One ledger entry a task, strategy and number of options."""
    totals: dict[tuple[str, str, int], list[int]] = {}
    for part in drawn:
        line = totals.setdefault((part.task, part.strategy.name, part.n_options), [0, 0, 0])
        kept, few = int(part.kept.sum()), int((part.too_few & ~part.kept).sum())
        line[0] += kept
        line[1] += few
        line[2] += len(part.kept) - kept - few
    for (task, strategy, size), (kept, few, unlevel) in sorted(totals.items()):
        form = "yesno" if size == YES_NO else f"mcq{size}"
        ledger.record(
            STAGE,
            f"{task} {form} {strategy}",
            rows_in=kept + few + unlevel,
            rows_out=kept,
            dropped={"too_few_distractors": few, "balance": unlevel},
            example=f"to lose fewer: {STRATEGIES[strategy].relax}" if few else "",
        )


def _priced(pool: pa.Table, prices: Mapping[str, Mapping[tuple[str, str, str], float]]) -> pa.Table:
    keys = list(zip(*(pool[name].to_pylist() for name in ("task", "era", "entity")), strict=True))
    for column, found in sorted(prices.items()):
        at = pool.schema.get_field_index(column)
        values = pa.array([found.get(key) for key in keys], pa.float64())
        pool = pool.set_column(at, column, values)
    return pool.cast(POOL)
