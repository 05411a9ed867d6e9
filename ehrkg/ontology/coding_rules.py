"""Instructions of ICD-10-CM as edges between the codes they bind, and their ICD-9-CM shadows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from ehrkg.ontology import icd10cm
from ehrkg.ontology.curies import dotted
from ehrkg.ontology.groups import targets
from ehrkg.ontology.schema import EDGES
from ehrkg.ontology.sources import SOURCES
from ehrkg.ontology.tables import with_edge_ids

_LONGEST_NOTE = 200
SHADOW = "infores:gem"
CATEGORY = 3
"""Characters of an ICD-10-CM category."""


def edges(codes: Iterable[str]) -> pa.Table:
    """Coding-rule edges that bear on the diagnosis codes given, of one ICD version each.

    An instruction of ICD-10-CM stands where it is written: from the node that bears it (the
    category of each code given, where a block or chapter bears it) to each node it names. It holds
    for all codes below both; only those with a code given below both become edges. An ICD-9-CM
    code takes part through the ICD-10-CM codes its GEM leads to, code by code, except in Excludes1,
    which is a matter of ICD-10-CM's own book-keeping.

    Args:
        codes: Code ids.

    Returns:
        EDGES rows; CODE_FIRST runs from the manifestation to its cause.
    """
    given = sorted(set(codes))
    stands_for = {code: _as_icd10(code) for code in given}
    under = _by_node(stands_for)
    best: dict[tuple[str, str, str], tuple[str, str]] = {}
    for code, modern in stands_for.items():
        for each in modern:
            for rule in icd10cm.rules_for(each):
                shadow = code != f"ICD10CM:{each}"
                said = (_words(rule, shadow=shadow), SHADOW if shadow else "infores:icd10cm")
                ends = _shadows(code, rule, under) if shadow else _written(each, rule, under)
                for subject, target in ends:
                    key = (subject, rule.predicate, target)
                    best[key] = min(best.get(key, said), said)
    return _table(best)


def _written(code: str, rule: icd10cm.Rule, under: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """The rule between the nodes of ICD-10-CM where it is written."""
    bearer = rule.at if rule.at in under else code[:CATEGORY]
    return {
        (f"ICD10CM:{bearer}", f"ICD10CM:{target}")
        for target in rule.targets
        if target != bearer and any(other.startswith("ICD10CM:") for other in under.get(target, ()))
    }


def _shadows(code: str, rule: icd10cm.Rule, under: Mapping[str, set[str]]) -> set[tuple[str, str]]:
    """The rule between an ICD-9-CM code and each other that stands for what it names."""
    if rule.predicate == "EXCLUDES1":
        return set()
    return {
        (code, other)
        for target in rule.targets
        for other in under.get(target, ())
        if other != code and other.startswith("ICD9CM:")
    }


def _as_icd10(code: str) -> list[str]:
    """The ICD-10-CM codes (with dot) that a code is, or leads to by its GEM."""
    system, _, local = code.partition(":")
    if system == "ICD10CM":
        return [local]
    return [dotted("ICD10CM", row.target) for row in targets(system, local)]


def _by_node(stands_for: Mapping[str, list[str]]) -> dict[str, set[str]]:
    """ICD-10-CM node -> the codes given that stand at it or below it."""
    under: dict[str, set[str]] = {}
    for code, modern in stands_for.items():
        for each in modern:
            place = each
            while place:
                under.setdefault(place, set()).add(code)
                place = icd10cm.node(place).parent.partition(":")[2]
    return under


def _words(rule: icd10cm.Rule, *, shadow: bool) -> str:
    text = f"{rule.predicate} at ICD10CM:{rule.at}: {rule.note}"[:_LONGEST_NOTE]
    return f"{text} (through GEM)" if shadow else text


def _table(best: Mapping[tuple[str, str, str], tuple[str, str]]) -> pa.Table:
    keys = sorted(best)
    count = len(keys)
    origin = "infores:icd10cm"
    return with_edge_ids(
        pa.table(
            {
                "subject": pa.array([key[0] for key in keys], pa.string()),
                "predicate": pa.array([key[1] for key in keys], pa.string()),
                "object": pa.array([key[2] for key in keys], pa.string()),
                "negated": pa.array([False] * count, pa.bool_()),
                "route": pa.array([""] * count, pa.string()),
                "source": pa.array([best[key][1] for key in keys], pa.string()),
                "origin": pa.array([origin] * count, pa.string()),
                "licence": pa.array([SOURCES[origin].licence] * count, pa.string()),
                "provenance": pa.array([best[key][0] for key in keys], pa.string()),
            }
        )
    ).cast(EDGES)
