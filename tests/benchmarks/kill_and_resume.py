"""Kill a build at random moments, start it again each time, and compare the hashes at the end.

    python tests/benchmarks/kill_and_resume.py [--kills 20] [--tables FOLDER | --patients N]
                                               [--at-once 1]

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
from concurrent.futures import ThreadPoolExecutor
from functools import partial
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


def kill(tables: Path, folder: Path, kills: int, length: float, seed: int) -> list[Path]:
    """Kill builds so many times; gives the folders that they were in."""
    draw = random.Random(f"{seed} {folder.name}")
    killed, used = 0, []
    while killed < kills:
        out = folder / str(len(used))
        used.append(out)
        while killed < kills:
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
                print(
                    f"{folder.name}: kill {killed} after {moment:.1f} s; on disk: "
                    f"{', '.join(stages)}",
                    flush=True,
                )
    return used


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--kills", type=int, default=20)
    words.add_argument("--tables", type=Path)
    words.add_argument("--patients", type=int, help="synthetic patients, instead of tables")
    words.add_argument("--at-once", type=int, default=1, help="builds that run side by side")
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
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
        shares = [given.kills // given.at_once] * given.at_once
        shares[0] += given.kills % given.at_once
        with ThreadPoolExecutor(given.at_once) as lanes:
            made = lanes.map(
                lambda lane: kill(tables, scratch / f"lane-{lane[0]}", lane[1], length, given.seed),
                enumerate(shares),
            )
            finished = [out for folders in made for out in folders]
            for out, _ in zip(finished, lanes.map(partial(finish, tables), finished), strict=True):
                if hashes(out) != reference:
                    sys.exit(f"{out} differs: {hashes(out)} against {reference}")
    print(
        f"{given.kills} kills in {len(finished)} folders: every hash equals the reference build's"
    )


if __name__ == "__main__":
    main()
