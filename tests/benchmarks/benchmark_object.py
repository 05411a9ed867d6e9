"""How fast a benchmark opens, shows itself and is cut, at the size of the published EHRBench.

    python tests/benchmarks/benchmark_object.py BUILD [--items 960067] [--work FOLDER]

Takes the questions of a build and repeats them, with templates, patients and relations of other
names, until there are so many. Each step runs in a process of its own; seconds are from its start
to its end, imports included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS = 131_072
STEPS = {
    "open, count by task": "bench.count('task').to_pylist()",
    "open, first question": "bench[0]",
    "open, last question": "bench[-1]",
    "describe": "bench.describe().total",
    "filter by score and sex": "bench.filter(task='treatment', min_score=0.9, sex='F')",
    "filter by an option": "bench.filter(option_codes=bench[0]['option_codes'] or ['none'])",
    "stratified sample of 1,000": "bench.sample(1000, by=['task', 'n_options'])",
    "split by both": "bench.split('both')",
    "subset of a tenth of the templates": "bench.subset(bench._source.templates['id'][::10]"
    ".to_pylist())",
    "notebook view": "bench._repr_html_()",
}
LONG = {
    "fingerprint, worked out": "bench.fingerprint",
    "JSON Lines of all": "bench.export('jsonl', tempfile.mkdtemp())",
}
"""Steps of a minute or so, with --long."""


def renamed(column: pa.ChunkedArray, turn: int) -> pa.ChunkedArray:
    """Ids with the number of the turn before them, so that the rows stay sorted."""
    return pc.binary_join_element_wise(f"{turn:05d}", column, "-")


def grow(build: Path, out: Path, items: int) -> None:
    """Write items.parquet and templates.parquet with so many items."""
    for name, ids in (
        ("templates", ["id", "relation", "patient", "cluster"]),
        ("items", ["item_id", "template_id", "relation_id", "cluster"]),
    ):
        table = pq.read_table(build / f"{name}.parquet")
        total = items if name == "items" else sys.maxsize
        turns = -(-items // pq.read_metadata(build / "items.parquet").num_rows)
        with pq.ParquetWriter(out / f"{name}.parquet", table.schema, compression="zstd") as writer:
            for turn in range(turns):
                part = table.slice(0, min(table.num_rows, total))
                for column in ids:
                    at = part.column_names.index(column)
                    part = part.set_column(at, column, renamed(part[column], turn))
                writer.write_table(part, row_group_size=ROWS)
                total -= part.num_rows
        merged = pq.read_table(out / f"{name}.parquet")
        pq.write_table(merged, out / f"{name}.parquet", row_group_size=ROWS, compression="zstd")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--items", type=int, default=960_067)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--long", action="store_true")
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp())
    if not (work / "items.parquet").exists():
        work.mkdir(parents=True, exist_ok=True)
        maker = multiprocessing.get_context("spawn").Process(
            target=grow, args=(given.build, work, given.items)
        )
        maker.start()
        maker.join()
    print(f"{'':<40}{'wall s':>10}{'CPU s':>10}{'MB':>10}")
    for name, code in (STEPS | (LONG if given.long else {})).items():
        program = (
            "import resource, tempfile; from ehrkg.benchmark import Benchmark; "
            f"bench = Benchmark.open({str(work)!r}); {code}; "
            "used = resource.getrusage(resource.RUSAGE_SELF); "
            "print(used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)"
        )
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        seconds = time.perf_counter() - began
        busy, memory = done.stdout.split()[-2:]
        print(f"{name:<40}{seconds:>10.2f}{float(busy):>10.2f}{int(memory):>10,}", flush=True)


if __name__ == "__main__":
    main()
