"""Templates: verified relations at real visits, under the rules on answers and context.

Every occurrence of a relation is counted in; each that does not become a template is counted out
under the name of the first rule it breaks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.cohort import Cohort, Order
from ehrkg.benchmark.facts.occurrences import OccurrenceCounts
from ehrkg.benchmark.schema import TEMPLATES
from ehrkg.benchmark.templates.answer_rules import (
    SUPPORTED,
    Claim,
    Ground,
    Occurrence,
    claim_rules,
    occurrence_rules,
)
from ehrkg.benchmark.templates.caps import Caps, most_of_an_answer
from ehrkg.benchmark.templates.cluster_keys import ClusterKeys
from ehrkg.benchmark.templates.context import Context, choose_context, related_codes
from ehrkg.benchmark.templates.places import Place, Places, claim_of
from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.hashing import hash64, short_id
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose.tasks import ACROSS, Task, TaskRelation, choose_tasks
from ehrkg.verify.schema import Verified

STAGE = "instantiate"

AGE_BANDS = ((18, "under 18"), (40, "18-39"), (65, "40-64"), (80, "65-79"), (1000, "80+"))
"""Upper bound (excluded) and name of each band of age."""


def make_templates(
    hospital: Hospital,
    knowledge: Knowledge,
    mapping: CodeMapping,
    verified: Verified,
    *,
    tasks: Iterable[str] | None = None,
    relations: Collection[str] | None = None,
    places: Sequence[Place] | None = None,
    seed: int = 7,
    allow: Iterable[str] = (),
    cohort: Cohort | None = None,
    ledger: Ledger | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Instantiate verified relations at the visits where they stand.

    Args:
        hospital: what reading gave.
        knowledge: what knowing gave.
        mapping: what mapping gave.
        verified: what verifying gave.
        tasks: names of tasks; all of them by default.
        relations: ids of the relations to instantiate; all that are supported by default.
        places: where to ask, and with which context; wherever a relation stands by default.
        seed: names every draw.
        allow: flags that are off by default and shall not keep templates out ("coding_rule").
        cohort: the cohort of these inputs, if the caller has made it already.
        ledger: takes one entry a task: candidate occurrences in, templates out, drops by rule.
        progress: told of each task.

    Returns:
        A table with the schema ``TEMPLATES``, sorted by id.

    Raises:
        UsageError: a task is unknown.
    """
    ledger = ledger if ledger is not None else Ledger()
    progress = progress if progress is not None else Silent()
    cohort = cohort if cohort is not None else Cohort(hospital, knowledge, mapping)
    ground = Ground(cohort, knowledge, verified, frozenset(allow))
    clusters = ClusterKeys(hospital, seed)
    makings = [_Making(task, ground, clusters, seed) for task in choose_tasks(tasks)]
    if places is not None:
        _ask_at(places, makings, Places(ground, verified, choose_tasks(tasks)), ledger)
    else:
        _ask_everywhere(verified, relations, makings, OccurrenceCounts(cohort), progress)
    rows: list[dict[str, Any]] = []
    for made in makings:
        found = made.finish()
        ledger.record(
            STAGE,
            f"template:{made.task.name}",
            rows_in=made.rows_in,
            rows_out=len(found),
            dropped=made.dropped,
        )
        rows += found
    rows.sort(key=lambda row: str(row["id"]))
    return pa.Table.from_pylist(rows, schema=TEMPLATES)


def _ask_everywhere(
    verified: Verified,
    relations: Collection[str] | None,
    makings: Sequence[_Making],
    counts: OccurrenceCounts,
    progress: Progress,
) -> None:
    """Wherever a supported relation stands; of the others, count where they do."""
    table = verified.relations
    if relations is not None:
        table = table.filter(pc.is_in(table["id"], value_set=pa.array(sorted(relations))))
    holds = pc.equal(table["verdict"], SUPPORTED)
    supported, refused = table.filter(holds).to_pylist(), table.filter(pc.invert(holds))
    for made in makings:
        made.refuse(counts.total(refused, made.task))
        progress.start(f"templates: {made.task.title}", len(supported))
        for relation in supported:
            for spec in made.task.relations:
                made.add(relation, spec)
            progress.advance()


