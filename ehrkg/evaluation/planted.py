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
    """How one kind of planted pair fared.

    Attributes:
        kind: ``planted`` (true by construction) or ``noise`` (co-occurs, no knowledge backs it).
        planted: how many pairs were planted and stand in the tables read.
        proposed: how many of them were proposed.
        supported: how many were verified.
        low, high: Wilson interval of supported / planted.
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
        planted: kind, head, route, predicate, tail (``ehr.synth.read_planted``).
        relations: the schema ``verify.schema.RELATIONS``.
        codes: ids of the codes that stand in the tables; pairs of others could not be found.
    """
    seen = set(codes)
    verdicts: dict[tuple[str, str, str, str], str] = {}
    for row in relations.select(["head", "route", "predicate", "tail", "verdict"]).to_pylist():
        verdicts[row["head"], row["route"], row["predicate"], row["tail"]] = row["verdict"]
    shares = []
    for kind in ("planted", "noise"):
        keys = {
            (row["head"], row["route"] or "", row["predicate"], row["tail"])
            for row in planted.to_pylist()
            if row["kind"] == kind and row["head"] in seen and row["tail"] in seen
        }
        proposed = [verdicts[key] for key in keys if key in verdicts]
        supported = sum(verdict == "supported" for verdict in proposed)
        low, high = wilson(supported, len(keys))
        shares.append(
            PlantedShare(kind, len(keys), len(proposed), supported, round(low, 4), round(high, 4))
        )
    return shares
