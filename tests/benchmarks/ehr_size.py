"""Time and memory of reading, loading and counting tables of MIMIC-IV's size, and parts of it.

    python tests/benchmarks/ehr_size.py [--shares 0.01 0.1 1] [--plot FILE.svg] [--keep FOLDER]

Each share is drawn with ``ehrkg synth`` in a process of its own, and then read, normalised, loaded
into the embedded graph and counted for pairs in another, whose time and peak memory are taken stage
by stage: so a stage's peak is that of the whole process up to its end. Beside the wall time stands
the processors' time, which other work on the machine stretches less. The whole takes about 6 GB of
disk at share 1, in the folder that is kept or in a temporary one. The plot needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENTS = 364_627
"""Patients of MIMIC-IV 3.1."""

SHAPE = {"admissions": 546_028, "diagnoses": 6.4e6, "procedures": 860e3, "prescriptions": 20e6}
"""Rows of MIMIC-IV 3.1, about."""

PIECES = (("drug", "diagnosis"), ("diagnosis", "diagnosis"), ("procedure", "diagnosis"))
"""The kinds of pairs that the tasks use."""

SHAREABLE = 11
"""The least count that may be passed on: at the full size a pair is proposed from here on."""

TARGETS = {"synth": 240, "read+load": 240, "count": 90}
"""Seconds at share 1 on two cores; and 8 GB at most for reading and loading."""

MEMORY = 8_000
"""Megabytes."""

BAND = 1.25
"""Time a row may change by so much from one share to the next and still pass for linear."""


class Watch:
    """Time and memory of this process from one lap to the next."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.monotonic(), self._cpu()

    def lap(self) -> dict[str, float]:
        """Wall seconds, CPU seconds since the last lap, and the peak of memory so far in MB."""
        wall, cpu = time.monotonic(), self._cpu()
        found = {
            "wall": wall - self.wall,
            "cpu": cpu - self.cpu,
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        }
        self.wall, self.cpu = wall, cpu
        return found

    @staticmethod
    def _cpu() -> float:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime


def work(folder: Path, graph: Path) -> None:
    """Read, load and count in this process; prints what was measured as JSON."""
    watch, found = Watch(), {}
    from ehrkg import ehr, propose
    from ehrkg.foundation.ledger import Ledger
    from ehrkg.graph.store import open_store
    from ehrkg.graph.writers import write_hospital
    from ehrkg.propose.counting import pair_pieces

    ledger = Ledger()
    hospital = ehr.read(folder, ledger=ledger)
    found["read"] = watch.lap()
    with open_store(graph) as store:
        write_hospital(store, hospital)
    found["load"] = watch.lap()
    seen = sum(
        piece.pairs.num_rows
        for head, tail in PIECES
        for piece in pair_pieces(hospital, head_kind=head, tail_kind=tail)
    )
    found["count"] = watch.lap()
    proposer = propose.Cooccurrence(min_within=SHAREABLE, min_across=SHAREABLE)
    pairs = proposer.propose(hospital)
    found["propose"] = watch.lap()
    rows = {
        "admissions": hospital.visits.num_rows,
        **{f"{unit} rows": taken for unit, taken in rows_in(ledger).items()},
        "events": hospital.count("events"),
        "edges": hospital.count("visit_codes"),
        "pairs": seen,
        "candidates": pairs.num_rows,
    }
    print(json.dumps({"rows": rows, "stages": found}))


def rows_in(ledger: Iterable[Any]) -> dict[str, int]:
    """How many rows of each table of events were read."""
    kinds = ("diagnosis", "procedure", "drug")
    return {entry.unit: entry.rows_in for entry in ledger if entry.unit in kinds}


def run(*arguments: str | Path) -> tuple[str, dict[str, float]]:
    """A child's output, and its wall time, CPU time and peak memory."""
    began = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, *map(str, arguments)], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    text = child.stdout.read() if child.stdout else ""
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"failed: {arguments}")
    wall, cpu = time.monotonic() - began, used.ru_utime + used.ru_stime
    return text, {"wall": wall, "cpu": cpu, "peak": used.ru_maxrss * 1024 / 1e6}


