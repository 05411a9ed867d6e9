"""The same tables give the same hospital and the same counts, whatever engine they lie in."""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import ibis
import ibis.expr.types as ir
import postgres_server
import pyarrow as pa
import pytest
import sqlglot
from engines import SMALL, duckdb_tables, postgres_tables, spark_session, spark_tables

import ehrkg.ehr as ehr
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import content_hash
from ehrkg.propose.counting import count_pairs

TABLES = ("patients", "visits", "events", "codes", "visit_codes")
KINDS = {"head_kind": "drug", "tail_kind": "diagnosis"}


@pytest.fixture(scope="module")
def duckdb(mimic4_demo: Path) -> Iterator[Any]:
    con = duckdb_tables(mimic4_demo / "hosp")
    yield con
    con.disconnect()


@pytest.fixture(scope="module")
def in_duckdb(duckdb: Any) -> tuple[ehr.Hospital, Ledger]:
    ledger = Ledger()
    return ehr.read(duckdb, ledger=ledger), ledger


def same(one: ehr.Hospital, other: ehr.Hospital) -> None:
    """Row for row the same, in the same order, and so the same content hash."""
    for name in TABLES:
        assert getattr(one, name).equals(getattr(other, name)), name
        assert content_hash(getattr(one, name)) == content_hash(getattr(other, name))


def lines(ledger: Ledger) -> list[tuple[Any, ...]]:
    return [(e.unit, e.rows_in, e.rows_out, e.dropped) for e in ledger]


def test_a_database_gives_what_the_files_give(
    mimic4_demo: Path, in_duckdb: tuple[ehr.Hospital, Ledger]
) -> None:
    hospital, ledger = in_duckdb
    other = Ledger()
    files = ehr.read(mimic4_demo, ledger=other)
    assert lines(ledger) == lines(other)
    for name in ("patients", "visits", "codes"):
        assert getattr(hospital, name).equals(getattr(files, name)), name
    # all but where a row stands: a line of a file, or a place in a table
    keys = [name for name in ehr.EVENTS.names if name not in ("source", "row")]
    order = [(name, "ascending") for name in keys]
    mine, theirs = hospital.events.select(keys), files.events.select(keys)
    assert mine.sort_by(order).equals(theirs.sort_by(order))
    assert set(hospital.events["source"].to_pylist()) == {
        "diagnoses_icd", "procedures_icd", "prescriptions",
    }  # fmt: skip
    places = hospital.events.group_by(["source", "row"]).aggregate([])
    assert places.num_rows == hospital.events.num_rows


def test_the_order_of_rows_is_no_matter(
    duckdb: Any, in_duckdb: tuple[ehr.Hospital, Ledger]
) -> None:
    duckdb.raw_sql("CREATE SCHEMA shuffled")
    for (name,) in duckdb.raw_sql(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'"
    ).fetchall():
        duckdb.raw_sql(f"CREATE TABLE shuffled.{name} AS FROM main.{name} ORDER BY hash({name})")
    try:
        same(in_duckdb[0], ehr.read(duckdb, database="shuffled"))
    finally:
        duckdb.raw_sql("DROP SCHEMA shuffled CASCADE")


def test_nothing_is_left_in_the_engine(duckdb: Any) -> None:
    def there() -> set[str]:
        rows = duckdb.raw_sql("SELECT table_name FROM information_schema.tables").fetchall()
        return {name for (name,) in rows}

    before = there()
    ehr.read(duckdb)
    assert there() == before


@pytest.fixture(scope="module")
def postgres(duckdb: Any, not_here: Callable[[str], NoReturn]) -> Iterator[Any]:
    folder = postgres_server.programs()
    if folder is None:
        not_here("no Postgres: apt-get install postgresql")
    with postgres_server.serving(folder) as port:
        con = postgres_tables(duckdb, port, "mimiciv_hosp")
        yield con
        con.disconnect()


def test_postgres_gives_the_same_rows_and_counts(
    postgres: Any, in_duckdb: tuple[ehr.Hospital, Ledger]
) -> None:
    ledger = Ledger()
    hospital = ehr.read(postgres, database="mimiciv_hosp", ledger=ledger)
    assert lines(ledger) == lines(in_duckdb[1])
    same(in_duckdb[0], hospital)
    counted, expected = count_pairs(hospital, **KINDS, con=postgres), count_pairs(hospital, **KINDS)
    assert counted.pairs.equals(expected.pairs)


@pytest.fixture(scope="module")
def session(
    tmp_path_factory: pytest.TempPathFactory, not_here: Callable[[str], NoReturn]
) -> Iterator[Any]:
    if shutil.which("java") is None:
        not_here("no Java: apt-get install openjdk-17-jre-headless")
    with spark_session(tmp_path_factory.mktemp("spark"), **SMALL) as spark:
        yield spark