def _ask_at(
    places: Sequence[Place], makings: Sequence[_Making], reader: Places, ledger: Ledger
) -> None:
    """At the places that somebody named; those that are none are counted out."""
    dropped: Counter[str] = Counter()
    by_task = {made.task.name: made for made in makings}
    n = 0
    for task, occurrence in reader.occurrences(places, dropped):
        by_task[task.name].ask_at(occurrence)
        n += 1
    ledger.record(STAGE, "place", rows_in=len(places), rows_out=n, dropped=dropped)


class _Making:
    """The work on one task: occurrences are added relation by relation, then finished together."""

    def __init__(self, task: Task, ground: Ground, clusters: ClusterKeys, seed: int) -> None:
        self.task, self._ground, self._clusters, self._seed = task, ground, clusters, seed
        self._claim_rules = claim_rules(task)
        self._occurrence_rules = occurrence_rules(task)
        self._orders = _orders_by_drug(ground.cohort) if task.answer_kind == "drug" else {}
        self._kept: list[Occurrence] = []
        self.rows_in = 0
        self.dropped: Counter[str] = Counter()

    def refuse(self, occurrences: int) -> None:
        """Count the occurrences of relations whose verdict is not ``supported``."""
        self.rows_in += occurrences
        self.dropped["not_supported"] += occurrences

    def add(self, relation: dict[str, Any], spec: TaskRelation) -> None:
        """Judge all occurrences of a relation, if it is one that the spec names."""
        claim = self._read(relation, spec)
        if claim is None:
            return
        at = self._places(claim)
        self.rows_in += len(at)
        broken = next(
            (name for name, breaks in self._claim_rules if at and breaks(claim, self._ground)), ""
        )
        if broken:
            self.dropped[broken] += len(at)
            return
        for occurrence in self._occurrences(claim, at):
            self._judge(occurrence)

    def ask_at(self, occurrence: Occurrence) -> None:
        """Judge an occurrence that somebody named."""
        self.rows_in += 1
        claim = occurrence.claim
        broken = next(
            (name for name, breaks in self._claim_rules if breaks(claim, self._ground)), ""
        )
        if broken:
            self.dropped[broken] += 1
        else:
            self._judge(occurrence)

    def _judge(self, occurrence: Occurrence) -> None:
        broken = next(
            (name for name, breaks in self._occurrence_rules if breaks(occurrence, self._ground)),
            "",
        )
        if broken:
            self.dropped[broken] += 1
        else:
            self._kept.append(occurrence)

    def _read(self, relation: dict[str, Any], spec: TaskRelation) -> Claim | None:
        """The relation as a claim, None if predicate or kinds are not the spec's."""
        codes = self._ground.cohort.codes
        head, tail = relation["head"], relation["tail"]
        if relation["predicate"] != spec.predicate or head not in codes or tail not in codes:
            return None
        if (codes[head].kind, codes[tail].kind) != self.task.end_kinds(spec):
            return None
        return claim_of(self.task, spec, relation, codes)

    def _places(self, claim: Claim) -> list[int]:
        """Positions of the visits where the anchor stands and the answer where the task asks it."""
        cohort = self._ground.cohort
        anchored = cohort.visits_with_code.get(claim.anchor, frozenset())
        if self.task.answer_kind == "drug":
            return sorted(anchored & self._orders.get((claim.answer, claim.route), {}).keys())
        answered = cohort.visits_with_code.get(claim.answer, frozenset())
        if self.task.span == ACROSS:
            return sorted(at for at in anchored if cohort.next_visit.get(at, -1) in answered)
        return sorted(anchored & answered)

    def _occurrences(self, claim: Claim, at: list[int]) -> Iterator[Occurrence]:
        cohort = self._ground.cohort
        visits = [cohort.visits[name] for name in (cohort.visit_ids[place] for place in at)]
        orders = self._orders.get((claim.answer, claim.route), {})
        for place, visit in zip(at, visits, strict=True):
            target = (
                cohort.visits[cohort.visit_ids[cohort.next_visit[place]]]
                if self.task.span == ACROSS
                else visit
            )
            yield Occurrence(claim, visit, target, orders.get(place))

    def finish(self) -> list[dict[str, Any]]:
        """One occurrence an answer, then caps and context; rows of the TEMPLATES table."""
        rows = []
        caps = Caps(self._ground.cohort)
        for occurrence in self._in_hash_order(self._one_an_answer()):
            keys = caps.keys(occurrence)
            full = caps.full(keys)
            if full:
                self.dropped[full] += 1
                continue
            name = template_id(occurrence)
            context = choose_context(occurrence, self._ground, (self._seed, name))
            if context is None:
                self.dropped["too_little_context"] += 1
                continue
            caps.take(keys)
            rows.append(self._row(name, occurrence, context))
        return self._share_capped(rows)

    def _one_an_answer(self) -> list[Occurrence]:
        """Of several relations to one answer at one visit, one of the best scored, by hash."""
        groups: dict[tuple[str, str], list[Occurrence]] = defaultdict(list)
        for occurrence in self._kept:
            claim = occurrence.claim
            entity = self._ground.cohort.entity(claim.answer, claim.route)
            groups[occurrence.visit.id, entity].append(occurrence)
        chosen = []
        for group in groups.values():
            best = max(one.claim.relation["score"] for one in group)
            top = [one for one in group if one.claim.relation["score"] == best]
            chosen.append(self._in_hash_order(top)[0])
            self.dropped["same_answer"] += len(group) - 1
        return chosen

    def _in_hash_order(self, occurrences: Iterable[Occurrence]) -> list[Occurrence]:
        named = [(template_id(one), one) for one in occurrences]
        named.sort(key=lambda pair: (hash64(self._seed, "template", pair[0]), pair[0]))
        return [one for _, one in named]

    def _share_capped(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """No answer holds more than its share of the task; those drawn last go."""
        entities = [
            self._ground.cohort.entity(row["answer"][0], row["answer_route"]) for row in rows
        ]
        most = most_of_an_answer(Counter(entities).values())
        counts: Counter[str] = Counter()
        kept = []
        for row, entity in zip(rows, entities, strict=True):
            counts[entity] += 1
            if counts[entity] <= most:
                kept.append(row)
        self.dropped["answer_cap"] += len(rows) - len(kept)
        return kept

    def _row(self, name: str, occurrence: Occurrence, context: Context) -> dict[str, Any]:
        claim, visit, target = occurrence.claim, occurrence.visit, occurrence.target
        patient = self._ground.cohort.patients[visit.patient]
        facts = self._ground.cohort.codes[claim.answer]
        codes = [event.code for event in context.events]
        stamped = occurrence.order is not None and occurrence.order.start is not None
        return {
            "id": name,
            "task": self.task.name,
            "patient": patient.id,
            "visit": visit.id,
            "target_visit": target.id,
            "context": codes,
            "context_routes": [event.route for event in context.events],
            "anchor_position": context.anchor_position,
            "history": list(context.history),
            "answer": [claim.answer],
            "answer_route": claim.route,
            "answer_concept": claim.concept or min(facts.concepts, default=""),
            "relation": claim.relation["id"],
            "predicate": claim.relation["predicate"],
            "cluster": self._clusters.of(patient.id),
            "split": patient.split,
            "age": visit.age,
            "age_band": age_band(visit.age),
            "sex": patient.sex,
            "gap_days": target.gap_days if self.task.span == ACROSS else None,
            "visit_kind": visit.kind,
            "icd_version": visit.era,
            "timing": "timestamped" if stamped else "discharge_coded",
            "n_context": len(context.events),
            "n_related": related_codes(codes, claim.answer, self._ground),
            "score": claim.relation["score"],
            "sole_indication": self.task.answer_kind == "drug"
            and self._ground.sole_indication(occurrence),
            "flags": sorted(self._ground.all_flags(occurrence)),
        }


def template_id(occurrence: Occurrence) -> str:
    """The id of the template that an occurrence becomes."""
    claim = occurrence.claim
    return short_id(
        "t",
        claim.task.name,
        occurrence.visit.id,
        occurrence.target.id,
        claim.answer,
        claim.route,
        claim.relation["id"],
        *(() if occurrence.context is None else ("given", *sorted(occurrence.context))),
    )


def age_band(age: int | None) -> str:
    """The band of an age in years, "" for none.

    >>> age_band(17), age_band(64), age_band(91), age_band(None)
    ('under 18', '40-64', '80+', '')
    """
    return "" if age is None else next(name for bound, name in AGE_BANDS if age < bound)


def _orders_by_drug(cohort: Cohort) -> dict[tuple[str, str], dict[int, Order]]:
    """The order of each (code, route) by the position of its visit."""
    found: dict[tuple[str, str], dict[int, Order]] = defaultdict(dict)
    for at, visit in enumerate(cohort.visits.values()):
        for order in visit.orders:
            found[order.code, order.route][at] = order
    return found
