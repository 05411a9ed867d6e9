"""A benchmark is cut, counted and carried without ever changing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ehrkg.benchmark import Benchmark
from ehrkg.benchmark.opened.describe import effective_size
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.storage import write_parquet
from tests.benchmark.worlds import sound


@pytest.fixture(scope="module")
def bench() -> Benchmark:
    return sound()


@pytest.fixture(scope="module")
def folder(bench: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    write_parquet(bench.to_arrow(), out / "items.parquet")
    write_parquet(bench.templates(), out / "templates.parquet")
    return out


def test_a_benchmark_opened_from_its_files_is_the_one_in_memory(
    bench: Benchmark, folder: Path
) -> None:
    opened = Benchmark.open(folder)
    assert len(opened) == len(bench)
    assert opened.fingerprint == bench.fingerprint
    assert opened.to_arrow().equals(bench.to_arrow())
    assert opened.filter(format="oeq").column("item_id").to_pylist()[0].endswith(".s7")


def test_a_folder_without_a_benchmark_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished benchmark"):
        Benchmark.open(tmp_path)


def test_a_broken_file_and_a_missing_column_say_so(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "items.parquet").write_bytes(b"PAR1 no parquet")
    (tmp_path / "templates.parquet").write_bytes((folder / "templates.parquet").read_bytes())
    with pytest.raises(InputError, match="no readable Parquet file"):
        Benchmark.open(tmp_path)
    with pytest.raises(InputError, match="a column is missing: item_id"):
        Benchmark(pa.table({"x": [1]}), folder / "templates.parquet")


def test_filter_takes_columns_of_items_and_templates(bench: Benchmark) -> None:
    part = bench.filter(format="mcq", n_options=[4, 5], sex="F", min_age=55)
    rows = list(part)
    assert rows
    assert {row["n_options"] for row in rows} == {4, 5}
    assert set(part.column("sex").to_pylist()) == {"F"}
    assert min(part.column("age").to_pylist()) >= 55
    assert len(bench.filter(min_score=0.95)) == 0
    assert len(bench.filter(min_score=0.9)) == len(bench)
    assert len(bench) > len(part)


def test_a_column_of_lists_is_filtered_by_its_members(bench: Benchmark) -> None:
    code = next(iter(bench.filter(format="mcq")))["option_codes"][0]
    assert all(code in row["option_codes"] for row in bench.filter(option_codes=code))


def test_an_unknown_column_is_refused_with_the_known_ones(bench: Benchmark) -> None:
    with pytest.raises(UsageError, match="no such column: 'colour'") as error:
        bench.filter(colour="red")
    assert "answer_index" in str(error.value)


def test_a_subset_by_ids_or_by_query(bench: Benchmark) -> None:
    item = next(iter(bench))
    assert len(bench.subset([item["item_id"]])) == 1
    by_template = bench.subset([item["template_id"]])
    assert {row["template_id"] for row in by_template} == {item["template_id"]}

    class Store:
        def query(self, cypher: str, **params: Any) -> pa.Table:
            assert "RETURN t.id" in cypher
            return pa.table({"t.id": [params["id"]]})

    asked = bench.subset("MATCH (t) RETURN t.id", store=Store(), id=item["template_id"])
    assert asked.fingerprint == by_template.fingerprint
    assert asked.recipe.steps[-1]["query"] == "MATCH (t) RETURN t.id"
    assert asked.recipe.steps[-1]["parameters"] == {"id": item["template_id"]}


def test_a_subset_refuses_strangers_and_queries_without_a_store(bench: Benchmark) -> None:
    with pytest.raises(UsageError, match="1 ids are of no template"):
        bench.subset(["t0000"])
    with pytest.raises(UsageError, match="needs a store"):
        bench.subset("MATCH (t:Template) RETURN t.id")


def test_a_sample_is_stratified_and_the_same_again(bench: Benchmark) -> None:
    part = bench.sample(40, by=["format", "n_options"], seed=3)
    assert len(part) == 40
    kinds = [(row["format"], row["n_options"]) for row in part]
    assert all(8 <= kinds.count(kind) <= 12 for kind in set(kinds))
    assert part.fingerprint == bench.sample(40, by=["format", "n_options"], seed=3).fingerprint
    assert part.fingerprint != bench.sample(40, by=["format", "n_options"], seed=4).fingerprint
    assert len(bench.sample(10**6)) == len(bench)
    with pytest.raises(UsageError, match="a sample of -1"):
        bench.sample(-1)


@pytest.mark.parametrize(
    ("by", "columns"),
    [("patient", ["cluster"]), ("relation", ["relation_id"]), ("both", ["cluster", "relation_id"])],
)
def test_the_parts_of_a_split_share_nothing(bench: Benchmark, by: str, columns: list[str]) -> None:
    parts = bench.split(by=by, seed=5)
    for column in columns:
        train, test = (set(part.column(column).to_pylist()) for part in parts[:2])
        assert train
        assert test
        assert not train & test
    assert len(parts.train) + len(parts.test) + parts.set_aside == len(bench)
    assert (parts.set_aside > 0) == (by == "both")


def test_an_impossible_split_is_refused(bench: Benchmark) -> None:
    one = bench.subset([next(iter(bench))["item_id"]])
    with pytest.raises(UsageError, match="leaves one part without items"):
        one.split(by="patient")
    with pytest.raises(UsageError, match="no such split"):
        bench.split(by="visit")
    with pytest.raises(UsageError, match="a test share"):
        bench.split(by="patient", test=1.5)


def test_describe_counts_templates_first_and_items_last(bench: Benchmark) -> None:
    described = bench.describe()
    total = described.total
    assert total.templates < total.items == len(bench)
    assert total.patients == len(set(bench.column("cluster").to_pylist()))
    head = described.as_text().splitlines()[0].split()
    assert head == ["templates", "relations", "patients", "effective", "items"]
    assert str(total.patients) in repr(bench)
    assert "<table>" in bench._repr_html_()


def test_the_effective_size_of_clustered_templates_is_smaller() -> None:
    assert effective_size(["a", "b", "c"]) == 3
    assert effective_size(["a", "a", "a", "b"]) == 1.6
    assert effective_size([]) == 0


def test_cutting_leaves_the_whole_as_it_was(bench: Benchmark) -> None:
    before = bench.fingerprint
    part = bench.filter(format="mcq").sample(5)
    assert part.recipe.steps == (
        {"do": "filter", "format": "mcq"},
        {"do": "sample", "n": 5, "by": [], "seed": 7},
    )
    assert part.recipe.source == bench.fingerprint == before
    assert bench.recipe.steps == ()
    with pytest.raises(AttributeError, match="can't be changed"):
        bench.store = None  # type: ignore[misc]
    assert len(part.to_pandas()) == 5


def test_a_benchmark_finds_what_evaluates_whatever_was_imported(folder: Path) -> None:
    """In a process of its own, where nothing else was imported before."""
    code = (
        "import sys; from ehrkg.benchmark import Benchmark; bench = Benchmark.open(sys.argv[1]);"
        "from ehrkg.evaluation import Chance; print(len(bench.evaluate(Chance()).scores))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, folder], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 0


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ({"min_score": "high"}, "min_score='high' is no number"),
        ({"min_score": True}, "is no number"),
        ({"max_task": 3}, "holds no numbers"),
        ({"n_options": "four"}, "does not fit a column of the type int32"),
        ({"n_options": [4, None, "x"]}, "does not fit"),
    ],
)
def test_a_condition_that_does_not_fit_is_refused(
    bench: Benchmark, condition: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        bench.filter(**condition)


def test_numbers_of_numpy_and_arrow_are_numbers(bench: Benchmark) -> None:
    known = bench.filter(min_score=0.5).fingerprint
    assert bench.filter(min_score=np.float32(0.5)).fingerprint == known
    assert bench.filter(min_score=pa.scalar(0.5)).fingerprint == known
    assert len(bench.filter(n_options=np.int64(4))) == len(bench.filter(n_options=4)) > 0


def test_a_subset_goes_by_the_name_of_a_query(bench: Benchmark) -> None:
    """The store sees the query's text and the values of all its parameters."""

    class Store:
        build = "default"

        def query(self, cypher: str, /, **parameters: Any) -> pa.Table:
            assert "MATCH" in cypher
            assert parameters["least"] == 2
            return pa.table({"id": bench.column("template_id").slice(0, 1)})

    part = bench.subset("by_age", store=Store(), least=2)
    assert set(part.column("template_id").to_pylist()) == {bench.column("template_id")[0].as_py()}
    with pytest.raises(UsageError, match="no query and no file"):
        bench.subset("no_such_query", store=Store())