def test_spark_gives_the_same_rows_and_counts(
    session: Any, duckdb: Any, in_duckdb: tuple[ehr.Hospital, Ledger], tmp_path: Path
) -> None:
    spark = spark_tables(duckdb, session, tmp_path, "mimiciv_hosp")
    before = session.sql("SHOW TABLES").count()
    ledger, left = Ledger(), []
    with pytest.MonkeyPatch.context() as patch:
        to_pyarrow = type(spark).to_pyarrow

        def noted(*words: Any, **options: Any) -> Any:
            left.append(to_pyarrow(*words, **options))
            return left[-1]

        patch.setattr(type(spark), "to_pyarrow", noted)
        hospital = ehr.read(spark, database="mimiciv_hosp", ledger=ledger)
    assert lines(ledger) == lines(in_duckdb[1])
    same(in_duckdb[0], hospital)
    assert session.sql("SHOW TABLES").count() == before  # what it held is let go
    # the finished tables leave the engine, and counts: fewer rows than there are patients;
    # what each visit holds is made of the events as they come
    tables = [each for each in left if isinstance(each, pa.Table)]
    large = {tuple(each.column_names) for each in tables if len(each) > len(hospital.patients)}
    finished = (ehr.VISITS, ehr.EVENTS, ehr.CODES)
    assert large == {tuple(schema.names) for schema in finished}
    counted, expected = count_pairs(hospital, **KINDS, con=spark), count_pairs(hospital, **KINDS)
    assert counted.pairs.equals(expected.pairs)


def test_the_spark_example_shows_one_hash_for_both_engines(
    session: Any, root: Path, tmp_path: Path
) -> None:
    example = runpy.run_path(str(root / "examples" / "moving_to_spark.py"))
    hashes = example["both_engines"](tmp_path, patients=12, session=session)
    assert hashes["spark"] == hashes["duckdb"]
    assert set(hashes["spark"]) == {*TABLES, "pairs"}
    assert (tmp_path / "events.parquet").is_file()


@dataclass(frozen=True)
class Example:
    """What the BigQuery example does, over DuckDB.

    Attributes:
        asked: everything that reading, normalising and counting ask of an engine.
    """

    dataset: tuple[str, str]
    asked: list[ir.Table]
    hospital: ehr.Hospital
    pairs: pa.Table


@pytest.fixture(scope="module")
def bigquery(root: Path, mimic4_demo: Path) -> Example:
    """The example's own function, over a database whose schema has the data set's name."""
    example = runpy.run_path(str(root / "examples" / "mimic4_on_bigquery.py"))
    dataset = example["DATASET"]
    con = duckdb_tables(mimic4_demo / "hosp", schema=dataset[1])
    asked: list[ir.Table] = []
    with pytest.MonkeyPatch.context() as patch:

        def noted(work: Any) -> Any:
            def call(self: Any, expression: Any, *rest: Any, **options: Any) -> Any:
                asked.append(expression)
                return work(self, expression, *rest, **options)

            return call

        for name in ("compile", "to_pyarrow"):
            patch.setattr(type(con), name, noted(getattr(type(con), name)))
        hospital, pairs = example["read_and_count"](con, dataset[1])
        # the same counting, where the tables lie
        assert count_pairs(hospital, **KINDS, con=con).pairs.equals(pairs)
    return Example(dataset, asked, hospital, pairs)


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])
def test_all_of_it_compiles_for_a_warehouse(bigquery: Example, dialect: str) -> None:
    assert len(bigquery.asked) > 25
    texts = [str(ibis.to_sql(expression, dialect=dialect)) for expression in bigquery.asked]
    everything = "\n".join(texts).lower()
    assert all(text.lower().startswith(("select", "with")) for text in texts)
    assert all(sqlglot.parse(text, dialect=dialect) for text in texts)
    for part in (bigquery.dataset[1], "diagnoses_icd", "prescriptions", "row_number() over",
                 "icd10cm:", "n_across"):  # fmt: skip
        assert part in everything, part


def test_the_bigquery_example_reads_the_project_as_its_users_have_it(
    bigquery: Example, in_duckdb: tuple[ehr.Hospital, Ledger]
) -> None:
    assert bigquery.dataset == ("physionet-data", "mimiciv_3_1_hosp")
    same(in_duckdb[0], bigquery.hospital)
    assert bigquery.pairs.num_rows > 100


def test_wrong_connections(duckdb: Any) -> None:
    with pytest.raises(UsageError, match="sqlite"):
        ehr.read(ibis.sqlite.connect())
    with pytest.raises(InputError, match="missing table") as caught:
        ehr.read(duckdb, database="nowhere")
    assert "database=" in str(caught.value)
    empty = ibis.duckdb.connect()
    empty.raw_sql("CREATE TABLE patients (subject_id INTEGER)")
    with pytest.raises(InputError, match="admissions"):
        ehr.read(empty, format="mimic4")
