"""Reading MIMIC-IV's tables side by side with PyHealth: time and memory of whole processes.

    python tests/benchmarks/ehr_pyhealth.py [--patients 72926] [--env FOLDER]

PyHealth, the newest that installs, gets an environment of its own: in FOLDER, which is kept, or in
a temporary one (torch comes with it: some gigabytes). Both read the same generated tables, from the
import of the library to the finished object in memory: diagnoses, procedures and prescriptions with
patients and admissions. PyHealth reads plain CSV only, so the tables are unpacked for it first,
which is not counted. Memory is that of a process and all its children, shared pages counted once,
looked at twice a second; time is the wall's and the processors'.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET_TIME, TARGET_MEMORY = 10, 4
"""At least so many times faster, at most one so-manyth of the memory."""

OURS = """
import sys
from ehrkg import ehr
hospital = ehr.read(sys.argv[1])
print(hospital.count("events"))
"""
THEIRS = """
import sys
from pyhealth.datasets import MIMIC4Dataset
dataset = MIMIC4Dataset(
    root=sys.argv[1],
    tables=["diagnoses_icd", "procedures_icd", "prescriptions"],
    refresh_cache=True,
)
visits = (each for patient in dataset.patients.values() for each in patient.visits.values())
print(sum(visit.num_events for visit in visits))
"""


def measure(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Wall and processor seconds of a command and its children, their peak in MB, what it says."""
    began, before, peak = time.monotonic(), os.times(), 0.0
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(command, stdout=said, env=os.environ | environment)
        while child.poll() is None:
            peak = max(peak, sum(map(resident, family(child.pid))))
            time.sleep(0.5)
        wall, after = time.monotonic() - began, os.times()
        if child.returncode:
            sys.exit(f"failed: {command}")
        said.seek(0)
        events = int(said.read().split()[-1])
    cpu = sum(after[2:4]) - sum(before[2:4])
    return {"wall": wall, "cpu": cpu, "peak": peak, "events": events}


def family(pid: int) -> list[int]:
    """A process and all that come of it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                status = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(status[1])
        except OSError:
            continue
    found, more = [], [pid]
    while more:
        found += more
        more = [each for each, parent in parents.items() if parent in more]
    return found


def resident(pid: int) -> float:
    """MB that a process holds, its share of what it shares."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


def environment(folder: Path) -> tuple[Path, str]:
    """PyHealth's Python and version; made if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        # what it leans on unsaid: a numpy that its pandas was built for, and pkg_resources
        wanted = ["pyhealth", "numpy<2", "setuptools<80"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    version = "from importlib.metadata import version; print(version('pyhealth'))"
    found = subprocess.run([python, "-c", version], check=True, capture_output=True, text=True)
    return python, found.stdout.strip()


def unpacked(hosp: Path, folder: Path) -> Path:
    """The tables as plain CSV."""
    folder.mkdir()
    for path in hosp.glob("*.csv.gz"):
        with gzip.open(path) as source, (folder / path.stem).open("wb") as target:
            shutil.copyfileobj(source, target)
    return folder


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--patients", type=int, default=72_926)
    options.add_argument("--env", type=Path)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        python, version = environment((chosen.env or folder / "env").resolve())
        synth = "from ehrkg.cli import main; main()"
        ours = {"PYTHONPATH": str(ROOT)}
        subprocess.run(
            [sys.executable, "-c", synth, "synth", "--out", folder / "tables",
             "--patients", str(chosen.patients)],
            check=True, stdout=subprocess.DEVNULL, env=os.environ | ours,
        )  # fmt: skip
        plain = unpacked(folder / "tables" / "hosp", folder / "plain")
        print(f"{os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
        found = {
            "ehrkg": measure([sys.executable, "-c", OURS, str(folder / "tables")], ours),
            f"PyHealth {version}": measure(
                [str(python), "-c", THEIRS, str(plain)], {"HOME": scratch}
            ),
        }
    for name, took in found.items():
        print(
            f"{name:<16} {took['events']:>12,} events {took['wall']:8.1f} s wall "
            f"{took['cpu']:8.1f} s CPU {took['peak']:8.0f} MB"
        )
    one, other = found.values()
    times = {key: other[key] / one[key] for key in ("wall", "cpu", "peak")}
    print(f"{times['wall']:.1f} times as fast ({times['cpu']:.1f} times less processor time), ")
    print(f"memory: one part in {times['peak']:.1f}")
    good = times["wall"] >= TARGET_TIME and times["peak"] >= TARGET_MEMORY
    print(f"target {TARGET_TIME} times, one part in {TARGET_MEMORY}: {'yes' if good else 'NO'}")


if __name__ == "__main__":
    main()
