"""From evidence to a score and a verdict: a rule on parts that can be read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ehrkg.verify.arrays import Bools, Floats, Ints
from ehrkg.verify.backing import CONTRADICTS, SUPPORTS, Backing
from ehrkg.verify.policy import Policy

SUPPORTED, CONTRADICTED, AMBIGUOUS, UNSUPPORTED = (
    "supported",
    "contradicted",
    "ambiguous",
    "unsupported",
)


@dataclass(frozen=True)
class Tally:
    """Strengths by claim, each in [0, 1] and rounded to 4.

    Attributes:
        support: noisy-or over origins of the paths that may carry a verdict.
        path: the same with the strongest of the other paths, which count once together.
        against: noisy-or over origins of what contradicts and does not yield.
        yielded: the same of what yields to those that state the claim itself.
        stating: how many origins state the claim itself.
    """

    support: Floats
    path: Floats
    against: Floats
    yielded: Floats
    stating: Ints


def noisy_or(claim: Ints, origin: npt.NDArray[np.object_], weight: Floats, size: int) -> Floats:
    """1 - prod over origins (1 - the strongest weight of that origin), by claim.

    The model of independent causes (Pearl 1988, Probabilistic Reasoning in Intelligent Systems,
    section 4.3.2): a claim fails only if every origin is wrong about it. Two files that copy one
    origin are wrong together, so an origin counts once, by its strongest path.

    >>> origins = np.array(["a", "a", "b"], dtype=object)
    >>> noisy_or(np.array([0, 0, 0]), origins, np.array([0.5, 0.4, 0.5]), 2)
    array([0.75, 0.  ])
    """
    _, number = np.unique(origin.astype(str), return_inverse=True)
    number = number.ravel()
    order = np.lexsort((-weight, number, claim))
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(claim[order]) != 0) | (np.diff(number[order]) != 0)
    best = order[first]
    failing = np.ones(size)
    np.multiply.at(failing, claim[best], 1.0 - weight[best])
    return np.round(1.0 - failing, 4)


def tally(backing: Backing, excluded: Floats, rows: Bools | None = None) -> Tally:
    """Add the evidence up.

    Args:
        backing: paths for and against.
        excluded: by claim, the weight of a mutual exclusion (a firm contradiction); 0 for none.
        rows: only these paths; all by default.
    """
    size = len(excluded)
    rows = np.ones(len(backing), bool) if rows is None else rows

    def over(chosen: Bools) -> Floats:
        some = np.flatnonzero(rows & chosen)
        return noisy_or(backing.claim[some], backing.origin[some], backing.weight[some], size)

    supporting = backing.polarity == SUPPORTS
    against = (backing.polarity == CONTRADICTS) & backing.carries
    stating = _stating(backing, rows & supporting & backing.carries & backing.stated, size)
    enough = stating[backing.claim] if len(backing) else np.empty(0, np.int64)
    yielding = against & (backing.yields > 0) & (enough >= backing.yields)
    support = over(supporting & backing.carries)
    weak = np.zeros(size)
    some = np.flatnonzero(rows & supporting & ~backing.carries)
    np.maximum.at(weak, backing.claim[some], backing.weight[some])
    return Tally(
        support=support,
        path=np.round(1.0 - (1.0 - support) * (1.0 - weak), 4),
        against=np.round(1.0 - (1.0 - over(against & ~yielding)) * (1.0 - excluded), 4),
        yielded=over(yielding),
        stating=stating,
    )


def _stating(backing: Backing, chosen: Bools, size: int) -> Ints:
    """By claim: how many distinct origins the chosen paths have."""
    some = np.flatnonzero(chosen)
    _, origin = np.unique(backing.origin[some].astype(str), return_inverse=True)
    pairs = np.unique(np.column_stack([backing.claim[some], origin.ravel()]), axis=0)
    return np.bincount(pairs[:, 0].astype(np.int64), minlength=size)


def decide(parts: Tally, policy: Policy) -> npt.NDArray[np.object_]:
    """The verdict by claim.

    * `supported`: support reaches ``support_at`` and what speaks against stays below
      ``contradict_at``.
    * `ambiguous`: both reach their thresholds.
    * `contradicted`: only what speaks against does.
    * `unsupported`: neither does. The graph is open-world: this is not falsehood.

    What yields is left out of it: an inherited contraindication where several origins state the
    claim itself (the nearer statement, made twice, is the more special one), a harm of the drug
    where its use against that very harm is stated.
    """
    strong = parts.support >= policy.support_at
    against = parts.against >= policy.contradict_at
    verdict: npt.NDArray[np.object_] = np.full(len(strong), UNSUPPORTED, dtype=object)
    verdict[strong] = SUPPORTED
    verdict[strong & against] = AMBIGUOUS
    verdict[~strong & against] = CONTRADICTED
    return verdict


def total(parts: Tally, definition: Floats, coding_rule: Floats) -> Floats:
    """The score: (path + (1 - path) (definition + coding rule)) (1 - against), rounded to 4.

    Paths are the backbone. Definitions and coding rules may fill a small part of what the paths
    leave open (each is bounded by the policy), so that of two claims with equal paths the better
    described one stands higher, and neither kind makes a high score alone. What speaks against
    scales all of it down. It ranks; it is not a calibrated probability.
    """
    score = (parts.path + (1.0 - parts.path) * (definition + coding_rule)) * (1.0 - parts.against)
    return np.asarray(np.round(np.clip(score, 0.0, 1.0), 4), dtype=np.float64)
