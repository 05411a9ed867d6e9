"""Time and memory of whole processes: the demo, the MIMIC-IV demo's build, and pandas beside them.

    python tests/benchmarks/build_speed.py

pandas only reads the same tables and counts the pairs of codes within visits; it stands here to
show what a machine takes for the least part of the job, in the same run.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MIMIC = ROOT.parent / "shared" / "data" / "mimic-iv-demo-2.2"
EHRKG = "from ehrkg.cli import main; main()"
PANDAS = """
import sys, glob, pandas as pd
read = lambda n: pd.read_csv(glob.glob(sys.argv[1] + '/hosp/' + n + '.csv.gz')[0], dtype=str)
a, d, p, r = map(read, ('admissions', 'diagnoses_icd', 'procedures_icd', 'prescriptions'))
d['code'] = d.icd_version + ':' + d.icd_code
visits = d[['hadm_id', 'code']].drop_duplicates()
pairs = visits.merge(visits, on='hadm_id')
drugs = r[['hadm_id', 'drug', 'route']].drop_duplicates().merge(visits, on='hadm_id')
print(len(pairs.groupby(['code_x', 'code_y']).size()))
print(len(drugs.groupby(['drug', 'route', 'code']).size()))
"""


def measure(name: str, command: list[str], limit: float | None) -> float:
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr}")
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = after.ru_maxrss / 2**20
    target = f"under {limit:.0f} s: {'yes' if wall < limit else 'NO'}" if limit else ""
    print(f"{name:<34} {wall:7.1f} s wall {cpu:7.1f} s CPU  {peak:5.2f} GiB at most  {target}")
    return wall


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        if MIMIC.is_dir():
            peer = measure(
                "pandas: read, count pairs", [sys.executable, "-c", PANDAS, str(MIMIC)], None
            )
            ours = measure(
                "ehrkg build, MIMIC-IV demo",
                [sys.executable, "-c", EHRKG, "build", str(MIMIC), "--out", str(scratch / "m4")],
                180,
            )
            print(f"{'the whole job against that part':<34} {ours / peer:7.1f} times")
        measure(
            "ehrkg demo",
            [sys.executable, "-c", EHRKG, "demo", "--out", str(scratch / "demo")],
            90,
        )


if __name__ == "__main__":
    main()