def measure(share: float, folder: Path) -> dict[str, dict[str, float]]:
    """Stages of one share by name, with ``rows`` beside them."""
    tables, graph = folder / f"tables-{share:g}", folder / f"graph-{share:g}.lbug"
    stages = {}
    if not tables.exists():
        command = ("-c", "from ehrkg.cli import main; main()", "synth", "--out", tables)
        _, stages["synth"] = run(*command, "--patients", str(round(PATIENTS * share)))
    graph.unlink(missing_ok=True)
    text, whole = run(__file__, "--work", tables, graph)
    done = json.loads(text.splitlines()[-1])
    graph.unlink()
    done["stages"]["whole"] = whole
    stages |= done["stages"]
    read, load = stages["read"], stages["load"]
    stages["read+load"] = {
        "wall": read["wall"] + load["wall"], "cpu": read["cpu"] + load["cpu"], "peak": load["peak"]
    }  # fmt: skip
    return {"rows": done["rows"]} | stages


def show(share: float, found: dict[str, dict[str, float]]) -> None:
    rows = found["rows"]
    print(f"share {share:g}: " + ", ".join(f"{n:,} {name}" for name, n in rows.items()))
    for stage, took in found.items():
        if stage != "rows":
            a_million = took["cpu"] / rows["events"] * 1e6
            print(
                f"  {stage:<10} {took['wall']:8.1f} s wall {took['cpu']:8.1f} s CPU "
                f"{took['peak']:8.0f} MB at most {a_million:7.2f} CPU s a million events",
                flush=True,
            )


def judge(found: dict[str, dict[str, float]]) -> None:
    for stage, limit in TARGETS.items():
        if stage in found:
            wall = found[stage]["wall"]
            print(f"{stage}: {wall:.0f} s, target {limit} s: {'yes' if wall < limit else 'NO'}")
    for name, wanted in zip(
        ("admissions", "diagnosis rows", "procedure rows", "drug rows"), SHAPE.values(), strict=True
    ):
        print(f"{name}: {found['rows'][name]:,}, of MIMIC-IV 3.1 about {wanted:,.0f}")
    peak = found["read+load"]["peak"]
    print(f"memory: {peak:.0f} MB, target {MEMORY} MB: {'yes' if peak < MEMORY else 'NO'}")


def growth(all_found: dict[float, dict[str, dict[str, float]]]) -> None:
    """Say where processor time grows faster or slower than rows."""
    for (low, small), (high, large) in pairwise(all_found.items()):
        for stage in ("read", "load", "count"):
            rows = large["rows"]["events"] / small["rows"]["events"]
            times = large[stage]["cpu"] / small[stage]["cpu"] / rows
            odd = " <- more than linear" if times > BAND else ""
            odd = " (less: fixed costs weigh less)" if times < 1 / BAND else odd
            print(f"{stage}, {low:g} to {high:g}: {times:.2f} times as long a row{odd}")


def plot(all_found: dict[float, dict[str, dict[str, float]]], file: Path) -> None:
    """Time and memory against events, one line a stage, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    events = [found["rows"]["events"] for found in all_found.values()]
    for stage in ("read", "load", "count"):
        for axes, name in ((time_axes, "cpu"), (memory_axes, "peak")):
            axes.plot(events, [f[stage][name] for f in all_found.values()], "o-", label=stage)
    first = next(iter(all_found.values()))
    total = sum(first[stage]["cpu"] for stage in ("read", "load", "count"))
    linear = [total * each / events[0] for each in events]
    time_axes.plot(events, linear, ":", color="grey", label="all, if linear")
    memory_axes.axhline(MEMORY, ls=":", color="grey", label="8 GB")
    titles = ("processor time (s)", "peak memory of the process so far (MB)")
    for axes, title in zip((time_axes, memory_axes), titles, strict=True):
        axes.set(xscale="log", yscale="log", xlabel="event rows", title=title)
        axes.legend()
    figure.savefig(file)
    print(f"plot: {file}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.1, 1.0])
    options.add_argument("--plot", type=Path)
    options.add_argument("--keep", type=Path, help="keep the tables here, and use those there")
    options.add_argument("--work", type=Path, nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.work:
        work(*chosen.work)
        return
    print(f"{os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
    all_found = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for share in sorted(chosen.shares):
            all_found[share] = measure(share, folder)
            show(share, all_found[share])
    growth(all_found)
    if 1.0 in all_found:
        judge(all_found[1.0])
    if chosen.plot:
        plot(all_found, chosen.plot)


if __name__ == "__main__":
    main()
