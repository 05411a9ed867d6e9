"""How verdicts on drug-disease pairs stand against physicians: PharmacotherapyDB.

    python tests/benchmarks/verify_pharmacotherapydb.py ../shared/data

Knowledge is what the package ships; Mondo's mappings only tell which concept a DOID is. The pairs
are for measuring: nothing is tuned to them, and none of their edges stands in the knowledge.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from math import sqrt
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from ehrkg import ontology
from ehrkg.verify import Policy, resolve_pairs, verify

GROUPS = ("DM", "SYM", "NOT")
Z = 1.959964


def wilson(hits: int, total: int) -> str:
    """A share with its 95 % Wilson interval (Wilson 1927, J Am Stat Assoc 22:209)."""
    if not total:
        return "-"
    share, z2 = hits / total, Z * Z
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = Z * sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    return f"{share:.3f} [{centre - half:.3f}, {centre + half:.3f}] ({hits}/{total})"


def auroc(good: list[float], bad: list[float]) -> float:
    """The chance that a good pair scores above a bad one, ties counting half."""
    wins = sum((g > b) + 0.5 * (g == b) for g in good for b in bad)
    return wins / (len(good) * len(bad)) if good and bad else float("nan")


def judged(data: Path) -> list[dict[str, str]]:
    """The pairs with verdict, score and reason, under the words the knowledge has for the ends."""
    knowledge = ontology.merge(
        ontology.shipped(), ontology.load(data / "mondo" / "mondo_exactmatch_doid.sssom.tsv")
    )
    file = data / "pharmacotherapydb" / "catalog" / "indications.tsv"
    with file.open(encoding="utf-8", newline="") as handle:
        pairs = list(csv.DictReader(handle, delimiter="\t"))
    words = sorted(
        {
            word
            for row in pairs
            for word in (
                f"DRUGBANK:{row['drugbank_id']}",
                row["drug"],
                row["doid_id"],
                row["disease"],
            )
        }
    )
    known = set(
        resolve_pairs(_table([(word, word) for word in words]), knowledge).links["code"].to_pylist()
    )
    for row in pairs:
        row["head"] = _first(known, f"DRUGBANK:{row['drugbank_id']}", row["drug"])
        row["tail"] = _first(known, row["doid_id"], row["disease"])
    candidates, links = resolve_pairs(
        _table([(row["head"], row["tail"]) for row in pairs]), knowledge
    )
    found = verify(candidates, links, knowledge, policy=Policy(definition_bonus=0.0)).relations
    by_pair = {(row["head"], row["tail"]): row for row in found.to_pylist()}
    for row in pairs:
        relation = by_pair[row["head"], row["tail"]]
        row["verdict"], row["score"] = relation["verdict"], str(relation["score"])
        row["reason"] = relation["reasons"][0]
    return pairs


def _first(known: set[str], *words: str) -> str:
    return next((word for word in words if word in known), words[0])


def _table(pairs: list[tuple[str, str]]) -> pa.Table:
    heads, tails = zip(*pairs, strict=True)
    return pa.table({"head": heads, "predicate": ["TREATS"] * len(pairs), "tail": tails})


def main(data: Path) -> None:
    """Print the tables."""
    pairs = judged(data)
    console = Console(width=140)
    table = Table(title="PharmacotherapyDB: verdicts by the physicians' class")
    for column in (
        "class",
        "pairs",
        "linked",
        "supported",
        "of linked",
        "ambiguous",
        "contradicted",
    ):
        table.add_column(column)
    supported, linked, total = Counter(), Counter(), Counter()
    for group in GROUPS:
        rows = [row for row in pairs if row["category"] == group]
        verdicts = Counter(row["verdict"] for row in rows)
        total[group] = len(rows)
        linked[group] = sum(not row["reason"].startswith("unlinked") for row in rows)
        supported[group] = verdicts["supported"]
        table.add_row(
            group,
            str(len(rows)),
            wilson(linked[group], len(rows)),
            wilson(supported[group], len(rows)),
            wilson(supported[group], linked[group]),
            str(verdicts["ambiguous"]),
            str(verdicts["contradicted"]),
        )
    console.print(table)
    good = supported["DM"] + supported["SYM"]
    table = Table(title="`supported` as the answer, DM and SYM being right")
    for column in ("measure", "all pairs", "linked pairs"):
        table.add_column(column)
    table.add_row("precision", *[wilson(good, good + supported["NOT"])] * 2)
    table.add_row("recall", *(wilson(good, n["DM"] + n["SYM"]) for n in (total, linked)))
    table.add_row(
        "false positive rate", *(wilson(supported["NOT"], n["NOT"]) for n in (total, linked))
    )
    areas = []
    for rows in (pairs, [row for row in pairs if not row["reason"].startswith("unlinked")]):
        right = [float(row["score"]) for row in rows if row["category"] != "NOT"]
        wrong = [float(row["score"]) for row in rows if row["category"] == "NOT"]
        areas.append(f"{auroc(right, wrong):.3f}")
    table.add_row("AUROC of the score", *areas)
    console.print(table)
    console.print("NOT pairs that came out supported, with the reason:")
    for row in pairs:
        if row["category"] == "NOT" and row["verdict"] == "supported":
            console.print(f"  {row['drug']} / {row['disease']}: {row['reason']}", highlight=False)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
