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


def edges(codes: Iterable[str]) -> pa.Table:
    """Coding-rule edges between the diagnosis codes given, of one ICD version each.

    An instruction holds for all codes below the one that bears it and for all below those it
    names; it becomes one edge for each such pair of the codes given. An ICD-9-CM code takes part
    through the ICD-10-CM codes its GEM leads to.

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
        system = code.partition(":")[0]
        for each in modern:
            for rule in icd10cm.rules_for(each):
                note = _words(rule, shadow=code != f"ICD10CM:{each}")
                source = "infores:icd10cm" if code == f"ICD10CM:{each}" else SHADOW
                for other in {o for target in rule.targets for o in under.get(target, ())}:
                    if other != code and other.partition(":")[0] == system:
                        key = (code, rule.predicate, other)
                        best[key] = min(best.get(key, (note, source)), (note, source))
    return _table(best)


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
