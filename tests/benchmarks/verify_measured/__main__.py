"""How far verdicts and scores can be relied upon: all tables, by one command.

    python tests/benchmarks/verify_measured ../shared/data [failures.tsv [reliability.svg]]

Knowledge is what the package ships and, where it says so, the open tables that do not ship
(DrugCentral in Rephetio's terms); never PharmacotherapyDB, nor Hetionet's CtD and CpD. Labelled
pairs are for measuring: half of PharmacotherapyDB, by drug, served to fit the score; the gold
tables served nothing. Embedded sentences are kept in a temporary folder and reused. Pairs that fail
are written, with their reasons, to the file; the score's reliability is drawn where a second file
is named (it needs matplotlib).
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from pathlib import Path

import hospital
import noise
import physicians
import stress
from figures import CONSOLE
from world import World

CACHE = Path(tempfile.gettempdir()) / "ehrkg-verify-measured"


def main(data: Path, out: Path, plot: Path | None) -> None:
    """Print the tables, write the failures."""
    began = time.process_time()
    world = World(data)
    CACHE.mkdir(exist_ok=True)
    pairs = physicians.report(world, CACHE, plot)
    failures = [
        (*row["claim"][::2], row["category"], row["found"]["reasons"][0])
        for row in pairs
        if (row["found"]["verdict"] == "supported") == (row["category"] == "NOT")
    ]
    failures += hospital.drugs(world) + hospital.diagnoses(world)
    stress.report(world)
    noise.report(world)
    with out.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t", lineterminator="\n")
        writer.writerow(("head", "tail", "label", "reason"))
        writer.writerows(failures)
    CONSOLE.print(f"{len(failures)} pairs that fail, with reasons: {out}")
    CONSOLE.print(f"{time.process_time() - began:.0f} s of processor")


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"),
        Path(sys.argv[2] if len(sys.argv) > 2 else "verify_failures.tsv"),
        Path(sys.argv[3]) if len(sys.argv) > 3 else None,
    )
