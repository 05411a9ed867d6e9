"""Evidence from the instructions of code systems, between two codes or their ancestors."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml

from ehrkg.ontology.predicates import PREDICATES
from ehrkg.verify.arrays import NONE, Floats, Ints, KnowledgeArrays, join
from ehrkg.verify.backing import LinkedPairs
from ehrkg.verify.policy import Policy
from ehrkg.verify.words import words_of

TREE_LEVELS = 6
"""From the longest ICD-10-CM code up to its chapter's block."""


@dataclass(frozen=True)
class Rule:
    """A row of coding_rules.yaml; see the head of that file."""

    instruction: str
    claims: tuple[str, ...]
    direction: str
    polarity: str
    share: float


@functools.cache
def rules() -> tuple[Rule, ...]:
    """The rows of coding_rules.yaml."""
    text = Path(__file__).with_name("coding_rules.yaml").read_text(encoding="utf-8")
    return tuple(
        Rule(
            row["instruction"],
            tuple(row["claim"]),
            row["direction"],
            row["polarity"],
            float(row["share"]),
        )
        for row in yaml.safe_load(text)
    )


@dataclass(frozen=True)
class Instructions:
    """Instructions that bind the two codes of a claim, one a row, sorted by claim and edge.

    Attributes:
        claim: row of the candidates.
        edge: the instruction's edge.
        rule: index into ``rules()``.
        polarity: as text; a mutual exclusion that may not contradict is neutral.
    """

    claim: Ints
    edge: Ints
    rule: Ints
    polarity: list[str]


def instructions(candidates: pa.Table, pairs: LinkedPairs, arrays: KnowledgeArrays) -> Instructions:
    """Find the coding instructions between the codes of each claim, or their ancestors.

    Args:
        candidates: claims; the ends are Code ids, which are the tree's concepts too.
        pairs: the claims' linked concepts, to tell variants of one parent.
        arrays: the knowledge, instructions among its edges.
    """
    names = sorted({rule.instruction for rule in rules()})
    edges = arrays.edges_of(names)
    heads, tails = (arrays.index(candidates.column(end)) for end in ("head", "tail"))
    claim, edge, forward = _between(arrays, edges, heads, tails)
    back_claim, back_edge, _ = _between(arrays, edges, tails, heads)
    claim = np.concatenate([claim, back_claim])
    edge = np.concatenate([edge, back_edge])
    forward = np.concatenate([forward, np.zeros(len(back_claim), bool)])
    predicate = np.array(candidates.column("predicate").to_pylist(), dtype=object)
    found: dict[tuple[int, int], int] = {}
    for number, rule in enumerate(rules()):
        fits = np.isin(arrays.predicate[edge], [rule.instruction]) if len(edge) else forward
        fits = fits & np.isin(predicate[claim].astype(str), rule.claims)
        if rule.direction != "either":
            fits = fits & (forward == (rule.direction == "with"))
        for row in np.flatnonzero(fits).tolist():
            found.setdefault((int(claim[row]), int(edge[row])), number)
    keys = sorted(found)
    rows = np.array([key[0] for key in keys], np.int64)
    variants = _variants_in_visit(candidates, pairs, arrays, np.unique(rows))
    chosen = [found[key] for key in keys]
    polarity = [
        "neutral"
        if rules()[rule].polarity == "contradicts" and row not in variants
        else rules()[rule].polarity
        for row, rule in zip(rows.tolist(), chosen, strict=True)
    ]
    return Instructions(
        rows, np.array([key[1] for key in keys], np.int64), np.array(chosen, np.int64), polarity
    )


def bonus(found: Instructions, size: int, policy: Policy) -> Floats:
    """By claim: what its instructions add to the score; the weightiest counts once."""
    share = np.array([rule.share for rule in rules()])
    result = np.zeros(size)
    np.maximum.at(result, found.claim, share[found.rule] * policy.coding_rule_bonus)
    return np.asarray(np.round(result, 4), dtype=np.float64)


