"""Which of the candidates that are left stand beside an answer: strategies, and the draw.

A strategy says how far each candidate stands from the answer; a keyed hash draws, nearer ones more
often.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ehrkg.benchmark.exclusions import Questions, Scores
from ehrkg.benchmark.possible import settings
from ehrkg.benchmark.support import Grid
from ehrkg.foundation.hashing import U64, hash_strings, uniform

Steps = npt.NDArray[np.int64]

TOO_FAR = -1
"""In a grid of steps: this candidate can't stand beside this answer under the strategy."""


class Strategy(Protocol):
    """A way to choose among the candidates that are left."""

    name: str

    def steps(self, questions: Questions) -> Steps:
        """How far each candidate is from where it should be, in steps; TOO_FAR where it is out."""

    def reason(self, answer: Mapping[str, Any], distractor: Mapping[str, Any]) -> str:
        """Why this distractor, in a few words (both are rows of the pool)."""


class Frequency:
    """Distractors as frequent in this hospital, and as well known to the graph, as the answer.

    Steps are counted from a centre near the answer, not from the answer itself: the centre is
    drawn (by hash of the template) as far from the answer as distractors are from the centre. So
    the answer stands among its options as any of them does. Counted from the answer, it is the one
    in the middle, and whoever picks the middle is right a third oftener than by chance.
    """

    name = "frequency"

    def steps(self, questions: Questions) -> Steps:
        """Steps of one band or one decile; see ``Strategy.steps``."""
        found = np.zeros((len(questions.answers), len(questions.pool.rows)), dtype=np.int64)
        near = np.ones(found.shape, dtype=bool)
        ids = hash_strings(0, [row["id"] for row in questions.templates])
        for place, (axis, plural) in enumerate((("band", "bands"), ("decile", "deciles"))):
            values = questions.pool.column(axis).astype(np.int64)
            answer = values[questions.answers]
            bound = int(settings()["widening"][plural])
            centre = answer + _offsets(ids, place, bound)
            off = np.abs(centre[:, None] - values)
            near &= off <= bound
            found += off
        return np.where(near, found, TOO_FAR)

    def reason(self, answer: Mapping[str, Any], distractor: Mapping[str, Any]) -> str:
        """See ``Strategy.reason``."""
        band, decile = distractor["band"], distractor["decile"]
        steps = abs(band - answer["band"]) + abs(decile - answer["decile"])
        widened = f" ({steps} {'step' if steps == 1 else 'steps'} from the answer)" if steps else ""
        return (
            f"frequency band {band}, degree decile {decile}{widened}; "
            "not in any visit of the patient; no knowledge path"
        )


def _offsets(ids: U64, place: int, bound: int) -> Steps:
    """How far each question's centre lies from its answer: the nearer, the likelier."""
    offsets = np.arange(-bound, bound + 1)
    odds = np.exp(-float(settings()["widening"]["step_cost"]) * np.abs(offsets))
    drawn = uniform(0, ids, place)
    found: Steps = offsets[np.searchsorted(np.cumsum(odds)[:-1] / odds.sum(), drawn)]
    return found


STRATEGIES: Mapping[str, Strategy] = {"frequency": Frequency()}
"""Every strategy by name; a new one is one new entry."""


def luck(questions: Questions, steps: Steps, *, n_options: int, seed: int) -> Scores:
    """What a draw gives each candidate before prices: a Gumbel number from a hash, less its steps.

    The n best of ``luck + price`` are a weighted draw without replacement (Efraimidis and
    Spirakis 2006, in the form with Gumbel numbers), in which each candidate's number comes from
    (seed, template, entity, n_options) alone.

    Returns:
        len(questions) x len(pool); minus infinity for whom the question may not have.
    """
    template = hash_strings(seed, [row["id"] for row in questions.templates])
    entity = hash_strings(seed, [row["entity"] for row in questions.pool.rows])
    draw = uniform(seed, template[:, None], entity[None, :], n_options)
    with np.errstate(divide="ignore"):
        gumbel = -np.log(-np.log(np.clip(draw, 1e-12, 1 - 1e-12)))
    cost = settings()["widening"]["step_cost"]
    scores = np.round(gumbel - cost * steps, 9)
    return np.where(questions.allowed & (steps != TOO_FAR), scores, -np.inf)


def draw(scores: Scores, clash: Grid, n: int) -> npt.NDArray[np.int64]:
    """The n best of each row that do not clash with one another.

    Args:
        scores: rows of ``luck`` plus prices.
        clash: which two members may not stand together.
        n: how many.

    Returns:
        len(scores) x n positions, best first; -1 from the place where a row has no more.
    """
    left = scores.copy()
    chosen = np.full((len(left), n), -1, dtype=np.int64)
    rows = np.arange(len(left))
    for place in range(n):
        if not left.size:
            break
        best = left.argmax(axis=1)
        found = np.isfinite(left[rows, best])
        chosen[found, place] = best[found]
        left[rows[found], best[found]] = -np.inf
        left[found] = np.where(clash[best[found]], -np.inf, left[found])
    return chosen
