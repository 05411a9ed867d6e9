"""How many distractors are true without the knowledge saying so: an estimate by hiding edges.

The graph is open-world. Hide a random share of the edges, choose distractors as if they had never
been stated, and count those that verification supports once the edges are back: so often would a
graph that lacks that share be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.distractors.accepted import Accepted
from ehrkg.benchmark.distractors.draws import PIECE, SHARED, Drawn, World, draw_all
from ehrkg.benchmark.distractors.exclusions import Pool
from ehrkg.benchmark.distractors.pools import make_pool, settings_of
from ehrkg.benchmark.distractors.right_ones import MULTI, RightOnes
from ehrkg.benchmark.distractors.several_draws import DrawnSets, draw_several
from ehrkg.benchmark.distractors.shortlists import Ints
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

SEVERAL = ", several right"
"""Behind the strategy's name where it is of questions with several right answers."""


@dataclass(frozen=True)
class TrueShare:
    """The estimated share of distractors that are true after all.

    Attributes:
        task, strategy: of the questions; the strategy with SEVERAL behind it where several options
            are right.
        questions: how many could be made with edges hidden.
        distractors: how many they had.
        found: how many of those a hidden edge makes true.
        share: of a question's distractors, the mean over the questions.
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

    @property
    def bound(self) -> float:
        """What the share may be at most, by check.yaml: 1 for a strategy without a bound."""
        bounds = rule_table("check")["hidden_edges"]["bounds"]
        return float(bounds.get(self.strategy.removesuffix(SEVERAL), 1.0))


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
    forms: Sequence[str] = ("mcq",),
    strategies: Sequence[str] = ("frequency",),
    seed: int = 7,
    cohort: Cohort | None = None,
) -> list[TrueShare]:
    """Estimate the share of true distractors, by task, strategy and whether several are right.

    Args:
        templates: TEMPLATES; they stay as they are, whatever is hidden.
        hospital: what they were made from, as are the next three.
        knowledge: a share of its edges is hidden.
        mapping: links of codes.
        verified: relations that rest on hidden edges alone are hidden with them.
        share: how much to hide; by default what check.yaml says.
        n_options: of the questions with one right answer, which are always drawn.
        forms: with "multi" among them, questions with several right answers are drawn too.
        strategies: how to draw them.
        seed: of the draw and of what is hidden.
        cohort: that of hospital, knowledge and mapping, if there is one already.

    Returns:
        One estimate a task and strategy, in that order; of questions with several right answers
        apart, under the strategy's name with SEVERAL behind it.
    """
    if share is None:
        share = float(rule_table("check")["hidden_edges"]["share"])
    templates = _some(
        templates.sort_by("id"), int(rule_table("check")["hidden_edges"]["most_templates"])
    )
    cohort = cohort or Cohort(hospital, knowledge, mapping)
    known, trusted = hide(knowledge, verified, share=share, seed=seed)
    partial = Support(cohort, known, trusted)
    world = World(cohort, partial, trusted, seed)
    workers = workers_for(-(-templates.num_rows // PIECE), least=SHARED)
    drawn, pool = draw_all(
        templates,
        make_pool(templates, cohort, partial, mapping),
        world,
        sizes=[n_options],
        strategies=strategies,
        ledger=Ledger(),
        progress=Silent(),
        workers=workers,
    )
    several = draw_several(
        templates,
        pool,
        world,
        RightOnes(templates, cohort, Accepted(cohort, trusted), seed),
        strategies=strategies if MULTI in forms else (),
        progress=Silent(),
        workers=workers,
    )
    parts = [
        *(_Wrong(one.task, one.strategy.name, one.pool, *_kept(one)) for one in drawn),
        *(_of_sets(one, templates) for one in several),
    ]
    return _shares(
        [part for part in parts if len(part.rows)], templates, mapping, knowledge, cohort
    )


class _Wrong(NamedTuple):
    """The wrong options of the questions that stand, of one kind of questions.

    ``rows`` are positions of their templates; ``members``, a row a question, of the pool, NOBODY
    where a question has no more.
    """

    task: str
    strategy: str
    pool: Pool
    rows: Ints
    members: Ints


def _kept(drawn: Drawn) -> tuple[Ints, Ints]:
    """Templates and distractors of the questions that stand."""
    return drawn.rows[drawn.kept], drawn.members[drawn.kept]


def _of_sets(drawn: DrawnSets, templates: pa.Table) -> _Wrong:
    """The wrong options of questions with several right answers."""
    stands = drawn.why_not == ""
    rows = drawn.rows[stands]
    task = str(templates["task"][int(drawn.rows[0])]) if len(drawn.rows) else ""
    name = drawn.strategy.name + SEVERAL
    return _Wrong(task, name, drawn.pool, rows, drawn.wrong[stands])


def _shares(
    parts: Sequence[_Wrong],
    templates: pa.Table,
    mapping: CodeMapping,
    knowledge: Knowledge,
    cohort: Cohort,
) -> list[TrueShare]:
    """The estimates: whose claims the whole knowledge supports."""
    claimed = [_claims(part, templates, cohort) for part in parts]
    true = supported_claims(
        {claim for part in claimed for claims in part for claim in claims}, mapping, knowledge
    )
    clusters = templates["cluster"].to_pylist()
    hits: dict[tuple[str, str], list[_Hits]] = {}
    for part, claims_of in zip(parts, claimed, strict=True):
        holds = [not true.isdisjoint(claims) for claims in claims_of]
        at = 0
        for row, wrong in zip(part.rows.tolist(), (part.members >= 0).sum(axis=1), strict=True):
            found = _Hits(hash64(clusters[row]) >> 1, sum(holds[at : at + wrong]), int(wrong))
            hits.setdefault((part.task, part.strategy), []).append(found)
            at += int(wrong)
    return [_estimate(*key, hits[key]) for key in sorted(hits)]


class _Hits(NamedTuple):
    """Of one question: its patient, how many of its wrong options are true, and how many it has."""

    cluster: int
    found: int
    wrong: int


def _some(templates: pa.Table, most: int) -> pa.Table:
    """At most so many templates, evenly spread (their ids are hashes)."""
    n = templates.num_rows
    step = -(-n // most)
    return templates if n <= most else templates.take(pa.array(np.arange(0, n, step)))


Claim = tuple[str, str, str, str]
"""Head, route, predicate, tail: a relation that would make a distractor true."""


def _claims(part: _Wrong, templates: pa.Table, cohort: Cohort) -> list[list[Claim]]:
    """For each wrong option of each question, the claims that would make it true.

    Those of the task's relations, with any event of the stem at the other end, and for a drug any
    diagnosis of the whole visit.
    """
    pool = part.pool.rows
    rows = templates.select(["visit", "context"]).take(pa.array(part.rows)).to_pylist()
    found = []
    for template, members in zip(rows, part.members.tolist(), strict=True):
        others = set(template["context"])
        if tasks()[part.task].asks_for_drugs:
            others |= set(cohort.visits[template["visit"]].diagnoses)
        for member in members:
            if member < 0:
                continue
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


def _estimate(task: str, strategy: str, hits: Sequence[_Hits]) -> TrueShare:
    clusters = np.array([one.cluster for one in hits], dtype=np.int64)
    shares = np.array([one.found / one.wrong for one in hits], dtype=float)
    found = sum(one.found for one in hits)
    estimate = clustered_mean(shares, clusters, span=1)
    low, high = estimate.interval() if found else wilson(0, estimate.clusters)
    return TrueShare(
        task,
        strategy,
        len(hits),
        sum(one.wrong for one in hits),
        found,
        round(estimate.value, 4),
        round(max(0.0, low), 4),
        round(min(1.0, high), 4),
    )
