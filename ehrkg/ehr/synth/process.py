"""The causal process of the synthetic tables, as it stands in the YAML files beside this one."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from ehrkg.foundation.hashing import hash64

BACKGROUND = 0.006
"""The chance that a drug is ordered in a visit without any of its conditions."""

SYSTEMS = {"9": ("ICD9CM", "ICD9PROC"), "10": ("ICD10CM", "ICD10PCS")}
"""The diagnosis and the procedure system of each era."""


@dataclass(frozen=True)
class Order:
    """One way to order a drug: what a row of prescriptions says."""

    text: str
    route: str
    weight: float
    strength: str
    type: str = "MAIN"
    base: str = ""


@dataclass(frozen=True)
class Rule:
    """The head brings the tail, with these chances in the same visit and in the next.

    ``head`` and ``tail`` are conditions; for TREATS and DIAGNOSES the head is a drug or procedure,
    and ``same`` is the chance that it is given in a visit with the condition.
    """

    kind: str  # planted or noise
    head: str
    predicate: str
    tail: str
    same: float
    next: float = 0.0

    @property
    def name(self) -> str:
        """The rule as text: the last column of planted.tsv."""
        return f"{self.head} {self.predicate} {self.tail}"

    @property
    def key(self) -> int:
        """What its draws are keyed by: its content, so other rules may come and go."""
        return hash64(self.head, self.predicate, self.tail) >> 1


@dataclass(frozen=True)
class Process:
    """The whole process.

    Attributes:
        conditions: a row of conditions.yaml each, by name.
        relations: rules between conditions, noise among them, in working order.
        drugs: the orders of each drug; standing orders follow, under their own names.
        treatments: rules from drugs to conditions, noise among them.
        standing: the chance of each standing order in any visit.
        procedures: a row of procedures.yaml each, by name.
        performed: rules from procedures to conditions.
        titles: the code systems' own titles by (system, code).
    """

    conditions: Mapping[str, Mapping[str, Any]]
    relations: tuple[Rule, ...]
    drugs: Mapping[str, tuple[Order, ...]]
    treatments: tuple[Rule, ...]
    standing: Mapping[str, float]
    procedures: Mapping[str, Mapping[str, Any]]
    performed: tuple[Rule, ...]
    titles: Mapping[tuple[str, str], str]

    def prevalence(self) -> npt.NDArray[np.float64]:
        """Chances by sex (F, M), age band and condition: shape (2, 4, conditions)."""
        chances = np.array([row["p"] for row in self.conditions.values()]).T
        both = np.stack([chances, chances])
        for place, row in enumerate(self.conditions.values()):
            if "sex" in row:
                both[1 if row["sex"] == "F" else 0, :, place] = 0.0
        return both

    def chronic(self) -> npt.NDArray[np.bool_]:
        """Which conditions stay."""
        return np.array([row.get("chronic", False) for row in self.conditions.values()])

    def replaced(self, era: str) -> Iterator[tuple[str, str]]:
        """Pairs (condition, the one it is coded instead of) in an era."""
        for name, row in self.conditions.items():
            other = row.get("replaces") or (row.get("replaces_in_10") if era == "10" else None)
            if other:
                yield name, other


def _folders(adds: tuple[str, ...]) -> tuple[Path, ...]:
    here = Path(__file__).parent
    return (here, *(here / name for name in adds))


def _rows(file: str, adds: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The rows of the file, then those of the file of that name in each folder that adds."""
    return [
        row
        for folder in _folders(adds)
        for row in yaml.load(
            (folder / file).read_text(encoding="utf-8"),
            Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader),  # noqa: S506 (safe, and in C)
        )
    ]


def _titles(adds: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], str]]:
    for folder in _folders(adds):
        with (folder / "codes.tsv").open(encoding="utf-8", newline="") as handle:
            for row in csv.DictReader(handle, delimiter="\t"):
                yield (row["system"], row["code"]), row["title"]


def _orders(row: Mapping[str, Any]) -> tuple[Order, ...]:
    kind, base = row.get("type", "MAIN"), row.get("base", "")
    return tuple(
        Order(text, route, weight, strength, kind, base)
        for text, route, weight, strength in row["orders"]
    )


@cache
def process(adds: tuple[str, ...] = ()) -> Process:
    """The process that the package ships.

    Args:
        adds: folders beside this file with more conditions, relations and drugs: ``Shape.adds``.

    >>> process().drugs["furosemide"][0].text
    'Furosemide'
    """
    drugs = _rows("drugs.yaml", adds)
    orders, noise = _rows("orders.yaml"), _rows("noise.yaml")
    procedures = {row["procedure"]: row for row in _rows("procedures.yaml")}
    relations = [Rule("planted", **{"next": 0.0} | row) for row in _rows("relations.yaml", adds)]
    treatments = [
        Rule("planted", row["drug"], "TREATS", condition, chance)
        for row in drugs
        for condition, chance in row["treats"].items()
    ]
    for row in noise:
        if "drug" in row:
            treatments.append(
                Rule("noise", row["drug"], row["predicate"], row["condition"], row["same"])
            )
        else:
            relations.append(Rule("noise", **row))
    return Process(
        conditions={row["condition"]: row for row in _rows("conditions.yaml", adds)},
        relations=tuple(relations),
        drugs={row["drug"]: _orders(row) for row in drugs}
        | {row["order"]: _orders(row) for row in orders},
        treatments=tuple(treatments),
        standing={row["order"]: row["p"] for row in orders},
        procedures=procedures,
        performed=tuple(
            Rule("planted", name, row["predicate"], condition, chance)
            for name, row in procedures.items()
            for condition, chance in row["for"].items()
        ),
        titles=dict(_titles(adds)),
    )