def with_duckdb(table: pa.Table, file: Path) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute(f"COPY given TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")


def with_polars(table: pa.Table, file: Path) -> None:
    import polars

    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    frame.write_parquet(file, compression="lz4")


def as_long_ago(table: pa.Table, file: Path) -> None:
    pq.write_table(table, file, version="1.0", use_dictionary=False, compression="snappy")


def as_one_day(table: pa.Table, file: Path) -> None:
    pq.write_table(table, file, data_page_version="2.0", row_group_size=50, compression="none")


@pytest.mark.parametrize("write", [with_duckdb, with_polars, as_long_ago, as_one_day])
def test_the_same_questions_written_otherwise_are_the_same(
    bench: Benchmark, write: Callable[[pa.Table, Path], None], tmp_path: Path
) -> None:
    """The writers of three programs, and settings that older and newer ones have by default."""
    write(bench.to_arrow(), tmp_path / "items.parquet")
    write(bench.templates(), tmp_path / "templates.parquet")
    opened = Benchmark.open(tmp_path)
    assert opened.fingerprint == bench.fingerprint
    mine, theirs = (
        one.filter(format="mcq", sex="F", option_codes=bench[1]["option_codes"][0]).sample(9)
        for one in (bench, opened)
    )
    assert mine.fingerprint == theirs.fingerprint
    assert mine.to_arrow().equals(theirs.to_arrow())
    assert opened[300] == bench[300]
