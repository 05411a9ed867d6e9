"""What readers said of relations: labels, and how far verdicts are right by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ehrkg.benchmark.opened.reviews import RELATION, asked, read_marks
from ehrkg.evaluation.readers.agreement import Agreement, Figure, agreement

LABELS = pa.schema(
    [
        ("head", pa.string()),
        ("predicate", pa.string()),
        ("tail", pa.string()),
        ("label", pa.string()),  # true or false, by all readers who could tell
        ("route", pa.string()),
        ("readers", pa.int64()),  # how many could tell
    ]
)
"""Relations that readers labelled, as ``ehrkg verify`` reads pairs. Sorted by relation id."""

_COLUMNS = ["id", "head", "route", "predicate", "tail", "verdict"]


@dataclass(frozen=True)
class RelationSummary:
    """What readers found of a build's relations.

    Attributes:
        relations: how many were judged.
        twice: how many by two readers or more.
        disputed: how many are true for one and false for another; they have no label.
        verdicts: by verdict, the share of its labelled relations that are true. Each relation of
            the sample counts alike, and in it rare predicates and proposers stand as often as
            common ones: it is no share of all relations with that verdict.
        agreements: by pair of readers.
        labels: LABELS.
    """

    relations: int
    twice: int
    disputed: int
    verdicts: Mapping[str, Figure]
    agreements: Mapping[tuple[int, int], Agreement]
    labels: pa.Table

    def sentences(self) -> list[str]:
        """What there is to say, a sentence a line."""
        return [
            f"{self.relations:,} relations were judged blind, {self.twice:,} of them by two "
            f"readers or more; {len(self.labels):,} have a label, {self.disputed:,} are disputed.",
            *(
                f"Of those {verdict}, true for readers: {found.percent()} of {found.n:,} in the "
                "sample."
                for verdict, found in self.verdicts.items()
            ),
            *(
                f"Readers {first} and {second} on {found.sentence()}"
                for (first, second), found in self.agreements.items()
            ),
        ]


def relation_summary(out: Path) -> RelationSummary | None:
    """What readers found of a build's relations; ``None`` where none was judged.

    Args:
        out: the build's folder.

    Raises:
        InputError: a line of marks.jsonl is no mark.
    """
    marks = read_marks(out)
    said: dict[str, dict[str, str]] = {}
    for (reader, name), review in marks.reviews(RELATION).items():
        if review.answered:
            said.setdefault(name, {})[reader] = str(review.answered[0])
    table = pq.read_table(
        out / "relations.parquet", columns=_COLUMNS, filters=[("id", "in", sorted(said) or [""])]
    )
    rows = {row["id"]: row for row in table.sort_by("id").to_pylist()}
    said = {name: one for name, one in said.items() if name in rows}
    if not said:
        return None
    labelled = {name: _labels(one) for name, one in said.items()}
    labels = [
        {**rows[name], "label": told[0], "readers": len(told)}
        for name in rows
        if len(set(told := labelled[name])) == 1
    ]
    numbers = {name: number for number, name in enumerate(marks.readers, 1)}
    words = [row["name"] for row in asked()["judgements"]]
    return RelationSummary(
        len(said),
        sum(len(one) > 1 for one in said.values()),
        sum(len(set(one)) > 1 for one in labelled.values()),
        _by_verdict(labels),
        {
            (numbers[first], numbers[second]): agreement(
                "whether it is true", [a for a, _ in pairs], [b for _, b in pairs], words
            )
            for first, second in combinations(marks.readers, 2)
            if (pairs := _both(said, first, second))
        },
        pa.Table.from_pylist(labels, LABELS),
    )


def _labels(said: Mapping[str, str]) -> list[str]:
    """The labels that readers gave, without those who could not tell."""
    label = {row["name"]: row["label"] for row in asked()["judgements"]}
    return [label[word] for word in said.values() if label.get(word)]


def _by_verdict(labels: list[dict[str, Any]]) -> dict[str, Figure]:
    found: dict[str, list[bool]] = {}
    for row in labels:
        found.setdefault(row["verdict"], []).append(row["label"] == "true")
    return {verdict: Figure.share(sum(said), len(said)) for verdict, said in sorted(found.items())}


def _both(said: Mapping[str, Mapping[str, str]], first: str, second: str) -> list[tuple[str, str]]:
    return [(one[first], one[second]) for one in said.values() if first in one and second in one]
