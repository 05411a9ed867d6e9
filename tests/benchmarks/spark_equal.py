"""The same reading and counting in DuckDB and in Spark: the hashes of both, and their times.

    python tests/benchmarks/spark_equal.py [--patients 20000] [--memory 4g]

Spark runs in its local mode with all cores. Its time shows what it costs where DuckDB would do;
what matters is that both give the same.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ehr")]

from engines import duckdb_tables, spark_session, spark_tables  # noqa: E402

import ehrkg.ehr as ehr  # noqa: E402
from ehrkg.ehr import synth  # noqa: E402
from ehrkg.foundation.storage import content_hash  # noqa: E402
from ehrkg.propose.counting import count_pairs  # noqa: E402

TABLES = ("patients", "visits", "events", "codes", "visit_codes")


def run(name: str, con: Any, database: str | None) -> str:
    """One hash of all that was read and counted; the times are printed."""
    began = time.monotonic()
    hospital = ehr.read(con, database=database)
    read = time.monotonic()
    pairs = count_pairs(hospital, head_kind="drug", tail_kind="diagnosis", con=con).pairs
    counted = time.monotonic()
    tables = [getattr(hospital, table) for table in TABLES] + [pairs]
    digest = hashlib.sha256("".join(map(content_hash, tables)).encode()).hexdigest()
    print(
        f"{name}: read {hospital.events.num_rows:,} events of {hospital.visits.num_rows:,} visits "
        f"in {read - began:.0f} s, counted {pairs.num_rows:,} pairs in {counted - read:.0f} s; "
        f"content {digest[:32]}",
        flush=True,
    )
    return digest


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--patients", type=int, default=20_000)
    words.add_argument("--memory", default="4g", help="of Spark's driver")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        synth.write(folder / "tables", patients=given.patients)
        duckdb = duckdb_tables(folder / "tables" / "hosp")
        cores = os.cpu_count() or 1
        first = run("DuckDB", duckdb, None)
        settings = {
            "spark.driver.memory": given.memory,
            "spark.sql.shuffle.partitions": str(cores),
            "spark.sql.execution.arrow.pyspark.enabled": "true",
        }
        with spark_session(folder, cores, **settings) as session:
            spark = spark_tables(duckdb, session, folder, "mimiciv_hosp")
            second = run("Spark", spark, "mimiciv_hosp")
    sys.exit(0 if first == second else "they differ")


if __name__ == "__main__":
    main()
