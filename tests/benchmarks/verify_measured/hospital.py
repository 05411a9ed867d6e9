"""Pairs that stood together in a hospital, labelled by hand; low confidence left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from figures import share, show
from world import World, drug_name, icd, judge, rows

Found = Mapping[tuple[str, str, str], dict[str, Any]]
EFFECTS = ("CAUSES", "PREDISPOSES_TO", "HAS_PHENOTYPE")
Failure = tuple[str, str, str, str]


def _sure(world: World, name: str) -> list[dict[str, str]]:
    table = rows(world.data / "gold" / name)
    return [row for row in table if row["confidence"] in ("high", "medium")]


def _print(title: str, labelled: list[tuple[str, bool]], right: tuple[str, ...]) -> None:
    counts = Counter(labelled)
    table = [
        (label, share(counts[label, True], counts[label, True] + counts[label, False]))
        for label in sorted({label for label, _ in labelled})
    ]
    good = sum(counts[label, True] for label in right)
    total = good + sum(counts[label, False] for label in right)
    wrong = counts["unrelated", True]
    table.append((f"recall of {' and '.join(right)}", share(good, total)))
    table.append(("precision against unrelated", share(good, good + wrong)))
    show(title, ("label", "supported"), table)


def drugs(world: World) -> list[Failure]:
    """Print treatments and preventions; returns what failed."""
    table = _sure(world, "diagnosis-drug.tsv")
    keys = [(drug_name(row["drug"]), icd(row["icd_version"], row["icd_code"])) for row in table]
    claims = [(d, p, c) for d, c in keys for p in ("TREATS", "PREVENTS")]
    found = judge(claims, world.shipped)
    labelled, failures = [], []
    for (drug, code), row in zip(keys, table, strict=True):
        both = [found[drug, predicate, code] for predicate in ("TREATS", "PREVENTS")]
        said = any(one["verdict"] == "supported" for one in both)
        labelled.append((row["label"], said))
        if said != (row["label"] in ("treats", "prevents")):
            best = max(both, key=lambda one: one["verdict"] == "supported")
            failures.append((drug, code, row["label"], best["reasons"][0]))
    title = "Hospital: diagnosis and drug, supported as treatment or prevention"
    _print(title, labelled, ("treats", "prevents"))
    return failures


def diagnoses(world: World) -> list[Failure]:
    """Print causes and risks, each direction asked; returns what failed."""
    table = _sure(world, "diagnosis-diagnosis.tsv")
    ends = [
        (icd(row["version_a"], row["code_a"]), icd(row["version_b"], row["code_b"]))
        for row in table
    ]
    found = judge(
        [(h, p, t) for a, b in ends for h, t in ((a, b), (b, a)) for p in EFFECTS], world.shipped
    )
    labelled, failures = [], []
    for (a, b), row in zip(ends, table, strict=True):
        for head, tail, side in ((a, b, "a_"), (b, a, "b_")):
            label = row["label"]
            if label.startswith(("a_", "b_")):
                label = label[2:-2] if label.startswith(side) else "the other way round"
            all_found = [found[head, predicate, tail] for predicate in EFFECTS]
            said = any(one["verdict"] == "supported" for one in all_found)
            labelled.append((label, said))
            wrong = said and label in ("unrelated", "the other way round")
            if wrong or (not said and label in ("causes", "predisposes")):
                best = max(all_found, key=lambda one: one["verdict"] == "supported")
                failures.append((head, tail, label, best["reasons"][0]))
    title = "Hospital: diagnosis and diagnosis, each direction asked"
    _print(title, labelled, ("causes", "predisposes"))
    return failures