def weights(found: Instructions, policy: Policy) -> Floats:
    """By instruction: its weight as evidence."""
    share = np.array([rule.share for rule in rules()])
    contradicts = np.array([polarity == "contradicts" for polarity in found.polarity], bool)
    usual = share[found.rule] * policy.coding_rule_bonus
    weight = np.where(contradicts, policy.excludes1_weight, usual)
    return np.asarray(np.round(weight, 4), dtype=np.float64)


def exclusion(found: Instructions, size: int, policy: Policy) -> Floats:
    """By claim: the weight of a mutual exclusion that contradicts it; 0 for none."""
    result = np.zeros(size)
    rows: list[int] = [i for i, polarity in enumerate(found.polarity) if polarity == "contradicts"]
    result[found.claim[rows]] = policy.excludes1_weight
    return result


def sentence(arrays: KnowledgeArrays, edge: int) -> str:
    """An instruction in words."""
    subject, target = int(arrays.subject[edge]), int(arrays.object[edge])
    words = PREDICATES[str(arrays.predicate[edge])].words
    ends = [f"{arrays.name(end)} ({arrays.concepts[end]})" for end in (subject, target)]
    return f"{ends[0]} {words}: {ends[1]}"


def _between(
    arrays: KnowledgeArrays, edges: Ints, left: Ints, right: Ints
) -> tuple[Ints, Ints, np.ndarray]:
    """Edges from ``left`` or its ancestors to ``right`` or its ancestors, by position."""
    size = max(len(arrays), 1)
    both = np.flatnonzero((left != NONE) & (right != NONE))
    key, place = np.unique(left[both] * size + right[both], return_inverse=True)
    pair, start = _upward(arrays, key // size, arrays.subject[edges])
    by_subject = edges[np.argsort(arrays.subject[edges], kind="stable")]
    mine, edge = join(start, arrays.subject[by_subject])
    pair, edge = pair[mine], by_subject[edge]
    other, end = _upward(arrays, key % size, arrays.object[edges])
    goal = np.unique(other * size + end)
    hit = np.isin(pair * size + arrays.object[edge], goal)
    pair, edge = pair[hit], edge[hit]
    order = np.lexsort((edge, pair))
    mine, row = join(place.ravel(), pair[order])
    return both[mine], edge[order][row], np.ones(len(mine), bool)


def _upward(arrays: KnowledgeArrays, nodes: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """(position, node or ancestor) for those that are wanted."""
    climb = arrays.climb(np.unique(nodes), TREE_LEVELS)
    keep = np.isin(climb.end, wanted)
    start, end = climb.start[keep], climb.end[keep]
    mine, row = join(nodes, start)
    own = np.flatnonzero(np.isin(nodes, wanted))
    return np.concatenate([own, mine]), np.concatenate([nodes[own], end[row]])


def _variants_in_visit(
    candidates: pa.Table, pairs: LinkedPairs, arrays: KnowledgeArrays, claims: Ints
) -> set[int]:
    """Claims seen within a visit whose ends are different kinds of one concept, by name too.

    Angina and coronary disease have a parent in common and exclude each other, but neither is a
    variant of it; type 1 and type 2 diabetes are.
    """
    within = candidates.column("n_within").fill_null(0).to_numpy() > 0
    chosen = np.isin(pairs.claim, claims) & pairs.near & within[pairs.claim]
    rows = np.flatnonzero(
        chosen & (pairs.head != NONE) & (pairs.tail != NONE) & (pairs.head != pairs.tail)
    )
    parents = arrays.parents
    mine, up = join(pairs.head[rows], parents.start)
    size = len(arrays)
    edges = np.unique(parents.start * size + parents.end)
    siblings = np.isin(pairs.tail[rows][mine] * size + parents.end[up], edges)
    found = set()
    for row, parent in zip(rows[mine[siblings]], parents.end[up[siblings]], strict=True):
        name = set(words_of(arrays.name(parent)))
        ends = (pairs.head[row], pairs.tail[row])
        if all(name < set(words_of(arrays.name(end))) for end in ends):
            found.add(int(pairs.claim[row]))
    return found
