"""The sources that the answers of a benchmark rest on, each with its licence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from ehrkg.ontology.sources import SOURCES

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

NAMES = {
    "ICD10CM": "infores:icd10cm",
    "ICD9CM": "infores:icd9cm",
    "ICD9PROC": "infores:icd9cm",
    "ICD10PCS": "infores:icd10pcs",
}
"""Code systems, as they stand before a code, to the source of their names."""

UNSTATED = "not stated: ask its owner before passing anything on"
"""The licence of a source that nobody has described."""


@dataclass(frozen=True)
class Contribution:
    """What one source gave.

    Attributes:
        infores: its identifier.
        name, licence, url, version: as its source.yaml says.
        relations: how many of the answers' relations have evidence of it.
        role: "evidence" or "names of codes".
    """

    infores: str
    name: str
    licence: str
    url: str
    version: str
    relations: int
    role: str


def contributions(bench: Benchmark) -> list[Contribution]:
    """The sources of the supporting evidence and of the names, most used first."""
    evidence = bench.beside("evidence")
    found: list[Contribution] = []
    if evidence is not None:
        used = pc.unique(bench.column("relation_id"))
        mine = evidence.filter(
            pc.and_(
                pc.is_in(evidence["relation"], value_set=used),
                pc.and_(
                    pc.equal(evidence["polarity"], "supports"),
                    pc.not_equal(evidence["kind"], "statistic"),
                ),
            )
        )
        relations: dict[str, set[str]] = {}
        for relation, source in zip(
            mine["relation"].to_pylist(), mine["source"].to_pylist(), strict=True
        ):
            for one in str(source or "").split("|"):
                relations.setdefault(one, set()).add(relation)
        found = [_of(name, len(held), "evidence") for name, held in relations.items() if name]
    systems = bench.count("option_codes")["option_codes"].to_pylist()
    seen = {code.partition(":")[0] for codes in systems for code in codes or ()}
    named = sorted({NAMES[system] for system in seen if system in NAMES})
    found += [_of(name, 0, "names of codes") for name in named]
    return sorted(found, key=lambda one: (-one.relations, one.infores))


def _of(infores: str, relations: int, role: str) -> Contribution:
    source = SOURCES.get(infores)
    if source is None:
        return Contribution(infores, infores, UNSTATED, "", "", relations, role)
    licence = source.licence or UNSTATED
    return Contribution(infores, source.name, licence, source.url, source.version, relations, role)
