"""Strategies: which of the candidates that are left stand beside an answer, and why.

A strategy says how far each candidate stands from where it should be, in steps; nearer ones are
drawn more often (``shortlists``). Whatever the strategy, the graph knows a distractor about as well
as the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ehrkg.benchmark.distractors.exclusions import Questions
from ehrkg.benchmark.distractors.shortlists import TOO_FAR, Steps
from ehrkg.benchmark.distractors.surroundings import Surroundings
from ehrkg.benchmark.facts.possible import settings
from ehrkg.benchmark.facts.support import Grid
from ehrkg.foundation.hashing import U64, hash_strings, uniform


class Strategy(Protocol):
    """A way to choose among the candidates that are left.

    Attributes:
        name: as in the column ``strategy``.
        of_kin: whether distractors are next of kin to the answer; else these are out.
        relax: what gives more questions where it finds too few distractors.
        promise: what holds of every distractor; ``check`` measures it.

    >>> STRATEGIES["sibling"].of_kin, STRATEGIES["frequency"].of_kin
    (True, False)
    """

    name: str
    of_kin: bool
    relax: str
    promise: str

    def steps(self, questions: Questions, about: Surroundings) -> Steps:
        """How far each candidate is from where it should be, in steps; TOO_FAR where it is out."""

    def reason(self, answer: Mapping[str, Any], distractor: Mapping[str, Any], steps: int) -> str:
        """Why this distractor, in a few words.

        Args:
            answer: of the answer's row of the pool, ``band`` and ``decile``.
            distractor: the same of the distractor's.
            steps: as the strategy counted them.
        """


class Frequency:
    """Distractors as frequent in this hospital, and as well known to the graph, as the answer.

    None that the hospital ties to an event of the stem: such a one may be true without the graph
    knowing it (strategy ``cooccurring`` asks with them on purpose).

    Steps are counted from a centre near the answer, not from the answer itself: the centre is
    drawn (by hash of the template) as far from the answer as distractors are from the centre. So
    the answer stands among its options as any of them does. Counted from the answer, it is the one
    in the middle, and whoever picks the middle is right a third oftener than by chance.
    """

    name = "frequency"
    of_kin = False
    relax = "widen bands or deciles in pools.yaml, or ask with strategy random"
    promise = (
        "Every distractor is about as frequent and known as the answer, and not tied to the stem."
    )

    def steps(self, questions: Questions, about: Surroundings) -> Steps:
        """Steps of one band or one decile; see ``Strategy.steps``."""
        steps = _sum(_off(questions, "band", 0), _off(questions, "decile", 1))
        return np.where(about.associated(questions.templates), TOO_FAR, steps)

    def reason(self, answer: Mapping[str, Any], distractor: Mapping[str, Any], steps: int) -> str:
        """See ``Strategy.reason``."""
        band, decile = distractor["band"], distractor["decile"]
        off = abs(band - answer["band"]) + abs(decile - answer["decile"])
        widened = f" ({off} {'step' if off == 1 else 'steps'} from the answer)" if off else ""
        return f"frequency band {band}, degree decile {decile}{widened}; {_NOT_TRUE}"


class Random:
    """Any candidate of a like degree, however rare or frequent."""

    name = "random"
    of_kin = False
    relax = "widen deciles in pools.yaml, or ask for fewer options"
    promise = "Every distractor is about as known to the graph as the answer."

    def steps(self, questions: Questions, about: Surroundings) -> Steps:
        """No steps within the reach of the degree; see ``Strategy.steps``."""
        return np.where(_off(questions, "decile", 1) == TOO_FAR, TOO_FAR, 0)

    def reason(self, answer: Mapping[str, Any], distractor: Mapping[str, Any], steps: int) -> str:
        """See ``Strategy.reason``."""
        return f"random, degree decile {distractor['decile']}; {_NOT_TRUE}"


class Cooccurring:
    """Candidates that stand with the stem's problem in other patients: associated, not known true.

    The oftener they stand together, the likelier they are drawn.
    """

    name = "cooccurring"
    of_kin = False
    relax = "lower cooccurring.visits in pools.yaml, or ask with strategy frequency"
    promise = "Every distractor, about as known as the answer, stands with the problem elsewhere."

    def steps(self, questions: Questions, about: Surroundings) -> Steps:
        """Fewer steps for more visits together; see ``Strategy.steps``."""
        rules = settings()["cooccurring"]
        together = about.together(questions.templates)
        doublings = np.log2(np.maximum(together, 1) / rules["visits"]).astype(np.int64)
        steps = np.maximum(0, int(rules["doublings"]) - doublings)
        out = (together < rules["visits"]) | (_off(questions, "decile", 1) == TOO_FAR)
        return np.where(out, TOO_FAR, steps)

    def reason(self, answer: Mapping[str, Any], distractor: Mapping[str, Any], steps: int) -> str:
        """See ``Strategy.reason``."""
        rules = settings()["cooccurring"]
        least = rules["visits"] * 2 ** (int(rules["doublings"]) - steps)
        return f"stands with the problem asked about in {least} or more visits; {_NOT_TRUE}"


class Sibling:
    """Next of kin to the answer that something in the record speaks against: the hard ones.

    Where too few have contradicting evidence, the question is asked open-ended.
    """

    name = "sibling"
    of_kin = True
    relax = "add knowledge of what contradicts; they are asked open-ended, or take another strategy"
    promise = "Every distractor is next of kin to the answer, with contradicting evidence."

    def steps(self, questions: Questions, about: Surroundings) -> Steps:
        """None for kin with contradicting evidence; see ``Strategy.steps``."""
        stands = about.siblings(questions.answers.tolist()) & about.contradicted(
            questions.templates
        )
        return np.where(stands & (_off(questions, "decile", 1) != TOO_FAR), 0, TOO_FAR)

    def reason(self, answer: Mapping[str, Any], distractor: Mapping[str, Any], steps: int) -> str:
        """See ``Strategy.reason``."""
        return "next of kin to the answer; contradicted by what is recorded; not in any visit"


_NOT_TRUE = "not in any visit of the patient; no knowledge path"

STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy for strategy in (Frequency(), Sibling(), Cooccurring(), Random())
}
"""Every strategy by name; a new one is one new entry."""


def denied(questions: Questions, about: Surroundings) -> Grid:
    """Whether "no" may be the answer about a candidate: it is contradicted, or it is presumed so.

    Presumed: linked and richly covered by the graph (a degree in the upper deciles), without a path
    (else it were not allowed at all), and rarer with the problem than without.
    """
    rich = questions.pool.column("decile") >= settings()["presumed"]["least_decile"]
    presumed = rich[None, :] & (about.lift(questions.templates) < 1)
    found: Grid = about.contradicted(questions.templates) | presumed
    return found


def _off(questions: Questions, axis: str, place: int) -> Steps:
    """Steps on one axis from the question's centre; TOO_FAR beyond the bound."""
    bound = int(settings()["widening"][f"{axis}s"])
    values = questions.pool.column(axis).astype(np.int16)
    ids = hash_strings(0, [row["id"] for row in questions.templates])
    centre = values[questions.answers] + _offsets(ids, place, bound)
    # Few centres: each one's row of the pool is worked out once.
    centres, which = np.unique(centre, return_inverse=True)
    off = np.abs(centres.astype(np.int16)[:, None] - values)
    found: Steps = np.where(off <= bound, off, np.int16(TOO_FAR))[which]
    return found


def _sum(one: Steps, other: Steps) -> Steps:
    total: Steps = one + other
    total[(one == TOO_FAR) | (other == TOO_FAR)] = TOO_FAR
    return total


def _offsets(ids: U64, place: int, bound: int) -> Steps:
    """How far each question's centre lies from its answer: the nearer, the likelier."""
    offsets = np.arange(-bound, bound + 1)
    odds = np.exp(-float(settings()["widening"]["step_cost"]) * np.abs(offsets))
    drawn = uniform(0, ids, place)
    found: Steps = offsets[np.searchsorted(np.cumsum(odds)[:-1] / odds.sum(), drawn)]
    return found
