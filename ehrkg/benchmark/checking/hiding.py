"""How many distractors are true without the knowledge saying so: an estimate by hiding edges.

The graph is open-world. Hide a random share of the edges, choose distractors as if they had never
been stated, and count those that verification supports once the edges are back: so often would a
graph that lacks that share be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.distractors.draws import PIECE, SHARED, Drawn, World, draw_all
from ehrkg.benchmark.distractors.pools import make_pool, settings_of
from ehrkg.benchmark.facts.cohort import Cohort
from ehrkg.benchmark.facts.intervals import clustered_mean, wilson
from ehrkg.benchmark.facts.support import Support
from ehrkg.benchmark.rules import rule_table
from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.garbage import uncollected
from ehrkg.foundation.hashing import hash64, short_id, unit
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Silent
from ehrkg.foundation.workers import workers_for
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose.schema import CANDIDATES
from ehrkg.propose.tasks import tasks
from ehrkg.verify.policy import Policy
from ehrkg.verify.schema import Verified
from ehrkg.verify.verifier import verify


@dataclass(frozen=True)
class TrueShare:
    """The estimated share of distractors that are true after all.

    Attributes:
        task, strategy: of the questions.
        questions: how many could be made with edges hidden.
        distractors: how many they had.
        found: how many of those a hidden edge makes true.
        share: found / distractors.
        low, high: 95 % interval, clustered by patient; Wilson's over patients where nothing was
            found.
    """

    task: str
    strategy: str
    questions: int
    distractors: int
    found: int
    share: float
    low: float
    high: float


@uncollected()
def hidden_edges(
    templates: pa.Table,
    hospital: Hospital,
    knowledge: Knowledge,
    mapping: CodeMapping,
    verified: Verified,
    *,
    share: float | None = None,
    n_options: int = 4,
    strategies: Sequence[str] = ("frequency",),
    seed: int = 7,
    cohort: Cohort | None = None,
) -> list[TrueShare]:
    """Estimate the share of true distractors, by task and strategy.

    Args:
        templates: TEMPLATES; they stay as they are, whatever is hidden.
        hospital: what they were made from, as are the next three.
        knowledge: a share of its edges is hidden.
        mapping: links of codes.
        verified: relations that rest on hidden edges alone are hidden with them.
        share: how much to hide; by default what check.yaml says.
        n_options: of the questions to draw.
        strategies: how to draw them.
        seed: of the draw and of what is hidden.
        cohort: that of hospital, knowledge and mapping, if there is one already.

    Returns:
        One estimate a task and strategy, in that order.
    """
    if share is None:
        share = float(rule_table("check")["hidden_edges"]["share"])
    templates = _some(
        templates.sort_by("id"), int(rule_table("check")["hidden_edges"]["most_templates"])
    )
    cohort = cohort or Cohort(hospital, knowledge, mapping)
    known, trusted = hide(knowledge, verified, share=share, seed=seed)
    partial = Support(cohort, known, trusted)
    drawn, _ = draw_all(
        templates,
        make_pool(templates, cohort, partial, mapping),
        World(cohort, partial, trusted, seed),
        sizes=[n_options],
        strategies=strategies,
        ledger=Ledger(),
        progress=Silent(),
        workers=workers_for(-(-templates.num_rows // PIECE), least=SHARED),
    )
    claimed = [_claims(part, templates, cohort) for part in drawn]
    true = supported_claims(
        {claim for part in claimed for claims in part for claim in claims}, mapping, knowledge
    )
    clusters = templates["cluster"].to_pylist()
    hits: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for part, claims_of in zip(drawn, claimed, strict=True):
        found = [
            sum(not true.isdisjoint(claims) for claims in group)
            for group in _by_question(claims_of, n_options - 1)
        ]
        for at, n in zip(part.rows[part.kept].tolist(), found, strict=True):
            key = (part.task, part.strategy.name)
            hits.setdefault(key, []).append((hash64(clusters[at]) >> 1, n))
    return [_estimate(*key, hits[key], n_options - 1) for key in sorted(hits)]


def _some(templates: pa.Table, most: int) -> pa.Table:
    """At most so many templates, evenly spread (their ids are hashes)."""
    n = templates.num_rows
    step = -(-n // most)
    return templates if n <= most else templates.take(pa.array(np.arange(0, n, step)))


Claim = tuple[str, str, str, str]
"""Head, route, predicate, tail: a relation that would make a distractor true."""


def _claims(part: Drawn, templates: pa.Table, cohort: Cohort) -> list[list[Claim]]:
    """For each distractor of each question that stands, the claims that would make it true.

    Those of the task's relations, with any event of the stem at the other end, and for a drug any
    diagnosis of the whole visit.
    """
    pool = part.pool.rows
    rows = templates.take(pa.array(part.rows[part.kept])).select(["visit", "context"]).to_pylist()
    found = []
    for template, members in zip(rows, part.members[part.kept].tolist(), strict=True):
        others = set(template["context"])
        if tasks()[part.task].asks_for_drugs:
            others |= set(cohort.visits[template["visit"]].diagnoses)
        for member in members:
            code, route = pool[member]["code"], pool[member]["route"]
            found.append(
                [
                    (code, route, relation.predicate, other)
                    if relation.answer == "head"
                    else (other, "", relation.predicate, code)
                    for relation in tasks()[part.task].relations
                    for other in sorted(others)
                    if cohort.codes[other].kind == relation.anchor
                ]
            )
    return found


def _by_question(claims: list[list[Claim]], wrong: int) -> list[list[list[Claim]]]:
    """The claims of so many distractors a question together."""
    return [claims[at : at + wrong] for at in range(0, len(claims), wrong)]


def supported_claims(
    claims: set[Claim], mapping: CodeMapping, knowledge: Knowledge
) -> frozenset[Claim]:
    """Those of the claims that the knowledge supports, by the rules of verification.

    Definitions are left out: they never make a verdict.
    """
    ordered = sorted(claims)
    rows = [
        {
            "id": short_id("r", *claim),
            "head": claim[0],
            "route": claim[1],
            "predicate": claim[2],
            "tail": claim[3],
            "tasks": [],
            "proposers": [],
            "n_within": 0,
            "n_across": 0,
            "n_head": 0,
            "n_tail": 0,
            "n_patients": 0,
            "lift": 1.0,
            "p_value": 1.0,
        }
        for claim in ordered
    ]
    judged = verify(
        pa.Table.from_pylist(rows, schema=CANDIDATES),
        mapping.links,
        knowledge,
        policy=Policy(definition_bonus=0.0),
    ).relations
    stands = judged.filter(pc.equal(judged["verdict"], "supported"))
    return frozenset(
        zip(
            *(stands[name].to_pylist() for name in ("head", "route", "predicate", "tail")),
            strict=True,
        )
    )


def hide(
    knowledge: Knowledge, verified: Verified, *, share: float, seed: int
) -> tuple[Knowledge, Verified]:
    """Knowledge and relations without a share of the facts, chosen by hash.

    A fact (subject, predicate, object) goes with all its parallel edges. A relation goes when each
    path that backs it holds a hidden edge; one without path evidence stays.
    """
    clinical = {
        name
        for task in tasks()
        for row in (settings_of(task),)
        for name in (*row["true_by"], *row["visit_by"])
    }
    edges = knowledge.edges
    hidden = [
        predicate in clinical and unit(seed, "hide", subject, predicate, target) < share
        for subject, predicate, target in zip(
            *(edges[name].to_pylist() for name in ("subject", "predicate", "object")), strict=True
        )
    ]
    gone = set(edges.filter(pa.array(hidden, pa.bool_()))["id"].to_pylist())
    kept = edges.filter(pa.array([not row for row in hidden], pa.bool_()))
    paths = verified.evidence.filter(
        pc.and_(
            pc.equal(verified.evidence["kind"], "path"),
            pc.equal(verified.evidence["polarity"], "supports"),
        )
    )
    backed: dict[str, bool] = {}
    for relation, used in zip(
        paths["relation"].to_pylist(), paths["edges"].to_pylist(), strict=True
    ):
        backed[relation] = backed.get(relation, False) or gone.isdisjoint(used)
    fallen = pa.array(sorted(name for name, stands in backed.items() if not stands), pa.string())
    relations = verified.relations.filter(
        pc.invert(pc.is_in(verified.relations["id"], value_set=fallen))
    )
    return replace(knowledge, edges=kept), replace(verified, relations=relations)


def _estimate(task: str, strategy: str, hits: list[tuple[int, int]], wrong: int) -> TrueShare:
    clusters = np.array([cluster for cluster, _ in hits], dtype=np.int64)
    shares = np.array([n / wrong for _, n in hits], dtype=float)
    found = sum(n for _, n in hits)
    estimate = clustered_mean(shares, clusters, span=1)
    low, high = estimate.interval() if found else wilson(0, estimate.clusters)
    return TrueShare(
        task,
        strategy,
        len(hits),
        len(hits) * wrong,
        found,
        round(estimate.value, 4),
        round(max(0.0, low), 4),
        round(min(1.0, high), 4),
    )
