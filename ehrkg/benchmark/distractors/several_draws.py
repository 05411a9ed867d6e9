"""Draws of the wrong options of questions with several right answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.benchmark.distractors.balance import Truths
from ehrkg.benchmark.distractors.draws import LOOKED_AT, Group, World, axes_of, group_rows, pieces
from ehrkg.benchmark.distractors.exclusions import Pool, Questions, Rows
from ehrkg.benchmark.distractors.right_ones import OPTIONS, RIGHT, RightOnes, asked_of
from ehrkg.benchmark.distractors.several_balance import Levelled, Sets, level
from ehrkg.benchmark.distractors.shortlists import (
    LONGEST,
    NOBODY,
    Ints,
    Shortlist,
    clashes,
    shortlist,
)
from ehrkg.benchmark.distractors.strategies import STRATEGIES, Strategy
from ehrkg.foundation.progress import Progress
from ehrkg.foundation.workers import in_order

SINGLE, TOO_FEW, BALANCE = "single_answer", "too_few_distractors", "balance"
"""Why a template has no question with several right answers."""

LOOKED_AT_TOO = ("target_visit",)
"""The columns of a template that are looked at beside ``LOOKED_AT``."""


@dataclass(frozen=True)
class DrawnSets:
    """The questions with several right answers of one task, ICD version and strategy.

    Attributes:
        strategy: by which wrong ones are chosen.
        pool: where they come from.
        rows: positions of the templates in their table, rising.
        why_not: of each template, why it has no question, "" if it has one.
        rights: of each template, the positions of the right ones in the pool; NOBODY after them.
        wrong: of each template, the wrong ones likewise, matched to the right ones in turn.
        steps: of each wrong one, as the strategy counts them.
    """

    strategy: Strategy
    pool: Pool
    rows: Ints
    why_not: npt.NDArray[np.str_]
    rights: Ints
    wrong: Ints
    steps: Ints


def draw_several(
    templates: pa.Table,
    pool: pa.Table,
    world: World,
    right_ones: RightOnes,
    *,
    strategies: Sequence[str],
    progress: Progress,
    workers: int = 1,
) -> list[DrawnSets]:
    """Draw the wrong options of every template beside which something else is right.

    Args:
        templates: TEMPLATES, sorted by id.
        pool: POOL.
        world: what they are drawn in.
        right_ones: finds what is right.
        strategies: names of STRATEGIES; those of kin have no such questions.
        progress: told of each draw.
        workers: processes that share the work; they change nothing in what is drawn.
    """
    named = [name for name in strategies if not STRATEGIES[name].of_kin]
    if not named:
        return []
    groups = group_rows(templates, world.cohort)
    progress.start("levelling questions with several right answers", len(groups) * len(named))
    asked: list[tuple[Group, Ints, str, _Lists]] = []
    for (task, era), rows in groups.items():
        group = Group(task, era, pool, world)
        parts = pieces(templates, rows, (*LOOKED_AT, *LOOKED_AT_TOO))
        lists = _listed(group, parts, world, right_ones, strategies=named, workers=workers)
        asked += [(group, rows, name, one) for name, one in lists.items()]
    drawn: list[DrawnSets] = []
    for (group, rows, name, one), found in zip(
        asked, in_order(_levelled, asked, workers=workers), strict=True
    ):
        drawn.append(_drawn(STRATEGIES[name], group.pool, rows, one, found))
        progress.advance()
    return drawn


@dataclass(frozen=True)
class _Lists:
    """Short lists of some templates: a row each for those beside which something else is right."""

    several: Truths
    rights: Ints
    matched: npt.NDArray[np.int8]
    candidates: Shortlist


def _listed(
    group: Group,
    parts: Sequence[pa.Table],
    world: World,
    right_ones: RightOnes,
    *,
    strategies: Sequence[str],
    workers: int,
) -> dict[str, _Lists]:
    """The short lists of all parts, by strategy."""
    if workers > 1:
        group.about.share()

    def listed(part: pa.Table) -> dict[str, _Lists]:
        return _of_piece(group, part.to_pylist(), world, right_ones, strategies)

    held: dict[str, list[_Lists]] = {}
    for one in in_order(listed, parts, workers=workers):
        for name, lists in one.items():
            held.setdefault(name, []).append(lists)
    return {
        name: _Lists(
            several=np.concatenate([part.several for part in found]),
            rights=np.concatenate([part.rights for part in found]),
            matched=np.concatenate([part.matched for part in found]),
            candidates=Shortlist.joined([part.candidates for part in found]),
        )
        for name, found in held.items()
    }


def _of_piece(
    group: Group,
    rows: Rows,
    world: World,
    right_ones: RightOnes,
    strategies: Sequence[str],
) -> dict[str, _Lists]:
    """Who may be wrong must be allowed beside each right one, and near one of them."""
    right = [right_ones.of(row, group.pool) for row in rows]
    several = np.array([len(one) >= RIGHT[0] for one in right], dtype=bool)
    asked = [
        [asked_of(row, option) for option in options]
        for row, options in zip(rows, right, strict=True)
        if len(options) >= RIGHT[0]
    ]
    if not asked:
        return {name: _Lists(several, *_nothing()) for name in strategies}
    judged = group.screen.questions([row for each in asked for row in each])
    at = {row["id"]: place for place, row in enumerate(judged.templates)}
    places: Ints = np.full((len(asked), RIGHT[1]), NOBODY, dtype=np.int64)
    allowed = judged.allowed.copy()
    for question, each in enumerate(asked):
        here = [at[row["id"]] for row in each]
        places[question, : len(here)] = here
        allowed[here] = judged.allowed[here].all(axis=0)
    questions = Questions(judged.templates, group.pool, judged.answers, allowed, {})
    rights = np.where(places >= 0, np.append(judged.answers, NOBODY)[places], NOBODY)
    # Who is right elsewhere must be wrong somewhere.
    asked_for = group.pool.asked_for
    found: dict[str, _Lists] = {}
    for name in strategies:
        steps = STRATEGIES[name].steps(questions, group.about)
        one = shortlist(questions, steps, seed=world.seed, first=asked_for)
        found[name] = _Lists(several, rights, *_side_by_side(one, places, group.pool))
    return found


def _nothing() -> tuple[Ints, npt.NDArray[np.int8], Shortlist]:
    """Right ones, matches and lists of no question."""
    none = (0, LONGEST)
    lists = Shortlist(
        np.zeros(none, np.int32),
        np.zeros(none, np.float32),
        np.zeros(none, np.int16),
        np.zeros(none, np.uint32),
    )
    return np.zeros((0, RIGHT[1]), np.int64), np.zeros(none, np.int8), lists


def _side_by_side(
    lists: Shortlist, places: Ints, pool: Pool
) -> tuple[npt.NDArray[np.int8], Shortlist]:
    """One list a question out of those of its right ones, each of which gives as many.

    Args:
        lists: a row a right one.
        places: rows of ``lists``, a row a question; NOBODY after them.
        pool: tells which members may not stand together.

    Returns:
        To which of the right ones each candidate is matched, by place; and the lists.
    """
    n, (turn, rank) = len(places), np.divmod(np.arange(LONGEST), LONGEST // RIGHT[0])
    n_right = (places >= 0).sum(axis=1)
    matched = np.tile(turn, (n, 1)).astype(np.int8)
    ranked = np.tile(rank, (n, 1))
    three = n_right == RIGHT[1]
    each = LONGEST // RIGHT[1]
    matched[three], ranked[three] = np.arange(LONGEST) // each, np.arange(LONGEST) % each
    there = matched < n_right[:, None]
    row = np.take_along_axis(places, np.where(there, matched, 0).astype(np.int64), axis=1)
    members = np.where(there, lists.members[row, ranked], NOBODY).astype(np.int32)
    luck = np.where(there, lists.luck[row, ranked], -np.inf).astype(np.float32)
    steps = np.where(there, lists.steps[row, ranked], 0).astype(np.int16)
    # A candidate of two right ones stands here twice, and is chosen once.
    apart = pool.clash | np.eye(len(pool.rows), dtype=bool)
    return matched, Shortlist(members, luck, steps, clashes(members, apart))


def _levelled(one: tuple[Group, Ints, str, _Lists]) -> Levelled:
    group, _, _, lists = one
    pool = group.pool
    sets = Sets(
        lists.candidates, lists.matched, lists.rights, len(pool.rows), OPTIONS, axes_of(pool)
    )
    return level(sets)


def _drawn(strategy: Strategy, pool: Pool, rows: Ints, lists: _Lists, found: Levelled) -> DrawnSets:
    why = np.full(len(rows), SINGLE, dtype=f"<U{len(TOO_FEW)}")
    why[lists.several] = np.where(found.kept, "", np.where(found.too_few, TOO_FEW, BALANCE))
    rights: Ints = np.full((len(rows), RIGHT[1]), NOBODY, dtype=np.int64)
    wrong: Ints = np.full((len(rows), OPTIONS - RIGHT[0]), NOBODY, dtype=np.int64)
    rights[lists.several] = lists.rights
    steps = np.zeros_like(wrong)
    there, places = found.chosen >= 0, np.maximum(found.chosen, 0)
    for column, held in ((wrong, lists.candidates.members), (steps, lists.candidates.steps)):
        taken = np.take_along_axis(held, places, axis=1)
        column[lists.several] = np.where(there, taken, column[lists.several])
    return DrawnSets(strategy, pool, rows, why, rights, wrong, steps)
