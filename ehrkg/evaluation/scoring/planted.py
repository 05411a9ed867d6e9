"""On synthetic tables the truth is known: how much of what was planted was found, or refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ehrkg.ehr import synth
from ehrkg.evaluation.metrics import wilson


@dataclass(frozen=True)
class PlantedShare:
    """How one kind of planted rule fared.

    A rule ("type 2 diabetes leads to diabetic kidney disease") is planted under the codes of both
    eras; it counts by its best pair of codes.

    Attributes:
        kind: ``planted`` (true by construction) or ``noise`` (co-occurs, no knowledge backs it).
        planted: how many rules have both ends in the tables read.
        proposed: of how many some pair of codes was proposed.
        supported: of how many some pair of codes was supported.
        low, high: Wilson interval of supported / planted, 95 %.
    """

    kind: str
    planted: int
    proposed: int
    supported: int
    low: float
    high: float


def planted_in(source: Path, relations: pa.Table, codes: Iterable[str]) -> list[PlantedShare]:
    """``planted_shares`` of the tables in a folder; none where nothing was planted in them.

    Args:
        source: the folder of tables; ``ehrkg synth`` leaves ``planted.tsv`` in it.
        relations: the schema ``verify.schema.RELATIONS``.
        codes: ids of the codes that stand in the tables.
    """
    path = source / "planted.tsv"
    if not path.is_file():
        return []
    return planted_shares(synth.read_planted(path), relations, codes)


def planted_shares(
    planted: pa.Table, relations: pa.Table, codes: Iterable[str]
) -> list[PlantedShare]:
    """Compare the file of a synthetic extract with the verdicts.

    Args:
        planted: kind, head, route, predicate, tail, rule (``ehr.synth.read_planted``).
        relations: the schema ``verify.schema.RELATIONS``.
        codes: ids of the codes that stand in the tables; pairs of others could not be found.
    """
    seen = set(codes)
    keys = ["head", "route", "predicate", "tail"]
    verdicts = {
        tuple(row[key] for key in keys): row["verdict"]
        for row in relations.select([*keys, "verdict"]).to_pylist()
    }
    found: dict[str, dict[str, set[str]]] = {"planted": {}, "noise": {}}
    for row in planted.to_pylist():
        if row["head"] in seen and row["tail"] in seen:
            verdict = verdicts.get((row["head"], row["route"] or "", row["predicate"], row["tail"]))
            found[row["kind"]].setdefault(row["rule"], set()).add(verdict or "")
    return [_share(kind, list(rules.values())) for kind, rules in found.items()]


def _share(kind: str, rules: list[set[str]]) -> PlantedShare:
    supported = sum("supported" in verdicts for verdicts in rules)
    low, high = wilson(supported, len(rules))
    return PlantedShare(
        kind,
        len(rules),
        sum(verdicts != {""} for verdicts in rules),
        supported,
        round(low, 4),
        round(high, 4),
    )
