"""Why a verdict is what it is, in words; the deciding reason first."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.verify.arrays import Bools, Floats, Ints
from ehrkg.verify.backing import CONTRADICTS, NEUTRAL, SUPPORTS, Backing, LinkedPairs
from ehrkg.verify.policy import Policy
from ehrkg.verify.score import AMBIGUOUS, CONTRADICTED, SUPPORTED, Tally

NOTHING = "no path joins the two ends"


@dataclass(frozen=True)
class LinkState:
    """How the ends of each claim are linked.

    Attributes:
        head_concept, tail_concept: of the best link, "" where there is none.
        head_levels, tail_levels: of the nearest link, -1 where there is none.
        near: some pair of links is near at both ends.
    """

    head_concept: list[str]
    tail_concept: list[str]
    head_levels: Ints
    tail_levels: Ints
    near: Bools

    @functools.cached_property
    def linked(self) -> Bools:
        """Both ends have a link, however broad."""
        return (self.head_levels >= 0) & (self.tail_levels >= 0)


def link_state(candidates: pa.Table, links: pa.Table, pairs: LinkedPairs) -> LinkState:
    """The best link of each end: the nearest, then the surest, then the first in the alphabet."""
    ordered = links.sort_by(
        [
            ("code", "ascending"),
            ("levels", "ascending"),
            ("confidence", "descending"),
            ("concept", "ascending"),
        ]
    )
    best: dict[str, tuple[str, int]] = {}
    for code, concept, levels in zip(
        *(ordered.column(name).to_pylist() for name in ("code", "concept", "levels")), strict=True
    ):
        best.setdefault(code, (concept, levels))
    ends = [
        [best.get(code, ("", -1)) for code in candidates.column(end).to_pylist()]
        for end in ("head", "tail")
    ]
    near = np.zeros(len(candidates), bool)
    near[pairs.claim[pairs.near]] = True
    (heads, tails) = ends
    return LinkState(
        [concept for concept, _ in heads],
        [concept for concept, _ in tails],
        np.array([levels for _, levels in heads], np.int64),
        np.array([levels for _, levels in tails], np.int64),
        near,
    )


def reasons(
    verdict: npt.NDArray[np.object_],
    parts: Tally,
    state: LinkState,
    backing: Backing,
    said: list[str],
    excluded: Floats,
    n_definition: Ints,
    policy: Policy,
) -> list[list[str]]:
    """By claim: reasons, the deciding one first.

    Args:
        verdict: what was decided.
        parts: what from.
        state: how the ends are linked.
        backing: the paths, strongest first.
        said: their sentences.
        excluded: by claim, the weight of a mutual exclusion.
        n_definition: by claim, how many sentences back it.
        policy: for the thresholds.
    """
    size = len(verdict)
    best = [_first(backing, polarity, size) for polarity in (SUPPORTS, CONTRADICTS, NEUTRAL)]
    # Of many pairs most are joined by nothing: these share one list, and no time is spent on them.
    told = (np.stack(best) >= 0).any(axis=0) | (excluded > 0) | (n_definition > 0)
    found = [[NOTHING]] * size
    for row in np.flatnonzero(told | ~state.linked | ~state.near).tolist():
        word = verdict[row]
        if not state.linked[row]:
            found[row] = [_unlinked(state, row)]
            continue
        lead, against, reverse = (said[place[row]] if place[row] >= 0 else "" for place in best)
        if excluded[row] and not against:
            against = "the two are variants of one parent that exclude each other (Excludes1)"
        lines = _deciding(word, row, parts, state, lead, against, policy)
        if reverse:
            lines.append(reverse)
        if n_definition[row]:
            lines.append(f"definitions that name both ends: {n_definition[row]}")
        found[row] = lines
    return found


def _deciding(
    word: str, row: int, parts: Tally, state: LinkState, lead: str, against: str, policy: Policy
) -> list[str]:
    support, contradiction = parts.support[row], parts.against[row]
    if word == SUPPORTED:
        lines = [f"{lead} (support {support:.2f})"]
        if against and parts.yielded[row]:
            origins = "one origin" if parts.stating[row] == 1 else f"{parts.stating[row]} origins"
            lines.append(f"outweighed by {origins} for the claim itself: {against}")
        elif against:
            lines.append(f"against, too weak to decide: {against} ({contradiction:.2f})")
        return lines
    if word == AMBIGUOUS:
        return [f"for and against: {lead} ({support:.2f}); but {against} ({contradiction:.2f})"]
    if word == CONTRADICTED:
        lines = [f"{against} (contradiction {contradiction:.2f})"]
        return [*lines, f"for: {lead}"] if lead else lines
    return _unsupported(row, parts, state, lead, against, policy)


def _unsupported(
    row: int, parts: Tally, state: LinkState, lead: str, against: str, policy: Policy
) -> list[str]:
    lines = []
    if not state.near[row]:
        levels = [
            f"{end} {many} levels up"
            for end, many in (("head", state.head_levels[row]), ("tail", state.tail_levels[row]))
            if many > policy.near_levels
        ]
        lines.append(f"linked too broadly: {', '.join(levels)}")
    if lead:
        lines.append(
            f"too weak: {lead} (support {parts.support[row]:.2f}, all paths {parts.path[row]:.2f}, "
            f"below {policy.support_at:.2f})"
        )
    if not lines:
        lines.append(NOTHING)
    if against:
        lines.append(f"against, too weak to decide: {against} ({parts.against[row]:.2f})")
    return lines


def _unlinked(state: LinkState, row: int) -> str:
    ends = [
        end
        for end, many in (("head", state.head_levels[row]), ("tail", state.tail_levels[row]))
        if many < 0
    ]
    return f"unlinked: {' and '.join(ends)}"


def _first(backing: Backing, polarity: int, size: int) -> Ints:
    """By claim: the first row of a polarity (they are sorted strongest first); -1 for none."""
    rows = np.flatnonzero(backing.polarity == polarity)
    claims, place = np.unique(backing.claim[rows], return_index=True)
    first = np.full(size, -1)
    first[claims] = rows[place]
    return first


__all__ = ["LinkState", "link_state", "reasons"]
