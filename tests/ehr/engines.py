"""The same typed tables in every engine that the tests run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TYPES = {"BIGINT": "bigint", "DOUBLE": "double precision", "DATE": "date"}
"""What Postgres calls DuckDB's types; the others have one name in both."""


def duckdb_tables(folder: Path, schema: str = "main") -> Any:
    """An Ibis connection to a DuckDB that holds a folder's tables with types, as a database has."""
    import ibis

    con = ibis.duckdb.connect()
    con.raw_sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    for file in sorted(folder.glob("*.csv.gz")):
        name = file.name.split(".")[0]
        codes = ", types={'icd_code': 'VARCHAR'}" if "icd" in name else ""
        con.raw_sql(f"CREATE TABLE {schema}.{name} AS FROM read_csv('{file}'{codes})")
    return con


def postgres_tables(duckdb: Any, port: int, schema: str) -> Any:
    """An Ibis connection to a Postgres that holds DuckDB's tables in a schema of their own."""
    import ibis
    import psycopg

    with (
        psycopg.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres") as own,
        own.cursor() as cursor,
    ):
        cursor.execute(f"CREATE SCHEMA {schema}")
        for (name,) in duckdb.raw_sql("SELECT table_name FROM duckdb_tables()").fetchall():
            table = duckdb.raw_sql(f"FROM {name}")
            columns = ", ".join(
                f'"{column}" {TYPES.get(str(kind), str(kind))}'
                for column, kind, *_ in table.description
            )
            cursor.execute(f"CREATE TABLE {schema}.{name} ({columns})")
            with cursor.copy(f"COPY {schema}.{name} FROM STDIN") as copy:
                for row in table.fetchall():
                    copy.write_row(row)
    return ibis.postgres.connect(host="127.0.0.1", port=port, user="postgres", database="postgres")


SMALL = {
    # so few rows are done before the code that would work on them faster is compiled
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""What makes Spark quick where there is little to do."""


@contextmanager
def spark_session(folder: Path, cores: int = 2, **settings: str) -> Iterator[Any]:
    """A Spark in this process's own Java, with what it writes in a folder."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        **settings,
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(folder / "local", ignore_errors=True)


def spark_tables(duckdb: Any, session: Any, folder: Path, database: str) -> Any:
    """An Ibis connection to a Spark that holds DuckDB's tables, as Parquet, in a database."""
    import ibis

    from ehrkg.ehr.formats import format_named

    session.sql(f"CREATE DATABASE {database}")
    wanted = format_named("mimic4").read
    for (name,) in duckdb.raw_sql("SELECT table_name FROM duckdb_tables()").fetchall():
        if name in wanted:
            file = folder / f"{name}.parquet"
            duckdb.raw_sql(f"COPY {name} TO '{file}' (FORMAT parquet)")
            session.sql(f"CREATE TABLE {database}.{name} USING parquet LOCATION '{file}'")
    return ibis.pyspark.connect(session)
