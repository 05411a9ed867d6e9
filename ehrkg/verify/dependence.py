"""Which sources a verdict falls with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.verify.arrays import NONE, Floats, Ints, KnowledgeArrays
from ehrkg.verify.backing import Backing, LinkedPairs, back
from ehrkg.verify.meta_paths import HIERARCHY
from ehrkg.verify.policy import Policy
from ehrkg.verify.score import SUPPORTED, decide, tally


def dependence(
    candidates: pa.Table,
    pairs: LinkedPairs,
    arrays: KnowledgeArrays,
    backing: Backing,
    excluded: Floats,
    verdict: npt.NDArray[np.object_],
    policy: Policy,
) -> list[list[str]]:
    """By claim: the sources without whose statements a `supported` falls, by the same rule; sorted.

    The paths that need a source are left out, and what remains is weighed again. A path kept is one
    way among several through the hierarchy, so where the source states part of the hierarchy, what
    seems to fall is looked for again in the arrays without it. Codes stay linked as they are.

    Args:
        candidates: the claims.
        pairs: their linked concepts.
        arrays: the knowledge.
        backing: what ``back`` made of these.
        excluded: by claim, the weight of a mutual exclusion.
        verdict: by claim.
        policy: the rule.
    """
    found: list[list[str]] = [[]] * len(verdict)
    claims = np.flatnonzero(verdict == SUPPORTED)
    place = np.full(len(verdict), NONE)
    place[claims] = np.arange(len(claims))
    some = backing.take(np.flatnonzero(place[backing.claim] != NONE))
    local = replace(some, claim=place[some.claim])
    climbs = set(arrays.source[arrays.predicate == HIERARCHY].tolist())
    for column, source in enumerate(backing.sources):
        needed = local.needs[:, column]
        if not needed.any():
            continue
        without = decide(tally(local, excluded[claims], ~needed), policy)
        touched = np.unique(local.claim[needed])
        fallen = claims[touched[without[touched] != SUPPORTED]]
        if source in climbs and len(fallen):
            left = arrays.without(source)
            fallen = fallen[_falls(candidates, pairs, left, excluded, policy, fallen)]
        for row in fallen.tolist():
            found[row] = [*found[row], source]
    return found


def _falls(
    candidates: pa.Table,
    pairs: LinkedPairs,
    left: KnowledgeArrays,
    excluded: Floats,
    policy: Policy,
    claims: Ints,
) -> npt.NDArray[np.bool_]:
    """Which of these claims are not supported by what is left."""
    place = np.full(len(candidates), NONE)
    place[claims] = np.arange(len(claims))
    rows = np.flatnonzero(place[pairs.claim] != NONE)
    some = LinkedPairs(**{name: values[rows] for name, values in vars(pairs).items()})
    some = replace(some, claim=place[some.claim])
    backing = back(candidates.take(pa.array(claims)), some, left, policy)
    again = decide(tally(backing, excluded[claims]), policy)
    return np.asarray(again != SUPPORTED, dtype=bool)
