"""What backs a set of claims: their ends linked to concepts, and the paths between those."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.routes import APART
from ehrkg.ontology.sources import SOURCES
from ehrkg.verify.arrays import NONE, Bools, Floats, Ints, KnowledgeArrays, join
from ehrkg.verify.meta_paths import HIERARCHY, MetaPath, ends_that_inherit
from ehrkg.verify.paths import Witnesses, concatenate, find
from ehrkg.verify.policy import Policy

KIN_LEVELS = 3
"""No inherited path counts between a concept and its own ancestor within so many levels."""

SUPPORTS, CONTRADICTS, NEUTRAL = 0, 1, 2
POLARITY = {"supports": SUPPORTS, "contradicts": CONTRADICTS, "neutral": NEUTRAL}


@dataclass(frozen=True)
class LinkedPairs:
    """The pairs of concepts that a claim's two codes stand for, one a row, sorted by claim.

    Attributes:
        claim: row of the candidates.
        head, tail: concept indices; NONE where the knowledge says nothing of the linked concept.
        head_id, tail_id: the linked concepts themselves.
        confidence: product of both links' confidence, broad and unsound links counted less.
        near: both links are near ones.
        exact: both concepts are what the codes themselves stand for.
        exact_tail: the tail's is.
    """

    claim: Ints
    head: Ints
    tail: Ints
    head_id: npt.NDArray[np.object_]
    tail_id: npt.NDArray[np.object_]
    confidence: Floats
    near: Bools
    exact: Bools
    exact_tail: Bools


@dataclass(frozen=True)
class Backing:
    """Paths for and against the claims, one a row, sorted by claim and then the strongest first.

    Attributes:
        claim: row of the candidates.
        pair: row of the linked pairs.
        polarity: SUPPORTS, CONTRADICTS or NEUTRAL.
        meta: index into the policy's meta-paths.
        weight: in [0, 1], rounded to 4.
        carries: may carry a verdict: of a sufficient kind (or against), and over near links.
        stated: it is the claim itself: no hierarchy was walked, and both links are exact.
        yields: how many origins that state the claim itself it gives way to; 0 to none.
        origin, source: of the statements on the path, distinct, joined by "|".
        needs: (n, sources) which sources the path cannot do without.
        sources: names of the columns of ``needs``.
        witnesses: the edges and concepts.
    """

    claim: Ints
    pair: Ints
    polarity: Ints
    meta: Ints
    weight: Floats
    carries: Bools
    stated: Bools
    yields: Ints
    origin: npt.NDArray[np.object_]
    source: npt.NDArray[np.object_]
    needs: Bools
    sources: tuple[str, ...]
    witnesses: Witnesses

    def __len__(self) -> int:
        return len(self.claim)

    def take(self, rows: Ints) -> Backing:
        """Some of the rows."""
        return Backing(
            self.claim[rows],
            self.pair[rows],
            self.polarity[rows],
            self.meta[rows],
            self.weight[rows],
            self.carries[rows],
            self.stated[rows],
            self.yields[rows],
            self.origin[rows],
            self.source[rows],
            self.needs[rows],
            self.sources,
            self.witnesses.take(rows),
        )


def link_pairs(
    candidates: pa.Table, links: pa.Table, arrays: KnowledgeArrays, policy: Policy
) -> LinkedPairs:
    """Join the candidates with the links of both their codes.

    A concept that several methods link to a code counts once, by its nearest, surest link.
    """
    used = links.filter(pc.less_equal(links.column("levels"), policy.broad_levels))
    used = used.sort_by(
        [
            ("code", "ascending"),
            ("concept", "ascending"),
            ("levels", "ascending"),
            ("confidence", "descending"),
            ("predicate", "ascending"),
        ]
    )
    codes, concepts = _texts(used, "code"), _texts(used, "concept")
    first = np.ones(len(codes), bool)
    first[1:] = (codes[1:] != codes[:-1]) | (concepts[1:] != concepts[:-1])
    codes, concepts = codes[first], concepts[first]
    levels = used.column("levels").to_numpy()[first]
    confidence = used.column("confidence").to_numpy()[first]
    broader = (levels > 0) | (_texts(used, "predicate")[first] == "skos:broadMatch")
    index = arrays.index(pa.array(concepts, pa.string()))

    vocabulary, link_code = np.unique(codes.astype(str), return_inverse=True)
    value_set = pa.array(vocabulary, pa.string())
    ends = [
        pc.fill_null(pc.index_in(candidates.column(end), value_set=value_set), NONE)
        .to_numpy(zero_copy_only=False)
        .astype(np.int64)
        for end in ("head", "tail")
    ]
    claim, head = join(ends[0], link_code)
    again, tail = join(ends[1][claim], link_code)
    claim, head = claim[again], head[again]

    near = (levels[head] <= policy.near_levels) & (levels[tail] <= policy.near_levels)
    factor = confidence[head] * confidence[tail]
    factor = factor * np.where(near, 1.0, policy.broad_factor)
    predicate = _texts(candidates, "predicate")[claim]
    for name in sorted(set(predicate.tolist())):
        ends_inherit = ends_that_inherit(policy.meta_paths, name)
        for row, inherits in ((head, ends_inherit.head), (tail, ends_inherit.tail)):
            if not inherits:
                unsound = (predicate == name) & broader[row]
                factor = np.where(unsound, factor * policy.unsound_link, factor)
    return LinkedPairs(
        claim,
        index[head],
        index[tail],
        concepts[head],
        concepts[tail],
        factor,
        near,
        exact=~broader[head] & ~broader[tail],
        exact_tail=~broader[tail],
    )


def back(
    candidates: pa.Table, pairs: LinkedPairs, arrays: KnowledgeArrays, policy: Policy
) -> Backing:
    """Find every path for and against the claims and weigh it.

    The weight of a path is the meta-path's weight, times its decay for each level beyond the
    least, times for each statement on it the reliability of its source and the discount of a hub,
    times the confidence of the links at both ends.
    """
    predicate = _texts(candidates, "predicate")[pairs.claim]
    route = _texts(candidates, "route")
    kin = arrays.related(pairs.head, pairs.tail, KIN_LEVELS)
    sources = tuple(sorted(set(arrays.source.tolist())))
    trust, falls = _trust(arrays, policy), _fallen_with(arrays, sources)
    yields = {"nothing": 0, "statement": 1, "origins": policy.overrule_origins}
    parts: list[Backing] = []
    for number, path in enumerate(policy.meta_paths):
        asked = (predicate == path.predicate) & ~(kin & path.walks)
        rows = np.flatnonzero(asked & (pairs.exact_tail | (not path.generalises_tail)))
        found, row = _find_distinct(arrays, path, pairs.head[rows], pairs.tail[rows])
        row = rows[row]
        statements = _statements(arrays, found.edges)
        fits = _route_fits(arrays, statements, route[pairs.claim[row]])
        keep = np.flatnonzero(fits)
        found, row, statements = found.take(keep), row[keep], statements[keep]
        weight = path.weight * path.decay ** (found.level - path.least_levels)
        weight = weight * _product(trust, statements) * pairs.confidence[row]
        against = path.polarity == "contradicts"
        size = len(row)
        parts.append(
            Backing(
                claim=pairs.claim[row],
                pair=row,
                polarity=np.full(size, POLARITY[path.polarity], np.int64),
                meta=np.full(size, number, np.int64),
                weight=np.round(weight, 4),
                carries=pairs.near[row] & (path.sufficient or against),
                stated=pairs.exact[row] & (not path.walks),
                yields=np.full(size, yields[path.yields_to], np.int64),
                origin=_labels(arrays.origin, statements),
                source=_labels(arrays.source, statements),
                needs=_needs(falls, found.edges, len(sources)),
                sources=sources,
                witnesses=found,
            )
        )
    return _strongest(_join(parts))


def _find_distinct(
    arrays: KnowledgeArrays, path: MetaPath, heads: Ints, tails: Ints
) -> tuple[Witnesses, Ints]:
    """Paths between distinct pairs of concepts, told apart again by row."""
    size = max(len(arrays), 1)
    usable = np.flatnonzero((heads != NONE) & (tails != NONE))
    key, place = np.unique(heads[usable] * size + tails[usable], return_inverse=True)
    found = find(arrays, path, key // size, key % size)
    order = np.argsort(found.pair, kind="stable")
    mine, witness = join(place.ravel(), found.pair[order])
    return found.take(order[witness]), usable[mine]


def _statements(arrays: KnowledgeArrays, edges: Ints) -> Ints:
    """The edges that state something (not the hierarchy's), as (n, k), padded with NONE."""
    if not len(arrays.predicate):
        return np.full((len(edges), 1), NONE, np.int64)
    stating = (edges != NONE) & (arrays.predicate[edges] != HIERARCHY)
    width = max(int(stating.sum(axis=1).max(initial=0)), 1)
    order = np.argsort(~stating, axis=1, kind="stable")[:, :width]
    picked = np.take_along_axis(edges, order, axis=1)
    return np.where(np.take_along_axis(stating, order, axis=1), picked, NONE)


def _route_fits(arrays: KnowledgeArrays, statements: Ints, asked: npt.NDArray[np.object_]) -> Bools:
    """Whether the first statement holds for the route asked about.

    One that names no route holds for every class that is not apart; one that names some holds for
    those, and where none was asked about.
    """
    stated = arrays.route[statements[:, 0]] if len(arrays.route) else asked
    known = {pair: _holds(*pair) for pair in set(zip(stated.tolist(), asked.tolist(), strict=True))}
    pairs = zip(stated.tolist(), asked.tolist(), strict=True)
    return np.fromiter((known[pair] for pair in pairs), bool, count=len(asked))


def _holds(stated: str, asked: str) -> bool:
    if not stated:
        return asked not in APART
    return not asked or asked in stated.split("|")


def _trust(arrays: KnowledgeArrays, policy: Policy) -> Floats:
    """By edge: reliability of its source times the discount of a hub."""
    reliability = {
        source: SOURCES[source].reliability if source in SOURCES else policy.default_reliability
        for source in sorted(set(arrays.source.tolist()))
    }
    trusted = np.array([reliability[source] for source in arrays.source.tolist()], np.float64)
    span = np.log(policy.hub_to / policy.hub_from)
    excess = np.log(np.maximum(arrays.degree, policy.hub_from) / policy.hub_from) / span
    weight: Floats = trusted * (1.0 - (1.0 - policy.hub_floor) * np.minimum(excess, 1.0))
    return weight


def _product(values: Floats, statements: Ints) -> Floats:
    if not len(values):
        return np.ones(len(statements))
    product: Floats = np.where(statements != NONE, values[statements], 1.0).prod(axis=1)
    return product


def _labels(values: npt.NDArray[np.object_], statements: Ints) -> npt.NDArray[np.object_]:
    labels: npt.NDArray[np.object_] = np.empty(len(statements), dtype=object)
    if not len(values):
        return labels
    labels[:] = values[statements[:, 0]]
    for row in np.flatnonzero((statements != NONE).sum(axis=1) > 1):
        some = statements[row][statements[row] != NONE]
        labels[row] = "|".join(sorted(set(values[some].tolist())))
    return labels


def _fallen_with(arrays: KnowledgeArrays, sources: tuple[str, ...]) -> Ints:
    """By edge: the number of the source that it falls with; NONE where another states it too.

    A statement falls with its own source (a path over another's edge is a path of its own); a step
    of the hierarchy with the only source that states it.
    """
    number = {source: place for place, source in enumerate(sources)}
    own = np.array([number[source] for source in arrays.source.tolist()], np.int64)
    sole = np.array([number.get(source, NONE) for source in arrays.sole_source], np.int64)
    return np.where(arrays.predicate == HIERARCHY, sole, own)


def _needs(falls: Ints, edges: Ints, size: int) -> Bools:
    """Sources that a path falls with: those that any of its edges falls with."""
    needs = np.zeros((len(edges), size), bool)
    for column in edges.T:
        rows = np.flatnonzero(column != NONE)
        rows = rows[falls[column[rows]] != NONE]
        needs[rows, falls[column[rows]]] = True
    return needs


def _join(parts: list[Backing]) -> Backing:
    plain = (
        "claim",
        "pair",
        "polarity",
        "meta",
        "weight",
        "carries",
        "stated",
        "yields",
        "origin",
        "source",
        "needs",
    )
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in plain}
    return Backing(
        **columns,
        sources=parts[0].sources,
        witnesses=concatenate([part.witnesses for part in parts]),
    )


