"""How verdicts on pairs that really stood together in a hospital agree with labels made by hand.

    python tests/benchmarks/verify_hospital_pairs.py ../shared/data

Knowledge is what the package ships, with the trees of the codes asked about. The labels are for
measuring: no rule and no edge was made from them. Pairs of low confidence are left out.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from ehrkg import ontology
from ehrkg.ehr.codes import code_id, normalise
from ehrkg.evaluation.metrics import wilson
from ehrkg.verify import Policy, resolve_pairs, verify

ICD = {"9": "ICD9CM", "10": "ICD10CM"}
Claim = tuple[str, str, str]


def icd(version: str, code: str) -> str:
    return code_id(ICD[version], normalise(ICD[version], code))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    return [row for row in rows if row["confidence"] in ("high", "medium")]


def verdicts(claims: list[Claim]) -> dict[Claim, str]:
    table = pa.table(
        dict(zip(("head", "predicate", "tail"), zip(*claims, strict=True), strict=True))
    )
    knowledge = ontology.shipped()
    candidates, links = resolve_pairs(table, knowledge)
    found = verify(candidates, links, knowledge, policy=Policy(definition_bonus=0))
    return {
        (row["head"], row["predicate"], row["tail"]): row["verdict"]
        for row in found.relations.to_pylist()
    }


def share(hits: int, total: int) -> str:
    low, high = wilson(hits, total)
    return f"{hits / max(total, 1):.3f} [{low:.3f}, {high:.3f}] ({hits}/{total})"


def report(
    title: str,
    truth: dict[tuple[str, ...], str],
    said: dict[tuple[str, ...], bool],
    true_labels: tuple[str, ...],
) -> None:
    counts = Counter((label, said[key]) for key, label in truth.items())
    table = Table(title=title, title_justify="left")
    table.add_column("label")
    table.add_column("supported, 95 % Wilson interval", justify="right")
    for label in sorted(set(truth.values())):
        hits = counts[label, True]
        table.add_row(label, share(hits, hits + counts[label, False]))
    good = sum(counts[label, True] for label in true_labels)
    wrong = counts["unrelated", True]
    table.add_row("precision against unrelated", share(good, good + wrong))
    Console(width=100).print(table)


def drugs(data: Path) -> None:
    rows = rows_of(data / "gold" / "diagnosis-drug.tsv")
    keys = [(icd(row["icd_version"], row["icd_code"]), row["drug"]) for row in rows]
    claims = {
        (f"DRUGNAME:{' '.join(drug.lower().split())}", predicate, code)
        for code, drug in keys
        for predicate in ("TREATS", "PREVENTS")
    }
    found = verdicts(sorted(claims))
    by_pair = {
        (tail, head): verdict == "supported"
        for (head, predicate, tail), verdict in found.items()
        if predicate == "TREATS"
    }
    for (head, predicate, tail), verdict in found.items():
        by_pair[tail, head] |= predicate == "PREVENTS" and verdict == "supported"
    truth = {
        (code, f"DRUGNAME:{' '.join(drug.lower().split())}"): row["label"]
        for (code, drug), row in zip(keys, rows, strict=True)
    }
    report(
        "Diagnosis and drug: supported as treatment or prevention",
        truth,
        by_pair,
        ("treats", "prevents"),
    )


def diagnoses(data: Path) -> None:
    rows = rows_of(data / "gold" / "diagnosis-diagnosis.tsv")
    ends = [
        (
            icd(row["version_a"], row["code_a"]),
            icd(row["version_b"], row["code_b"]),
        )
        for row in rows
    ]
    predicates = ("CAUSES", "PREDISPOSES_TO", "HAS_PHENOTYPE")
    found = verdicts(
        sorted({(h, p, t) for a, b in ends for h, t in ((a, b), (b, a)) for p in predicates})
    )
    truth: dict[tuple[str, ...], str] = {}
    said: dict[tuple[str, ...], bool] = {}
    for (a, b), row in zip(ends, rows, strict=True):
        for head, tail, side in ((a, b, "a_"), (b, a, "b_")):
            label = row["label"]
            directed = label.startswith(("a_", "b_"))
            if directed:
                label = label[2:-2] if label.startswith(side) else "the other way round"
            truth[head, tail] = label
            said[head, tail] = any(found[head, p, tail] == "supported" for p in predicates)
    report("Diagnosis and diagnosis, each direction asked", truth, said, ("causes", "predisposes"))


def main() -> None:
    data = Path(sys.argv[1])
    drugs(data)
    diagnoses(data)


if __name__ == "__main__":
    main()
