"""Kill a build at random moments, start it again each time, and compare the hashes at the end.

    python tests/benchmarks/kill_and_resume.py [--kills 20] [--tables FOLDER | --patients N]

Takes the MIMIC-IV demo in ../shared/data where it lies there, synthetic tables else, or as many
synthetic patients as it is told. A moment is
drawn over the whole length of a build; a build that finishes before it is killed makes way for a
fresh folder, so that every kill hits a running build.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = "import sys; from ehrkg.pipeline import build; build(sys.argv[1], sys.argv[2])"


def start(tables: Path, out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", BUILD, str(tables), str(out)], cwd=ROOT)


def hashes(out: Path) -> dict[str, str]:
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    found = {name: facts["sha256"] for name, facts in manifest["outputs"].items()}
    return found | {"graph": manifest["graph"]["content"]}


def finish(tables: Path, out: Path) -> float:
    began = time.monotonic()
    if start(tables, out).wait() != 0:
        sys.exit(f"the build of {out.name} failed")
    return time.monotonic() - began


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--kills", type=int, default=20)
    words.add_argument("--tables", type=Path)
    words.add_argument("--patients", type=int, help="synthetic patients, instead of tables")
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    draw = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        tables = given.tables or ROOT.parent / "shared" / "data" / "mimic-iv-demo-2.2"
        if given.patients or not tables.is_dir():
            from ehrkg.ehr import synth

            tables = scratch / "tables"
            synth.write(tables, patients=given.patients or 150, shape="demo")
        length = finish(tables, scratch / "reference")
        reference = hashes(scratch / "reference")
        print(f"reference build: {length:.0f} s")
        killed, folders, finished = 0, 0, []
        while killed < given.kills:
            out = scratch / f"killed-{folders}"
            folders += 1
            while killed < given.kills:
                process = start(tables, out)
                moment = draw.uniform(1.0, length)
                try:
                    process.wait(timeout=moment)
                    break
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    killed += 1
                    stages = sorted(p.name for p in (out / ".work").glob("*") if p.is_dir())
                    print(f"kill {killed} after {moment:.1f} s; on disk: {', '.join(stages)}")
            finished.append(out)
        for out in finished:
            finish(tables, out)
            if hashes(out) != reference:
                sys.exit(f"{out.name} differs: {hashes(out)} against {reference}")
    print(f"{killed} kills in {len(finished)} folders: every hash equals the reference build's")


if __name__ == "__main__":
    main()
