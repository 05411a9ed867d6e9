"""What was cut can be cut again, put together, told apart and looked at."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from ehrkg.benchmark import ITEMS, Benchmark, Recipe
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.storage import write_parquet
from tests.benchmark.worlds import sound


class Graph:
    """Answers every query with the same table."""

    build = "default"

    def __init__(self, answer: pa.Table) -> None:
        self.answer = answer

    def query(self, cypher: str, /, **_parameters: Any) -> pa.Table:
        assert "RETURN" in cypher
        return self.answer


@pytest.fixture(scope="module")
def bench() -> Benchmark:
    return sound()


def templates_of(bench: Benchmark, n: int) -> pa.Table:
    return pa.table({"template_id": bench.templates()["id"].slice(0, n)})


def cuts(bench: Benchmark) -> dict[str, Benchmark]:
    graph = Graph(templates_of(bench, 60))
    facts = bench.templates().select(["id", "n_context"]).rename_columns(["template_id", "events"])
    return {
        "whole": bench,
        "filter": bench.filter(format="mcq", n_options=[4, 5], min_age=52, sex={"F"}),
        "missing": bench.filter(gap_days=None),
        "subset": bench.subset(bench.templates()["id"].to_pylist()[:9]),
        "query": bench.subset("MATCH (t:Template)\nRETURN t.id", store=graph),
        "sample": bench.filter(format="oeq").sample(20, by=["sex", "age_band"], seed=3),
        "train": bench.split("patient", seed=5).train,
        "test": bench.split("both", test=0.3, seed=5).test.sample(7),
        "join": bench.join(facts).filter(min_events=3).sample(10, by="events"),
        "concat": bench.filter(n_options=4).concat(bench.filter(format="oeq"), bench.sample(5)),
    }


CUTS = (
    "whole",
    "filter",
    "missing",
    "subset",
    "query",
    "sample",
    "train",
    "test",
    "join",
    "concat",
)


@pytest.mark.parametrize("name", CUTS)
def test_a_recipe_gives_the_same_questions_again(
    bench: Benchmark, name: str, tmp_path: Path
) -> None:
    part = cuts(bench)[name]
    assert len(part) > 0
    file = part.recipe.write(tmp_path / "recipe.json")
    again = Benchmark.from_recipe(file, bench, store=Graph(templates_of(bench, 60)))
    assert again.fingerprint == part.fingerprint
    assert again.recipe == part.recipe
    assert str(part.recipe).endswith(f"-> {len(part):,} items")


def test_a_recipe_of_another_benchmark_or_graph_is_refused(bench: Benchmark) -> None:
    graph = Graph(templates_of(bench, 60))
    recipe = bench.subset("MATCH (t) RETURN t.id", store=graph).recipe
    with pytest.raises(InputError, match="of another benchmark") as error:
        Benchmark.from_recipe(recipe, bench.sample(9))
    assert bench.fingerprint in str(error.value)
    with pytest.raises(InputError, match="something else in this graph"):
        Benchmark.from_recipe(recipe, bench, store=Graph(templates_of(bench, 59)))
    strangers = Graph(pa.table({"template_id": ["t-of-elsewhere"]}))
    with pytest.raises(InputError, match="the graph is another one"):
        Benchmark.from_recipe(recipe, bench, store=strangers)
    with pytest.raises(UsageError, match="needs a store"):
        Benchmark.from_recipe(recipe, bench)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "can't be read"),
        ("[]", "no recipe"),
        ('{"recipe": 1}', "no recipe"),
        ('{"recipe": 99, "source": "", "steps": [], "items": 0, "digest": ""}', "another version"),
    ],
)
def test_a_file_that_is_no_recipe_says_so(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "recipe.json"
    file.write_text(text)
    with pytest.raises(InputError, match=said) as error:
        Recipe.read(file)
    assert "recipe.json" in str(error.value)


def test_a_step_that_nobody_knows_is_refused(bench: Benchmark) -> None:
    recipe = Recipe(bench.fingerprint, ({"do": "shuffle"},), 1, "")
    with pytest.raises(InputError, match="can't do 'shuffle' again"):
        Benchmark.from_recipe(recipe, bench)


def test_joined_columns_are_filtered_by_and_carried(bench: Benchmark) -> None:
    relations = bench.beside("relations").select(["id", "tail"])
    answer = Graph(relations.rename_columns(["r.relation_id", "r.answer_is"]))
    more = bench.join("MATCH (r) RETURN r.relation_id, r.answer_is", store=answer)
    assert more.columns == [*ITEMS.names, "answer_is"]
    assert more.fingerprint == bench.fingerprint
    codes = set(more.column("answer_is").to_pylist())
    part = more.filter(answer_is=sorted(codes)[0])
    assert 0 < len(part) < len(bench)
    assert {row["answer_is"] for row in part} == {sorted(codes)[0]}
    assert part.to_arrow().column_names[-1] == "answer_is"
    assert more.count("answer_is")["items"].to_pylist() == [
        len(more.filter(answer_is=code)) for code in sorted(codes)
    ]


def test_rows_that_are_lacking_are_null(bench: Benchmark) -> None:
    one = pd.DataFrame({"template": [bench[0]["template_id"]], "seen": [True]})
    more = bench.join(one)
    assert len(more.filter(seen=True)) == len(bench.filter(template_id=bench[0]["template_id"]))
    assert len(more.filter(seen=None)) + len(more.filter(seen=True)) == len(bench)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"colour": "red"}], "nothing says to which items"),
        ([{"template_id": "t", "task": "x"}], "have a column 'task' already"),
        ([{"sex": "F", "kind": 1}, {"sex": "F", "kind": 2}], "stand in several rows"),
        ({"template_id"}, "is no table"),
    ],
)
def test_a_table_that_does_not_fit_is_not_joined(bench: Benchmark, rows: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        bench.join(rows)


def test_parts_put_together_are_the_whole(bench: Benchmark) -> None:
    train, test, _ = bench.split("patient")
    assert train.concat(test).fingerprint == bench.fingerprint
    assert train.concat(train, bench).fingerprint == bench.fingerprint
    elsewhere = Benchmark.from_tables(items=test.to_arrow(), templates=test.templates())
    assert train.concat(elsewhere).fingerprint == bench.fingerprint
    again = Benchmark.from_recipe(train.concat(elsewhere).recipe, bench, elsewhere)
    assert again.fingerprint == bench.fingerprint


def reworded(bench: Benchmark) -> Benchmark:
    """The same with another stem in the first item and another verdict of one relation."""
    rows = bench.to_arrow().to_pylist()
    rows[0]["stem"] = "Another stem."
    relations = bench.beside("relations").to_pylist()
    relations[0]["verdict"] = "contradicted"
    return Benchmark.from_tables(
        items=pa.Table.from_pylist(rows[:-1], ITEMS),
        templates=bench.templates(),
        relations=pa.Table.from_pylist(relations, bench.beside("relations").schema),
    )


def test_a_difference_names_what_changed(bench: Benchmark) -> None:
    found = bench.diff(reworded(bench))
    assert (len(found.added), len(found.removed), found.same) == (0, 1, len(bench) - 2)
    assert found.changed.to_pylist() == [{"item_id": bench[0]["item_id"], "columns": ["stem"]}]
    assert found.verdicts.num_rows == 1
    assert "1 removed, 1 changed" in str(found)
    assert "supported -> contradicted" in str(found)
    assert found
    assert not bench.diff(bench)


def test_different_questions_under_one_id_are_not_put_together(bench: Benchmark) -> None:
    with pytest.raises(UsageError, match="two different items have the id"):
        bench.concat(reworded(bench))


def test_it_is_carried_into_other_frames_and_processes(bench: Benchmark) -> None:
    part = bench.filter(format="mcq").sample(12)
    polars = part.to_polars()
    assert polars.height == len(part.to_pandas()) == len(list(part)) == 12
    assert polars["item_id"].to_list() == part.column("item_id").to_pylist()
    assert pickle.loads(pickle.dumps(part)).fingerprint == part.fingerprint
    assert part[-1] == list(part)[11]
    with pytest.raises(IndexError):
        part[12]


def test_an_unknown_column_is_refused_with_those_near_it(bench: Benchmark) -> None:
    with pytest.raises(UsageError, match="no such column: 'n_option'; near it: n_options"):
        bench.filter(n_option=4)
    with pytest.raises(UsageError, match="near it: age_band"):
        bench.sample(3, by="ageband")
    with pytest.raises(UsageError, match="no such column"):
        bench.count("colour")


def test_a_benchmark_has_a_version(bench: Benchmark) -> None:
    assert bench.version.endswith(bench.fingerprint[:8])
    assert bench.sample(4).version == bench.version
    assert bench.cluster_column in bench.columns


def test_an_empty_cut_is_a_benchmark_too(bench: Benchmark) -> None:
    none = bench.filter(task="surgery")
    assert (
        len(none) == len(list(none)) == none.to_arrow().num_rows == none.templates().num_rows == 0
    )
    assert none.to_arrow().schema.equals(ITEMS)
    assert "<table>" in none._repr_html_()
    assert len(none.sample(5, by="task")) == 0
    with pytest.raises(UsageError, match="leaves one part without items; there are 0 values"):
        none.split("patient")


def written(bench: Benchmark, folder: Path, form: str) -> Benchmark:
    """The benchmark in the folder of a build whose tables were read as some format."""
    folder.mkdir(parents=True)
    write_parquet(bench.to_arrow(), folder / "items.parquet")
    write_parquet(bench.templates(), folder / "templates.parquet")
    (folder / "manifest.json").write_text(json.dumps({"format": form}))
    return Benchmark.open(folder)


def test_the_same_admissions_under_other_ids_are_not_put_together(
    bench: Benchmark, tmp_path: Path
) -> None:
    train, test, _ = bench.split("patient")
    older = written(train, tmp_path / "older", "mimic3")
    newer = written(test, tmp_path / "newer", "mimic4")
    with pytest.raises(UsageError, match="hold the same admissions under other ids"):
        older.concat(newer)
    other = written(test, tmp_path / "other", "omop")
    assert older.concat(other).fingerprint == bench.fingerprint


def test_a_folder_may_be_called_anything(bench: Benchmark, tmp_path: Path) -> None:
    opened = written(bench, tmp_path / "it's [a] 100% *new?* folder, ünd", "omop")
    assert opened.describe() == bench.describe()
    assert opened.filter(sex="F").fingerprint == bench.filter(sex="F").fingerprint
