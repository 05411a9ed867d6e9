"""From DuckDB to Spark: the same code over the same tables, and the same result.

    pip install "ehrkg[spark]"       # and a Java, 17 or newer
    python examples/moving_to_spark.py

Tables that outgrow one machine lie in Spark already. Here small ones, made up for the purpose, are
put into both engines; what is read and counted has the same content hash in each. Only the counts
and the finished tables leave the engine.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

import ehrkg.ehr as ehr
from ehrkg.ehr import synth
from ehrkg.foundation.storage import content_hash, write_parquet
from ehrkg.propose.counting import count_pairs

FINISHED = ("patients", "visits", "events", "codes", "visit_codes")


def in_duckdb(tables: Path) -> Any:
    """DuckDB, with each file as a table of text."""
    import ibis

    con = ibis.duckdb.connect()
    for file in sorted(tables.glob("*.csv.gz")):
        name = file.name.removesuffix(".csv.gz")
        con.raw_sql(f"CREATE TABLE {name} AS FROM read_csv('{file}', all_varchar = true)")
    return con


def in_spark(tables: Path, session: Any) -> Any:
    """Spark, with the same. Tables of a lake or a catalogue need no more than the last line."""
    import ibis

    for file in sorted(tables.glob("*.csv.gz")):
        rows = session.read.csv(str(file), header=True, multiLine=True, escape='"')
        rows.createOrReplaceTempView(file.name.removesuffix(".csv.gz"))
    return ibis.pyspark.connect(session)


def read_and_count(con: Any) -> tuple[ehr.Hospital, pa.Table]:
    """The hospital, and how often each drug and each diagnosis stand in one visit."""
    hospital = ehr.read(con)
    counts = count_pairs(hospital, head_kind="drug", tail_kind="diagnosis", con=con)
    return hospital, counts.pairs


def both_engines(folder: Path, *, patients: int, session: Any) -> dict[str, dict[str, str]]:
    """The content hash of each finished table, by engine; Spark's tables are left in a folder."""
    synth.write(folder / "tables", patients=patients, shape="demo")
    hashes = {}
    for engine, con in (
        ("duckdb", in_duckdb(folder / "tables" / "hosp")),
        ("spark", in_spark(folder / "tables" / "hosp", session)),
    ):
        hospital, pairs = read_and_count(con)
        finished = {name: getattr(hospital, name) for name in FINISHED} | {"pairs": pairs}
        hashes[engine] = {name: content_hash(table) for name, table in finished.items()}
    for name, table in finished.items():
        write_parquet(table, folder / f"{name}.parquet")
    return hashes


def main() -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[*]").getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        hashes = both_engines(Path(folder), patients=100, session=session)
    for name, value in hashes["duckdb"].items():
        same = "the same" if hashes["spark"][name] == value else "ANOTHER"
        print(f"{name}: {value[:16]} in DuckDB, {same} in Spark")
    session.stop()


if __name__ == "__main__":
    main()
