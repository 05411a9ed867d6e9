"""The same typed tables in every engine that the tests run."""

from __future__ import annotations

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
