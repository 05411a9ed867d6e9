"""The pools of possible distractors: who may stand beside an answer, and what a draw looks at.

A pool is a table, made once a build and frozen: a question is a function of its template, its
settings, the seed and the pool, and of nothing else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sized
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.code_classes import is_answerable, rule_data, standing_kind
from ehrkg.benchmark.facts.cohort import Cohort, VisitFacts
from ehrkg.benchmark.facts.names import display
from ehrkg.benchmark.facts.possible import Possible, as_observed, by_rule, settings
from ehrkg.benchmark.facts.support import Support
from ehrkg.ehr.routes import APART
from ehrkg.mapping import NEAR
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.propose.tasks import choose_tasks, tasks


def price_column(strategy: str, n_options: int) -> str:
    """The column of prices of a strategy and number of options.

    >>> price_column("frequency", 4)
    'price_frequency_4'
    """
    return f"price_{strategy}_{n_options}"


PRICES = tuple(
    price_column(strategy, size)
    for strategy in ("frequency", "sibling", "cooccurring", "random")
    for size in (2, 4, 5, 6)
)

POOL = pa.schema(
    [
        ("task", pa.string()),
        ("era", pa.string()),  # ICD version: of the code; of the visits, for drugs
        ("entity", pa.string()),  # the code; for drugs ingredient concepts and route
        ("code", pa.string()),  # for drugs the string written in most visits
        ("route", pa.string()),
        ("name", pa.string()),  # as an option by itself shows it
        ("group", pa.string()),  # of routes, "" for what is no drug
        ("eligible", pa.bool_()),  # false: stands here as an answer only
        ("n_visits", pa.int32()),  # of the era
        ("n_patients", pa.int32()),
        ("band", pa.int32()),  # frequency band: 1 for one visit, 2 for 2-3, 3 for 4-7, ...
        ("roles", pa.list_(pa.string())),  # "CAUSES:tail": sides on which it has edges; sorted
        ("degree", pa.int32()),  # distinct edges of the task's predicates, by its ancestors too
        ("decile", pa.int32()),  # of the degree within the task, 1 to 10
        ("grain", pa.int32()),  # 0: a disease as such, 1: a kind of it; drugs: ingredients
        ("sexes", pa.string()),
        ("first_age", pa.int32()),
        ("last_age", pa.int32()),
        ("confidence", pa.float64()),  # of its best near link
        ("n_answers", pa.int32()),  # templates that ask for it
        # "price_frequency_4": how much rarer or oftener than its match alone it is drawn by a
        # strategy into questions of so many options, as natural logarithm of odds; null: not asked
        *((name, pa.float64()) for name in PRICES),
    ]
)
"""Sorted by task, era, entity."""


@dataclass
class _Member:
    """One candidate, while its row is collected."""

    code: str
    route: str
    visits: list[VisitFacts]
    answers: int = 0


Key = tuple[str, str, str]


def make_pool(
    templates: pa.Table, cohort: Cohort, support: Support, mapping: CodeMapping
) -> pa.Table:
    """Collect, for every task and ICD version, what could stand as a distractor.

    Args:
        templates: TEMPLATES; what they ask for is in the pool whether or not it may distract.
        cohort: the facts about codes and visits.
        support: the edges that give roles and degrees.
        mapping: its links give the confidence with which a code is linked.

    Returns:
        A table with the schema POOL; prices are null (``balance.fit`` sets them).
    """
    members = _members(templates, cohort)
    confidence = _confidence(mapping.links)
    _count_answers(templates, cohort, members)
    codes = sorted({member.code for member in members.values()})
    sides = {
        task.name: support.edges_at(codes, settings_of(task.name)["roles_of"])
        for task in choose_tasks(None)
    }
    deciles = _deciles(members, sides)
    rows = []
    for key in sorted(members):
        task, era, entity = key
        member = members[key]
        edges = sides[task][member.code]
        possible = _possible(member, cohort)
        facts = cohort.codes[member.code]
        rows.append(
            {
                "task": task,
                "era": era,
                "entity": entity,
                "code": member.code,
                "route": member.route,
                "name": display(facts, member.route),
                "group": route_group(member.route) if facts.kind == "drug" else "",
                "eligible": bool(member.visits)
                and bool(edges)
                and (member.answers > 0 or member.route not in APART)
                and may_distract(member.code, member.route, cohort),
                "n_visits": len(member.visits),
                "n_patients": len({visit.patient for visit in member.visits}),
                "band": len(member.visits).bit_length(),
                "roles": sorted({role for role, _ in edges}),
                "degree": len(edges),
                "decile": deciles[key],
                "grain": grain(member.code, cohort),
                "sexes": possible.sexes,
                "first_age": possible.first,
                "last_age": possible.last,
                "confidence": confidence.get(member.code, 0.0),
                "n_answers": member.answers,
            }
        )
    return pa.Table.from_pylist(rows, schema=POOL)


def settings_of(task: str) -> Mapping[str, list[str]]:
    """The row of a task in ``pools.yaml``."""
    return next(row for row in settings()["tasks"] if row["task"] == task)


def route_group(route: str) -> str:
    """The name of the group of routes whose drugs may stand side by side.

    >>> route_group("intravenous") == route_group("subcutaneous"), route_group("ophthalmic")
    (True, 'ophthalmic')
    """
    for group in settings()["route_groups"]:
        if route in group:
            return "|".join(group)
    return route


def grain(code: str, cohort: Cohort) -> int:
    """How fine a code is: 0 for a disease as such, 1 for one kind, stage or site of it.

    A disease as such is what a concept means exactly, a category, and the unspecified code of
    either. For a drug: how many ingredients it has.

    The depth of a code in its tree says little across diseases: atrial fibrillation is 427.31, two
    levels down, essential hypertension 401.9.
    """
    facts = cohort.codes[code]
    if facts.kind == "drug":
        return max(1, len(facts.ingredients))
    depth = len(facts.id.partition(":")[2].partition(".")[2])
    unspecified = "unspecified" in facts.name.lower() or "nos" in facts.name.lower().split()
    return 0 if facts.exact_name or depth <= unspecified else 1


def entity_of(task: str, code: str, route: str, cohort: Cohort) -> str:
    """The key of an answer in its pool."""
    return cohort.drug_entity(code, route) if tasks()[task].asks_for_drugs else code


def era_of(code: str, template_era: str, cohort: Cohort) -> str:
    """The pool an answer belongs to: its code's own ICD version, else that of the visit."""
    return cohort.codes[code].era or template_era