def _strongest(backing: Backing) -> Backing:
    """The strongest path of each (claim, meta-path, origin, sources needed), in final order.

    The others say the same from the same origin and change neither score nor dependence.
    """
    by_path = backing.witnesses
    strength = (*by_path.edges.T[::-1], *by_path.nodes.T[::-1], backing.pair, -backing.weight)
    _, origin = np.unique(backing.origin.astype(str), return_inverse=True)
    _, source = np.unique(backing.source.astype(str), return_inverse=True)
    group = (_rows_key(backing.needs), source.ravel(), origin.ravel(), backing.meta, backing.claim)
    order = np.lexsort((*strength, *group))
    change = np.zeros(len(order), bool)
    if len(order):
        change[0] = True
    for key in group:
        change[1:] |= key[order][1:] != key[order][:-1]
    kept = backing.take(order[change])
    paths = kept.witnesses
    final = np.lexsort(
        (
            *paths.edges.T[::-1],
            *paths.nodes.T[::-1],
            kept.meta,
            -kept.weight,
            ~kept.carries,
            kept.polarity,
            kept.claim,
        )
    )
    return kept.take(final)


def _rows_key(table: Bools) -> Ints:
    """Equal rows get equal numbers."""
    if not table.size:
        return np.zeros(len(table), np.int64)
    _, key = np.unique(np.packbits(table, axis=1), axis=0, return_inverse=True)
    return np.asarray(key.ravel(), dtype=np.int64)


def _texts(table: pa.Table, column: str) -> npt.NDArray[np.object_]:
    result: npt.NDArray[np.object_] = pc.fill_null(table.column(column), "").to_numpy(
        zero_copy_only=False
    )
    return result
