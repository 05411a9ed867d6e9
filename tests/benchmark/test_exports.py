"""Every export is opened and run by the library it is for, offline."""

from __future__ import annotations

import csv
import json
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from ehrkg.benchmark import ITEMS, Benchmark, Recipe
from ehrkg.benchmark.exports import EXPORTS
from ehrkg.benchmark.exports.formats.hugging_face import size_category
from ehrkg.benchmark.exports.formats.lm_evaluation_harness import TASKS
from ehrkg.benchmark.exports.rows import LETTERS, OF_TEMPLATE, right_letters
from ehrkg.foundation.errors import InputError, UsageError
from tests.benchmark.small_model import write_small_model
from tests.benchmark.worlds import sound

FEW = 12
"""Questions that models are asked."""


@pytest.fixture(scope="module")
def bench(built_demo: Path) -> Benchmark:
    return Benchmark.open(built_demo / "benchmark")


@pytest.fixture(scope="module")
def few(bench: Benchmark) -> Benchmark:
    return bench.sample(FEW, by=["format"], seed=3)


@pytest.fixture(scope="module")
def every_kind(few: Benchmark) -> Benchmark:
    """With yes/no questions, and such of which two options are right."""
    rows = few.to_arrow().to_pylist()
    chosen = [row for row in rows if row["format"] == "mcq"]
    for at, row in enumerate(chosen[:2]):
        yesno = {"format": "yesno", "n_options": 2, "options": ["yes", "no"], "answer_index": at}
        told = ["answer", "contradicted"] if at == 0 else ["contradicted", "answer"]
        reasons = {"answer": [["yes", "no"][at]], "distractor_reasons": told}
        stem = {"stem": f"{row['stem']} Or not?", "item_id": f"{row['template_id']}.yesno.{at}"}
        rows.append({**row, **yesno, **reasons, **stem})
        right = [*row["options"][:1], *row["options"][2:3]]
        several = {"format": "multi", "answer": right, "answer_index": -1}
        told = ["answer" if one in right else "frequency" for one in row["options"]]
        stem = {"stem": f"{row['stem']} Which?", "item_id": f"{row['template_id']}.multi.{at}"}
        rows.append({**row, **several, "distractor_reasons": told, **stem})
    return Benchmark.from_tables(items=pa.Table.from_pylist(rows, ITEMS), templates=few.templates())


