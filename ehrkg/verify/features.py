"""What the score of a claim is computed from: few numbers, each of which a reader understands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ehrkg.verify.arrays import NONE, Bools, Floats, Ints, KnowledgeArrays, join
from ehrkg.verify.backing import NEUTRAL, SUPPORTS, Backing, LinkedPairs
from ehrkg.verify.policy import Policy
from ehrkg.verify.score import Tally

MOST_ORIGINS = 3
"""More origins than these say no more."""
LEAST_MATES = 2
"""A class of fewer other drugs that are known to treat something shows nothing."""
KIND_LEVELS = 2
"""A class-mate that treats a kind so far below the condition counts as treating it."""


def features(
    pairs: LinkedPairs,
    backing: Backing,
    parts: Tally,
    definition: Floats,
    arrays: KnowledgeArrays,
    policy: Policy,
    treats: Bools,
) -> dict[str, Floats]:
    """By claim, what calibration.yaml may give a coefficient.

    Args:
        pairs: the claims' linked concepts.
        backing: the paths, strongest first.
        parts: the strengths added up.
        definition: by claim, what sentences add to the score.
        arrays: the knowledge.
        policy: names of the meta-paths, and the bonus of definitions.
        treats: by claim, whether its class-mates are to be looked at (they cost most).

    Returns:
        * support: noisy-or of the paths that may carry a verdict; weak: what the others add to it.
        * origins: how many carry, at most three.
        * steps, by_class: of the strongest carrying path: levels of the hierarchy walked; whether
          it starts at the head's class.
        * hub: how far its statement is discounted as a hub's, 0 to 1.
        * kind: origins (at most two) by which the head treats a kind of the tail;
          sign: whether it treats what the tail brings about.
        * mates, wider_mates: share of the other drugs of its class, or of the class above, that
          treat the tail or a kind of it.
        * kin: whether it treats another kind of what the tail is a kind of.
        * definition: similarity of the best sentence; against: what contradicts.
    """
    size = len(definition)
    names = np.array([path.name for path in policy.meta_paths], dtype=object)[backing.meta]
    carrying = (backing.polarity == SUPPORTS) & backing.carries
    bonus = policy.definition_bonus or 1.0
    first = _first(backing, carrying)
    return {
        "support": parts.support,
        "weak": np.round(parts.path - parts.support, 4),
        "origins": _origins(backing, carrying, size, MOST_ORIGINS),
        **_of_strongest(backing, first, arrays, policy, size),
        "kind": _origins(backing, _neutral(backing, names, "treats_kind"), size, 2),
        "sign": _origins(backing, _neutral(backing, names, "treats_sign"), size, 1),
        "mates": class_mates(arrays, pairs, treats, 1),
        "wider_mates": class_mates(arrays, pairs, treats, 2),
        "kin": kin(arrays, pairs, treats),
        "definition": np.round(definition / bonus, 4),
        "against": parts.against,
    }


def class_mates(arrays: KnowledgeArrays, pairs: LinkedPairs, wanted: Bools, levels: int) -> Floats:
    """By claim: the share of the head's class-mates that treat the tail or a kind of it.

    A class is what stands so many levels above the head; its members are those as far below it that
    treat anything at all. The head itself is not counted. Of several classes the largest share is
    taken; one with fewer than two other members gives none.

    Args:
        arrays: the knowledge.
        pairs: the claims' linked concepts.
        wanted: claims to look at; 0 for the others.
        levels: 1 for the nearest classes, 2 for those above them.
    """
    share = np.zeros(len(wanted))
    rows = np.flatnonzero(wanted[pairs.claim] & (pairs.head != NONE) & (pairs.tail != NONE))
    treats = _treats_or_kinds(arrays)
    describes = np.diff(treats.indptr) > 0
    closure = arrays.ancestors(levels)
    closure = closure.take(np.flatnonzero(closure.level == levels))
    described = np.flatnonzero(describes[closure.start])
    if not len(rows) or not len(described):
        return share
    members = _matrix(closure.end[described], closure.start[described], len(arrays))
    treating = (members @ treats).tocsr()
    mine, up = join(pairs.head[rows], closure.start)
    row, above = rows[mine], closure.end[up]
    head, tail = pairs.head[row], pairs.tail[row]
    own = _at(treats, head, tail)
    others = np.diff(members.indptr)[above] - describes[head]
    hits = _at(treating, above, tail) - own
    enough = others >= LEAST_MATES
    np.maximum.at(share, pairs.claim[row[enough]], hits[enough] / others[enough])
    return np.asarray(np.round(share, 4), dtype=np.float64)


def kin(arrays: KnowledgeArrays, pairs: LinkedPairs, wanted: Bools) -> Floats:
    """By claim: 1 where the head treats another kind of what the tail is a kind of, else 0."""
    found = np.zeros(len(wanted))
    rows = np.flatnonzero(wanted[pairs.claim] & (pairs.head != NONE) & (pairs.tail != NONE))
    if not len(rows) or not len(arrays.predicate):
        return found
    edges = arrays.edges_of(["TREATS"])
    treats = _matrix(arrays.subject[edges], arrays.object[edges], len(arrays))
    parents = _matrix(arrays.parents.start, arrays.parents.end, len(arrays))
    of_parent = (treats @ parents).tocsr()
    mine, up = join(pairs.tail[rows], arrays.parents.start)
    head, parent = pairs.head[rows[mine]], arrays.parents.end[up]
    own = _at(treats, head, pairs.tail[rows[mine]])
    hit = _at(of_parent, head, parent) > own
    found[pairs.claim[rows[mine][hit]]] = 1.0
    return found


def _treats_or_kinds(arrays: KnowledgeArrays) -> Any:
    """Sparse 0/1: who treats what, or a kind of it."""
    edges = arrays.edges_of(["TREATS"])
    closure = arrays.ancestors(KIND_LEVELS)
    start, end = arrays.subject[edges], arrays.object[edges]
    mine, up = join(end, closure.start)
    start = np.concatenate([start, start[mine]])
    end = np.concatenate([end, closure.end[up]])
    return _matrix(start, end, len(arrays))


def _at(matrix: Any, row: Ints, column: Ints) -> Ints:
    """Entries of a sparse matrix (which, asked for none, would give a matrix)."""
    if not len(row):
        return np.empty(0, np.int64)
    return np.asarray(matrix[row, column]).ravel().astype(np.int64)


def _matrix(start: Ints, end: Ints, size: int) -> Any:
    """Sparse 0/1."""
    from scipy import sparse

    matrix = sparse.csr_array((np.ones(len(start), np.int32), (start, end)), shape=(size, size))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _neutral(backing: Backing, names: np.ndarray, name: str) -> Bools:
    return np.asarray((backing.polarity == NEUTRAL) & (names == name), dtype=bool)


def _origins(backing: Backing, rows: Bools, size: int, most: int) -> Floats:
    """By claim: distinct origins of these paths, at most so many."""
    some = np.flatnonzero(rows)
    _, origin = np.unique(backing.origin[some].astype(str), return_inverse=True)
    pairs = np.unique(np.column_stack([backing.claim[some], origin.ravel()]), axis=0)
    counted = np.bincount(pairs[:, 0].astype(np.int64), minlength=size)
    return np.minimum(counted, most).astype(np.float64)


def _first(backing: Backing, carrying: Bools) -> Ints:
    """The strongest carrying path of each claim that has one."""
    rows = np.flatnonzero(carrying)
    _, place = np.unique(backing.claim[rows], return_index=True)
    return np.asarray(rows[place], dtype=np.int64)


def _of_strongest(
    backing: Backing, first: Ints, arrays: KnowledgeArrays, policy: Policy, size: int
) -> dict[str, Floats]:
    paths = policy.meta_paths
    claims, meta = backing.claim[first], backing.meta[first]

    def by_claim(values: Floats) -> Floats:
        whole = np.zeros(size)
        whole[claims] = values
        return whole

    def of_path(trait: Callable[[int], bool]) -> Floats:
        table = np.array([trait(number) for number in range(len(paths))], np.float64)
        return by_claim(table[meta])

    edges = backing.witnesses.edges[first]
    degree = np.where(edges == NONE, 0, _degrees(arrays)[edges]).max(axis=1, initial=0)
    span = np.log(policy.hub_to / policy.hub_from)
    excess = np.log(np.maximum(degree, policy.hub_from) / policy.hub_from) / span
    return {
        "steps": by_claim(backing.witnesses.level[first].astype(np.float64)),
        "by_class": of_path(
            lambda number: paths[number].steps[0].hierarchical and paths[number].steps[0].forward
        ),
        "hub": by_claim(np.round(np.minimum(excess, 1.0), 4)),
    }


def _degrees(arrays: KnowledgeArrays) -> Ints:
    """By edge, its degree; 0 for the hierarchy, whose breadth is no hub."""
    if not len(arrays.predicate):
        return np.zeros(1, np.int64)
    return np.where(arrays.predicate == "SUBCLASS_OF", 0, arrays.degree)


__all__ = ["class_mates", "features"]
