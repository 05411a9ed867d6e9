"""How drug strings are read, against strings labelled by hand.

    python tests/benchmarks/mapping_drugs.py ../shared/data [KNOWLEDGE ...]

Prints, with 95 % Wilson intervals, the share of strings whose kind is right (target 0.95),
precision (0.97) and recall (0.92) of ingredients, for what the package ships and with more
knowledge, and the strings that fail. The rules were written after this half of the table was seen;
the other half is kept apart, and only it says how they do on strings they have not seen. `--half K`
takes the strings whose hash is odd or even, which shows how much chance there is in the figures.
"""

from __future__ import annotations

import argparse
import csv
from math import sqrt
from pathlib import Path

import pyarrow as pa

from ehrkg import ontology
from ehrkg.foundation.hashing import hash64
from ehrkg.mapping import map_codes
from ehrkg.ontology.schema import Knowledge

TARGETS = {"kind": 0.95, "precision": 0.97, "recall": 0.92}


def wilson(hits: int, total: int) -> str:
    """A share with its 95 % Wilson interval."""
    if not total:
        return "-"
    z, share = 1.959964, hits / total
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * sqrt(share * (1 - share) / total + z * z / (4 * total**2)) / (1 + z * z / total)
    return f"{share:.3f} [{centre - half:.3f}, {centre + half:.3f}] ({hits}/{total})"


def judge(rows: list[dict[str, str]], knowledge: Knowledge, title: str) -> None:
    """Read the strings with a knowledge and print how it went."""
    ids = [f"DRUGNAME:{' '.join(row['drug'].lower().split())}" for row in rows]
    distinct = sorted(set(ids))
    table = pa.table(
        {
            "id": distinct,
            "system": ["DRUGNAME"] * len(distinct),
            "code": [each.partition(":")[2] for each in distinct],
            "name": [""] * len(distinct),
            "kind": ["drug"] * len(distinct),
        }
    )
    mapping = map_codes(table, knowledge)
    kinds = {row["code"]: row["drug_kind"] for row in mapping.drug_strings.to_pylist()}
    links: dict[str, set[str]] = {}
    for row in mapping.links.to_pylist():
        if row["concept"].startswith("DRUGBANK:"):
            links.setdefault(row["code"], set()).add(row["concept"])
    right = said = meant = kind = 0
    failing = []
    for code, row in zip(ids, rows, strict=True):
        truth = {f"DRUGBANK:{each}" for each in row["drugbank_ids"].split("|") if each}
        found = links.get(code, set())
        right, said, meant = right + len(found & truth), said + len(found), meant + len(truth)
        kind += kinds[code] == row["kind"]
        if found != truth or kinds[code] != row["kind"]:
            failing.append((row["drug"], kinds[code], row["kind"], found - truth, truth - found))
    print(f"\n{title}: {len(rows)} strings")
    for name, hits, total in (
        ("kind", kind, len(rows)),
        ("precision", right, said),
        ("recall", right, meant),
    ):
        print(f"  {name:<10} {wilson(hits, total)}   target {TARGETS[name]}")
    for drug, was, should, wrong, missed in failing:
        kind_note = f" kind {was}, not {should};" if was != should else ""
        print(f"    {drug!r}:{kind_note} wrong {sorted(wrong)} missed {sorted(missed)}")


def main() -> None:
    """Measure with what ships, and with each further knowledge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("knowledge", type=Path, nargs="*")
    parser.add_argument("--half", type=int, choices=(0, 1))
    given = parser.parse_args()
    with (given.data / "gold" / "drug-strings.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    if given.half is not None:
        rows = [row for row in rows if hash64("half", row["drug"]) % 2 == given.half]
    shipped = ontology.shipped()
    judge(rows, shipped, "what ships")
    if given.knowledge:
        more = ontology.merge(shipped, *(ontology.load(path) for path in given.knowledge))
        judge(rows, more, f"with {', '.join(path.name for path in given.knowledge)}")


if __name__ == "__main__":
    main()