def _members(templates: pa.Table, cohort: Cohort) -> dict[Key, _Member]:
    asked = [tasks()[name] for name in sorted(set(templates["task"].to_pylist()))]
    of_drugs = [task.name for task in asked if task.asks_for_drugs]
    of_diagnoses = [task.name for task in asked if not task.asks_for_drugs]
    found: dict[Key, _Member] = {}
    drugs: dict[tuple[str, str], dict[str, list[VisitFacts]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for visit in cohort.visits.values():
        for order in visit.orders:
            if order.lasting:
                drugs[visit.era, order.entity][f"{order.code}\x1f{order.route}"].append(visit)
        for code in visit.diagnoses:
            for task in of_diagnoses if cohort.codes[code].era == visit.era else ():
                member = found.setdefault((task, visit.era, code), _Member(code, "", []))
                member.visits.append(visit)
    for (era, entity), strings in drugs.items() if of_drugs else ():
        best = max(sorted(strings), key=lambda string: len(strings[string]))
        code, _, route = best.partition("\x1f")
        visits = {visit.id: visit for held in strings.values() for visit in held}
        for task in of_drugs:
            found[task, era, entity] = _Member(code, route, list(visits.values()))
    return found


def _count_answers(templates: pa.Table, cohort: Cohort, members: dict[Key, _Member]) -> None:
    for task, era, codes, route in zip(
        *(
            templates[name].to_pylist()
            for name in ("task", "icd_version", "answer", "answer_route")
        ),
        strict=True,
    ):
        entity = entity_of(task, codes[0], route, cohort)
        key = (task, era_of(codes[0], era, cohort), entity)
        members.setdefault(key, _Member(codes[0], route, [])).answers += 1


def may_distract(code: str, route: str, cohort: Cohort) -> bool:
    """Whether a code is of a sort that may stand as an option, and is linked at a near level.

    Diagnoses: neither symptom, status, residual nor administrative codes. Drugs: neither standing
    orders nor fluids, nutrients, vaccines and supplies, nor routes that are never asked for.
    """
    facts = cohort.codes[code]
    if not facts.concepts:
        return False
    if facts.kind != "drug":
        return is_answerable(facts)
    return (
        facts.drug_kind == "drug"
        and route not in rule_data()["never_routes"]
        and not standing_kind(facts, route)
        and cohort.standing_share(cohort.drug_entity(code, route))
        < rule_data()["thresholds"]["standing_share"]
    )


def _confidence(links: pa.Table) -> dict[str, float]:
    """The confidence of each code's best near link."""
    near = links.filter(pc.less_equal(links["levels"], NEAR))
    best = near.group_by("code").aggregate([("confidence", "max")])
    return dict(zip(best["code"].to_pylist(), best["confidence_max"].to_pylist(), strict=True))


def _possible(member: _Member, cohort: Cohort) -> Possible:
    seen = [(visit, cohort.patients[visit.patient].sex) for visit in member.visits]
    return by_rule(cohort.codes[member.code]).narrowed(as_observed(seen))


def _deciles(
    members: Mapping[Key, _Member], sides: Mapping[str, Mapping[str, Sized]]
) -> dict[Key, int]:
    """Decile of the degree among the members of a task that have a degree at all."""
    found: dict[Key, int] = {}
    for task in {key[0] for key in members}:
        degree = {
            key: len(sides[task][member.code]) for key, member in members.items() if key[0] == task
        }
        ordered = sorted(value for value in degree.values() if value)
        for key, value in degree.items():
            below = bisect_left(ordered, value)
            found[key] = below * 10 // len(ordered) + 1 if value else 1
    return found