@pytest.fixture(scope="module")
def small_model(bench: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    stems = bench.sample(200).column("stem").to_pylist()
    return write_small_model(stems, tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data-home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-home"))


def same(read: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether what was read back says what the benchmark does, in the item's own columns."""
    return all(read[name] == row[name] for name in ITEMS.names)


def test_hugging_face_opens_it_with_splits_and_features(bench: Benchmark, tmp_path: Path) -> None:
    import datasets
    from huggingface_hub import DatasetCard

    folder = bench.export("hf", tmp_path / "hf", licence="other", name="demo")
    found = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    counts = {row["split"]: row["items"] for row in bench.count("split").to_pylist()}
    assert {name: len(part) for name, part in found.items()} == {
        "train": counts["train"],
        "validation": counts["dev"],
        "test": counts["test"],
    }
    assert same(found["test"][5], bench.filter(split="test")[5])
    features = found["test"].features
    assert features["options"].feature.dtype == features["stem"].dtype == "string"
    assert features["answer_index"].dtype == "int32"
    assert set(features) == {*ITEMS.names, *OF_TEMPLATE}
    assert "patient" not in features
    card = DatasetCard.load(folder / "README.md")
    assert card.data.license == "other"
    assert card.data.size_categories == [size_category(len(bench))]
    assert "What it can't be used to claim" in card.text


def test_croissant_metadata_is_valid_and_reads_the_rows(bench: Benchmark, tmp_path: Path) -> None:
    import mlcroissant

    folder = bench.sample(60, by="split").export("hf", tmp_path / "hf")
    described = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not described.metadata.ctx.issues.errors
    rows = list(described.records("test"))
    held = pq.read_table(folder / "data" / "test.parquet").to_pylist()
    assert len(rows) == len(held) > 0
    assert rows[0]["test/item_id"] in (held[0]["item_id"], held[0]["item_id"].encode())


def test_the_harness_scores_a_model_by_likelihood_and_by_what_it_writes(
    every_kind: Benchmark, small_model: Path, tmp_path: Path
) -> None:
    import lm_eval
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    folder = every_kind.export("lm-eval", tmp_path / "lm")
    tasks = sorted(path.stem for path in folder.glob("*.yaml"))
    assert tasks == sorted(TASKS)
    found = lm_eval.simple_evaluate(
        model=HFLM(pretrained=str(small_model), device="cpu", max_length=384),
        tasks=tasks,
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        bootstrap_iters=0,
        log_samples=True,
    )
    assert found is not None
    results = found["results"]
    assert 0 <= results["ehrkg_mcq_likelihood"]["acc_norm,none"] <= 1
    assert 0 <= results["ehrkg_mcq_generate"]["exact_match,none"] <= 1
    assert 0 <= results["ehrkg_open_generate"]["named,none"] <= 1
    asked = {sample["doc"]["id"] for one in found["samples"].values() for sample in one}
    assert asked == set(every_kind.column("item_id").to_pylist())
    for sample in found["samples"]["ehrkg_mcq_likelihood"]:
        assert sample["doc"]["options"][int(sample["target"])] == sample["doc"]["answer"][0]
        assert sample["arguments"][0][0].endswith("Answer:")


def test_answers_are_judged_by_what_they_name(few: Benchmark, tmp_path: Path) -> None:
    code = few.export("lm-eval", tmp_path / "lm") / "ehrkg_questions.py"
    judges = runpy.run_path(str(code))
    named, letters = judges["named"], judges["lettered"]
    doc = {"answer": ["heparin, subcutaneous"]}
    assert named(doc, ["It was Heparin subcutaneous."]) == {"named": 1.0}
    assert named(doc, ["heparin"]) == named(doc, ["subcutaneously heparin"]) == {"named": 0.0}
    assert letters({"letters": "B"}, ["B, since A is out"]) == {"exact_match": 1.0}
    assert letters({"letters": "A C"}, ["C and A."]) == {"exact_match": 1.0}
    assert letters({"letters": "A C"}, ["A"]) == letters({"letters": "B"}, [""])


@pytest.fixture
def inspect_folder(every_kind: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Inspect takes tasks by a path from where one stands."""
    folder = every_kind.export("inspect", tmp_path / "inspect")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(("right", "accuracy"), [(True, 1.0), (False, 0.0)])
def test_inspect_scores_its_mock_model(
    every_kind: Benchmark, inspect_folder: Path, right: bool, accuracy: float
) -> None:
    """The mock answers by the key, or always with what is not the key."""
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    items = {row["stem"]: row for row in every_kind}

    def answer(messages: list[Any], *_rest: Any) -> ModelOutput:
        item = items[max((stem for stem in items if stem in messages[-1].text), key=len)]
        key = set(right_letters(item))
        said = sorted(key if right else set(LETTERS[: len(item["options"])]) - key)
        text = f"ANSWER: {','.join(said)}" if said else item["answer"][0] * right
        output = ModelOutput.from_content("mock", text or "I do not know")
        output.usage = ModelUsage()  # else it counts tokens with a table from the net
        return output

    logs = inspect_ai.eval(
        "ehrkg_tasks.py",
        model=get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(inspect_folder / "logs"),
        display="none",
    )
    assert {log.eval.task: log.status for log in logs} == {
        "ehrkg_mcq": "success",
        "ehrkg_multi": "success",
        "ehrkg_open": "success",
        "ehrkg_yesno": "success",
    }
    for log in logs:
        assert log.results is not None
        metrics = log.results.scores[0].metrics
        assert metrics["accuracy"].value == accuracy
        assert metrics["stderr"].params == {"cluster": "cluster"}


def test_inspect_scores_a_local_model(
    every_kind: Benchmark, inspect_folder: Path, small_model: Path
) -> None:
    import inspect_ai

    logs = inspect_ai.eval(
        "ehrkg_tasks.py",
        model="hf/small",
        model_args={
            "model_path": str(small_model),
            "tokenizer_path": str(small_model),
            "device": "cpu",
        },
        max_tokens=4,
        log_dir=str(inspect_folder / "logs"),
        display="none",
    )
    assert {log.status for log in logs} == {"success"}, [log.error for log in logs]
    assert sum(log.results.completed_samples for log in logs if log.results) == len(every_kind)


def test_meds_takes_the_labels(bench: Benchmark, built_demo: Path, tmp_path: Path) -> None:
    import meds

    folder = bench.export("meds", tmp_path / "meds")
    templates = bench.templates().to_pylist()
    for task in {row["task"] for row in templates}:
        labels = pq.read_table(folder / task / "labels.parquet")
        meds.LabelSchema.validate(labels)
        mine = [row for row in templates if row["task"] == task]
        assert labels.num_rows == sum(len(row["answer"]) for row in mine)
        said = {(str(row["subject_id"]), row["categorical_value"]) for row in labels.to_pylist()}
        assert said == {(row["patient"], code) for row in mine for code in row["answer"]}
    visits = pd.read_csv(built_demo / "tables" / "hosp" / "admissions.csv.gz")
    ends = set(pd.to_datetime(visits["dischtime"]))
    assert set(pd.to_datetime(labels["prediction_time"].to_pandas())) <= ends


def read_json_lines(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "questions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def read_csv(folder: Path) -> list[dict[str, Any]]:
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as handle:
        rows: list[dict[str, Any]] = list(csv.DictReader(handle))
    for row in rows:
        for field in ITEMS:
            if pa.types.is_list(field.type):
                row[field.name] = json.loads(row[field.name])
            elif pa.types.is_integer(field.type):
                row[field.name] = int(row[field.name])
    return rows


@pytest.mark.parametrize(("to", "read"), [("jsonl", read_json_lines), ("csv", read_csv)])
def test_plain_files_hold_every_question(to: str, read: Any, tmp_path: Path) -> None:
    bench = sound()
    hard = bench.to_arrow().to_pylist()
    hard[0]["stem"] = 'Markup <b>"&amp;"</b>, a\nline break; ünïcode'
    bench = Benchmark.from_tables(
        items=pa.Table.from_pylist(hard, ITEMS), templates=bench.templates()
    )
    rows = read(bench.export(to, tmp_path / "out"))
    assert len(rows) == len(bench)
    assert all(same(read, row) for read, row in zip(rows, bench, strict=True))
    assert set(rows[0]) == {*ITEMS.names, *OF_TEMPLATE}


def test_what_was_joined_is_carried(tmp_path: Path) -> None:
    bench = sound()
    more = bench.join([{"sex": "F", "word": "woman"}, {"sex": "M", "word": "man"}])
    rows = read_json_lines(more.sample(9).export("jsonl", tmp_path / "out"))
    assert {row["word"] for row in rows} == {"woman", "man"}


def test_every_format_carries_the_cluster_and_no_patient(few: Benchmark, tmp_path: Path) -> None:
    patients = set(few.templates()["patient"].to_pylist())
    visits = set(few.templates()["visit"].to_pylist())
    for name in sorted(set(EXPORTS) - {"meds", "rehydrate"}):
        few.export(name, tmp_path / name)
        text = b"".join(
            path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.suffix != ".parquet"
            if path.is_file()
        ).decode()
        assert "cluster" in text
        assert not any(one in text for one in patients | visits), name


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inside in value.items():
            yield from (str(name), *strings(inside))
    elif isinstance(value, list):
        for inside in value:
            yield from strings(inside)
    else:
        yield str(value)


def test_what_is_passed_on_names_nobody(bench: Benchmark, tmp_path: Path) -> None:
    cut = bench.filter(task="treatment", min_score=0.6).sample(300, by="split")
    folder = cut.export("rehydrate", tmp_path / "out")
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "build.json",
        "recipe.json",
        "verdicts.parquet",
    ]
    verdicts = pq.read_table(folder / "verdicts.parquet")
    seen = bench.beside("relations")
    assert seen is not None
    patients = dict(zip(seen["id"].to_pylist(), seen["n_patients"].to_pylist(), strict=True))
    assert verdicts.num_rows > 0
    assert min(patients[one] for one in verdicts["id"].to_pylist()) >= 11
    assert not any(name.startswith("n_") for name in verdicts.column_names)
    said = {
        text for file in folder.glob("*.json") for text in strings(json.loads(file.read_text()))
    }
    said |= {text for row in verdicts.to_pylist() for text in strings(row)}
    for name in ("item_id", "template_id", "cluster", "stem", "patient", "visit"):
        assert not said & set(bench.column(name).to_pylist()), name
    again = Benchmark.from_recipe(Recipe.read(folder / "recipe.json"), bench)
    assert again.fingerprint == cut.fingerprint


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        (lambda bench: bench.sample(3), "fewer than 11 patients"),
        (lambda bench: bench.filter(patient=bench.templates()["patient"].to_pylist()), "patient"),
        (lambda bench: bench.subset(bench.templates()["id"].to_pylist()), "ids"),
        (lambda bench: bench.join([{"sex": "F", "word": "x"}]), "rows"),
    ],
)
def test_what_would_name_somebody_is_not_passed_on(
    bench: Benchmark, cut: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        cut(bench).export("rehydrate", tmp_path / "out")


def test_the_datasheet_counts_funnels_and_names_every_licence(
    bench: Benchmark, few: Benchmark, tmp_path: Path
) -> None:
    text = (few.export("jsonl", tmp_path / "out") / "DATASHEET.md").read_text()
    total = few.describe().total
    assert f"{total.templates:,} templates, {total.relations:,} relations" in text
    assert f"; {FEW} questions." in text
    assert "- sample n=12 by=['format'] seed=3" in text
    assert "| instantiate | template:treatment |" in text
    assert "not_supported" in text
    evidence = bench.beside("evidence")
    assert evidence is not None
    assert "CC0-1.0" in text or "CC-BY" in text
    assert "PhysioNet" in text
    assert "Not reviewed by clinicians." in text
    assert "of the format mimic4" in text


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something already"):
        sound().export("jsonl", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_what_can_not_be_exported_says_why(tmp_path: Path) -> None:
    bench = sound()
    with pytest.raises(UsageError, match="no such format: 'json'; near it: jsonl"):
        bench.export("json", tmp_path / "out")
    with pytest.raises(UsageError, match="no question to write"):
        bench.filter(task="surgery").export("jsonl", tmp_path / "out")
    with pytest.raises(UsageError, match="has no option 'colour'"):
        bench.export("jsonl", tmp_path / "out", colour="red")
    with pytest.raises(UsageError, match="no graph says when"):
        bench.export("meds", tmp_path / "meds")
    with pytest.raises(UsageError, match="only the benchmark of a build"):
        bench.export("rehydrate", tmp_path / "rehydrate")


def test_a_notebook_shows_a_question_and_its_evidence(bench: Benchmark) -> None:
    shown = bench.filter(task="treatment")._repr_html_()
    assert shown.index("templates") < shown.index("Answer: ") < shown.index("<iframe")
    assert "No graph lies beside" in sound()._repr_html_()


def test_a_query_is_asked_of_the_graph_beside_the_questions(bench: Benchmark) -> None:
    women = bench.subset(
        "MATCH (p:Patient)-[:HAS_VISIT]->(:Visit)<-[:AT]-(t:Template) "
        "WHERE p.sex = $sex AND t.build = $build RETURN t.id AS template_id",
        sex="F",
    )
    assert women.fingerprint == bench.filter(sex="F").fingerprint
    named = bench.subset("by_age", least=65)
    for part in (women.sample(40), named):
        assert Benchmark.from_recipe(part.recipe, bench).fingerprint == part.fingerprint
    kinds = bench.join(
        "MATCH (t:Template)-[:ANSWER]->(c:Code) WHERE t.build = $build "
        "RETURN t.id AS template_id, min(c.kind) AS answer_kind"
    )
    assert len(kinds.filter(answer_kind="drug")) == len(bench.filter(task="treatment"))


def test_a_damaged_file_is_not_taken_for_what_the_manifest_says(
    bench: Benchmark, built_demo: Path, tmp_path: Path
) -> None:
    for name in ("items.parquet", "templates.parquet", "manifest.json"):
        shutil.copy(built_demo / "benchmark" / name, tmp_path / name)
    assert Benchmark.open(tmp_path).fingerprint == bench.fingerprint
    pq.write_table(bench.to_arrow(), tmp_path / "items.parquet")
    assert Benchmark.open(tmp_path).fingerprint == bench.fingerprint
    pq.write_table(bench.to_arrow().slice(1), tmp_path / "items.parquet")
    assert Benchmark.open(tmp_path).fingerprint != bench.fingerprint


def test_the_card_is_yaml_whatever_the_name(tmp_path: Path) -> None:
    folder = sound().export("hf", tmp_path / "hf", name="a: b #1")
    front = (folder / "README.md").read_text().split("---\n")[1]
    assert yaml.safe_load(front)["pretty_name"] == "a: b #1"
