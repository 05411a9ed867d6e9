"""Verifying: candidate relations and knowledge in, verdicts with their evidence out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.embedding import Embedder
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.mapping.schema import LINKS
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose.schema import CANDIDATES
from ehrkg.verify import coding_rules, report
from ehrkg.verify.arrays import KnowledgeArrays
from ehrkg.verify.backing import SUPPORTS, Backing, LinkedPairs, back, link_pairs
from ehrkg.verify.calibration import calibrations
from ehrkg.verify.definitions import Models, definition_evidence
from ehrkg.verify.dependence import dependence
from ehrkg.verify.features import features
from ehrkg.verify.judge import Judge
from ehrkg.verify.policy import Policy
from ehrkg.verify.reasons import LinkState, link_state, reasons
from ehrkg.verify.schema import RELATIONS, Verified
from ehrkg.verify.score import Tally, decide, tally, total

_COUNTED = ("tasks", "proposers", "n_within", "n_across", "n_patients", "lift", "p_value")


def verify(
    candidates: pa.Table,
    links: pa.Table,
    knowledge: Knowledge,
    *,
    policy: Policy | None = None,
    embedder: Embedder | None = None,
    judge: Judge | None = None,
    cache: Path | None = None,
    ledger: Ledger | None = None,
    progress: Progress | None = None,
) -> Verified:
    """Give each candidate relation a verdict, a score whose parts can be read, and its evidence.

    Only typed paths through the knowledge make a verdict, and only over near links; definitions
    and coding instructions may add a little to the score, the hospital's statistics are shown.

    Args:
        candidates: CANDIDATES, in any order; a row repeated counts once.
        links: LINKS of the candidates' codes; codes without any are `unlinked`.
        knowledge: concepts, edges, synonyms and definitions.
        policy: thresholds, factors and meta-paths; strict by default.
        embedder: for definitions; by default the packaged MiniLM, loaded only where some definition
            names both ends of a claim that has a path.
        judge: what grades whether each sentence entails its claim; nobody by default.
        cache: a folder where embedded definitions are kept and found again; none by default.
        ledger: gets an entry of the stage "verify"; a row given twice is dropped as `repeated`.
        progress: is told of the steps.

    Returns:
        RELATIONS and EVIDENCE; the same for any order of the rows of any input.
    """
    policy = policy or Policy()
    progress = progress or Silent()
    progress.start("verifying relations", 4)
    rows_in = len(candidates)
    candidates = _in_order(candidates, CANDIDATES)
    links = links.select(LINKS.names).cast(LINKS)
    arrays = KnowledgeArrays(knowledge)
    ids: list[str] = candidates.column("id").to_pylist()
    size = len(ids)
    pairs = link_pairs(candidates, links, arrays, policy)
    state = link_state(candidates, links, pairs)
    predicate = np.array(candidates.column("predicate").to_pylist(), dtype=object)
    calibrated = np.isin(predicate.astype(str), sorted(calibrations()))
    progress.advance()

    backing = back(candidates, pairs, arrays, policy)
    instructed = coding_rules.instructions(candidates, pairs, arrays)
    excluded = coding_rules.exclusion(instructed, size, policy)
    parts = tally(backing, excluded)
    verdict = decide(parts, policy)
    verdict[~state.linked] = "unsupported"
    progress.advance()

    evidence = report.EvidenceRows()
    said = report.add_paths(evidence, ids, backing, arrays, policy)
    definition, n_definition = definition_evidence(
        evidence,
        candidates,
        pairs,
        backing,
        arrays,
        knowledge,
        policy,
        Models(embedder, judge, cache),
    )
    progress.advance()
    coding = np.where(state.linked, coding_rules.bonus(instructed, size, policy), 0.0)
    found = features(pairs, backing, parts, definition, arrays, policy, calibrated)
    score = total(parts, definition, coding)
    for name, calibration in calibrations().items():
        score = np.where(predicate == name, calibration.probability(found, policy.prior), score)
    score = np.where(state.linked, score, 0.0)
    report.add_instructions(
        evidence, ids, instructed, coding_rules.weights(instructed, policy), arrays
    )
    n_path, n_against = report.counts(backing, size)
    n_against = n_against + (excluded > 0)
    n_coding_rule = np.bincount(instructed.claim, minlength=size)
    has_statistic = report.add_statistics(
        evidence, candidates, (n_path + n_against + n_definition + n_coding_rule) > 0
    )
    head_concept, tail_concept = _carriers(backing, pairs, state)
    columns = {
        **{name: candidates.column(name) for name in ("id", "head", "route", "predicate", "tail")},
        "head_concept": head_concept,
        "tail_concept": tail_concept,
        "verdict": verdict.tolist(),
        "score": score,
        "score_calibrated": calibrated,
        "score_path": parts.path,
        "score_definition": definition,
        "score_contradiction": parts.against,
        "score_coding_rule": coding,
        "reasons": reasons(verdict, parts, state, backing, said, excluded, n_definition, policy),
        "n_path": n_path,
        "n_definition": n_definition,
        "n_coding_rule": n_coding_rule,
        "n_statistic": has_statistic.astype(np.int32),
        "n_contradicting": n_against,
        "origins": _stated_by(backing, backing.origin, size),
        "sources": _stated_by(backing, backing.source, size),
        "depends_on": dependence(candidates, pairs, arrays, backing, excluded, verdict, policy),
        **{name: candidates.column(name) for name in _COUNTED},
    }
    relations = pa.table(
        {name: _typed(columns[name], kind) for name, kind in _fields()}, schema=RELATIONS
    )
    if ledger is not None:
        ledger.record(
            "verify",
            "relation",
            rows_in=rows_in,
            rows_out=size,
            dropped={"repeated": rows_in - size},
        )
    progress.advance()
    numbers = pa.table({"id": pa.array(ids, pa.string()), **found})
    return Verified(relations, evidence.table(), numbers)


def _fields() -> list[tuple[str, pa.DataType]]:
    return [(name, RELATIONS.field(name).type) for name in RELATIONS.names]


def _typed(values: object, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, pa.ChunkedArray):
        return values.cast(kind)
    return pa.array(values, kind) if isinstance(values, list) else pa.array(values).cast(kind)


def _in_order(candidates: pa.Table, schema: pa.Schema) -> pa.Table:
    """Sorted by id, each id once."""
    table = candidates.select(schema.names).cast(schema).sort_by([("id", "ascending")])
    ids = table.column("id").combine_chunks()
    if len(ids) < 2:
        return table
    fresh = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)).to_numpy(zero_copy_only=False)
    return table.filter(pa.array(np.concatenate([[True], fresh])))


def _stated_by(backing: Backing, labels: npt.NDArray[np.object_], size: int) -> list[list[str]]:
    """By claim: the distinct labels of its supporting paths; where some carry, of those only."""
    carried: dict[int, set[str]] = {}
    other: dict[int, set[str]] = {}
    for row in np.flatnonzero(backing.polarity == SUPPORTS).tolist():
        some = carried if backing.carries[row] else other
        some.setdefault(int(backing.claim[row]), set()).update(labels[row].split("|"))
    stated: list[list[str]] = [[]] * size
    for claim, names in (other | carried).items():
        stated[claim] = sorted(names)
    return stated


def _carriers(
    backing: Backing, pairs: LinkedPairs, state: LinkState
) -> tuple[list[str], list[str]]:
    """By claim: the concepts of its strongest path, or of its best links."""
    heads, tails = list(state.head_concept), list(state.tail_concept)
    claims, first = np.unique(backing.claim, return_index=True)
    for claim, row in zip(claims.tolist(), first.tolist(), strict=True):
        pair = backing.pair[row]
        heads[claim], tails[claim] = pairs.head_id[pair], pairs.tail_id[pair]
    return heads, tails


__all__ = ["Tally", "verify"]
