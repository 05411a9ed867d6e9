"""What clinical_uses.yaml says, as statements: uses of classes, of drugs, in groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ehrkg.ontology.derive.ground import Ground
from ehrkg.ontology.derive.label_text import CONTRAINDICATED, TREATS
from ehrkg.ontology.derive.mondo import Edge
from ehrkg.ontology.derive.reading import data, key
from ehrkg.ontology.derive.statements import Deriver, refused

TABLE = "clinical uses"
Use = tuple[str, str, str]
"""Drug or class, condition (both by name), route."""


def uses(deriver: Deriver, barred: set[tuple[str, str]]) -> list[Edge]:
    """Uses of classes of drugs and of drugs; not again what the core says or a reader refused.

    Args:
        deriver: what is known; counts what is left out.
        barred: (drug, condition) that a table says must not be given: it depends on the context.
    """
    said = data("clinical_uses.yaml")
    by_drug = ((drug, name, "") for drug, names in said["drugs"].items() for name in names)
    by_condition = (
        (drug, name, "") for name, drugs in said["conditions"].items() for drug in drugs
    )
    ground = deriver.ground
    edges = _edges(deriver, (*_of_classes(said["classes"]), *by_drug, *by_condition))
    return [
        edge for edge in edges if not _settled(ground, edge) and (edge[0], edge[2]) not in barred
    ]


def uses_of_groups(deriver: Deriver) -> list[Edge]:
    """Uses in a whole group of conditions, which say nothing of each kind."""
    groups = data("clinical_uses.yaml")["groups"]
    return _edges(deriver, ((drug, name, "") for name, drugs in groups.items() for drug in drugs))


def _of_classes(classes: Mapping[str, Any]) -> Iterator[Use]:
    for code, row in classes.items():
        names, route = (row["treats"], row["route"]) if isinstance(row, Mapping) else (row, "")
        for name in names:
            yield f"ATC:{code}", name, route


def _edges(deriver: Deriver, said: Iterable[Use]) -> list[Edge]:
    """Each statement once; a name that is not known is counted and left out."""
    ground, found = deriver.ground, set()
    for drug, name, route in said:
        deriver.read[TABLE] += 1
        subject = drug if drug in ground.names else ground.drug(drug)
        target = ground.conditions.get(key(name), "")
        if subject and target:
            found.add((subject, TREATS, target, route, ""))
        else:
            unknown = f"condition unknown: {name}" if subject else f"drug unknown: {drug}"
            deriver.left[TABLE, unknown] += 1
    return sorted(found)


def _settled(ground: Ground, edge: Edge) -> bool:
    subject, _, target, _, _ = edge
    return (
        (subject, TREATS, target) in ground.routes
        or (subject, CONTRAINDICATED, target) in ground.routes
        or (subject, target) in ground.denied
        or refused(ground, subject, target)
    )


__all__ = ["uses", "uses_of_groups"]
