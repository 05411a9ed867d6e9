"""How long the report of a large build takes, its memory, and the size of its file.

    python tests/benchmarks/questions_speed.py world --templates 30000 --out DIR
    python tests/benchmarks/questions_speed.py make --out DIR
    python tests/benchmarks/baselines_speed.py arrays --out DIR
    python tests/benchmarks/report_speed.py --out DIR [--shareable]

The tables are those of the other two; only pictures lack, of which a report has a few dozen however
large the build is. Time and memory are those of the whole process.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ehrkg.evaluation.report import ReportData, page, write_report
from ehrkg.evaluation.schema import complete_scores
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import read_parquet
from tests.benchmarks.baselines_speed import world

STARTED = time.perf_counter()


def report_data(out: Path) -> ReportData:
    """What a report is made of, out of a made-up world and what baselines answered."""
    hospital, verified = world(out)
    manifest: dict[str, Any] = {
        "format": "made up",
        "settings": {"seed": 7},
        "versions": {"ehrkg": "0"},
        "inputs": {},
        "outputs": {},
    }
    names = ("templates", "items", "scores_arrays", "pool")
    templates, items, scores, pool = (read_parquet(out / f"{name}.parquet") for name in names)
    return ReportData(
        manifest,
        Ledger(),
        hospital,
        verified,
        templates,
        items,
        complete_scores(scores),
        pool=pool,
    )


def timed(section: page.Section, data: ReportData) -> float:
    """Seconds that a section takes to collect what it shows."""
    began = time.perf_counter()
    section.collect(data)
    return time.perf_counter() - began


def main() -> None:
    """Write the report and say what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shareable", action="store_true")
    parser.add_argument("--sections", action="store_true", help="say what each section takes")
    given = parser.parse_args()
    data, path = report_data(given.out), given.out / "report.html"
    if given.sections:
        for section in page.SECTIONS:
            print(f"{section.anchor}: {timed(section, data):.1f} s")
    write_report(data, path, shareable=given.shareable)
    rows = pq.read_metadata(given.out / "items.parquet").num_rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"report: {rows:,} questions, {data.scores.num_rows:,} scores; "
        f"{time.perf_counter() - STARTED:.1f} s, {time.process_time():.1f} s CPU, {peak:.2f} GB, "
        f"a file of {path.stat().st_size / 1e6:.2f} MB"
    )


if __name__ == "__main__":
    main()
