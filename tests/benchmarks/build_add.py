"""What adding an extract saves against building from everything, and that both are the same.

    python tests/benchmarks/build_add.py [--patients 2000] [--new 0.1]

Each build is a process of its own, so that neither warms the other's caches.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BUILD = "import sys; from ehrkg.pipeline import build; build(sys.argv[2:], sys.argv[1])"
ADD = "import sys; from ehrkg.pipeline import add; add(sys.argv[2], sys.argv[1])"


class Took(NamedTuple):
    """Seconds of a build: the clock's, and the processors', which other work does not lengthen."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.0f} s ({self.cpu:.0f} s of processor)"


def timed(code: str, *words: Path) -> Took:
    began, before = time.monotonic(), os.times()
    subprocess.run([sys.executable, "-c", code, *map(str, words)], cwd=ROOT, check=True)
    after = os.times()
    return Took(time.monotonic() - began, sum(after[2:4]) - sum(before[2:4]))


def hashes(out: Path) -> dict[str, str]:
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    found = {name: facts["content"] for name, facts in manifest["outputs"].items()}
    return found | {"graph": manifest["graph"]["content"]}


def split(tables: Path, first: Path, second: Path, share: float) -> None:
    """Put the last patients, by id, into the second extract."""
    with gzip.open(tables / "hosp" / "patients.csv.gz", "rt", encoding="utf-8") as handle:
        header, *rows = csv.reader(handle)
    patients = sorted({row[header.index("subject_id")] for row in rows})
    new = set(patients[-max(1, int(len(patients) * share)) :])
    for path in sorted(tables.rglob("*.csv.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as handle:
            header, *rows = csv.reader(handle)
        at = header.index("subject_id") if "subject_id" in header else None
        for folder, wanted in ((first, False), (second, True)):
            kept = [row for row in rows if at is None or (row[at] in new) is wanted]
            target = folder / path.relative_to(tables)
            target.parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(target, "wt", encoding="utf-8", newline="") as handle:
                csv.writer(handle, lineterminator="\n").writerows([header, *kept])


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--patients", type=int, default=2000)
    words.add_argument("--new", type=float, default=0.1)
    given = words.parse_args()
    from ehrkg.ehr import synth

    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        synth.write(scratch / "all", patients=given.patients, shape="demo")
        split(scratch / "all", scratch / "first", scratch / "second", given.new)
        begun = timed(BUILD, scratch / "grown", scratch / "first")
        added = timed(ADD, scratch / "grown", scratch / "second")
        whole = timed(BUILD, scratch / "whole", scratch / "first", scratch / "second")
        if hashes(scratch / "grown") != hashes(scratch / "whole"):
            sys.exit(f"they differ: {hashes(scratch / 'grown')} {hashes(scratch / 'whole')}")
    print(
        f"{given.patients:,} patients, {given.new:.0%} of them new: first build {begun}, "
        f"adding {added}, building from everything {whole}; saved "
        f"{1 - added.wall / whole.wall:.0%} ({1 - added.cpu / whole.cpu:.0%} of processor time). "
        "All content hashes are equal."
    )


if __name__ == "__main__":
    main()
