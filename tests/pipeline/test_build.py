"""The whole job, as its user sees it: files left behind, balanced books, the same bytes again."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ehrkg
from ehrkg.benchmark.distractors.pools import POOL
from ehrkg.benchmark.schema import ITEMS, TEMPLATES
from ehrkg.ehr.schema import EVENTS
from ehrkg.evaluation.schema import SCORES
from ehrkg.verify.schema import EVIDENCE, RELATIONS

SCHEMAS = {
    "events": EVENTS,
    "relations": RELATIONS,
    "evidence": EVIDENCE,
    "templates": TEMPLATES,
    "items": ITEMS,
    "pool": POOL,
    "scores": SCORES,
}


def outputs(out: Path) -> dict[str, str]:
    manifest = json.loads((out / "manifest.json").read_text())
    return {name: facts["sha256"] for name, facts in manifest["outputs"].items()}


def graph_hash(out: Path) -> str:
    return json.loads((out / "manifest.json").read_text())["graph"]["content"]


def test_a_build_leaves_the_files_of_the_design(built_demo):
    out = built_demo / "benchmark"
    for name, schema in SCHEMAS.items():
        assert pq.read_schema(out / f"{name}.parquet").names == schema.names
        assert pq.read_metadata(out / f"{name}.parquet").num_rows > 0
    for name in ("graph.lbug", "ledger.json", "manifest.json", "report.html", "quarantine"):
        assert (out / name).exists(), name
    visible = {path.name for path in out.iterdir() if not path.name.startswith(".")}
    assert visible == {f"{name}.parquet" for name in SCHEMAS} | {
        "graph.lbug",
        "ledger.json",
        "manifest.json",
        "report.html",
        "quarantine",
    }


def test_every_stage_balances_its_ledger_and_keeps_what_it_dropped(built_demo):
    ledger = json.loads((built_demo / "benchmark" / "ledger.json").read_text())
    assert {"read", "know", "map", "propose", "verify", "instantiate"} <= {
        entry["stage"] for entry in ledger
    }
    for entry in ledger:
        assert entry["in"] == entry["out"] + sum(entry["dropped"].values()), entry


def test_items_rest_on_templates_templates_on_supported_relations(built_demo):
    out = built_demo / "benchmark"
    items, templates, relations = (
        pq.read_table(out / f"{name}.parquet") for name in ("items", "templates", "relations")
    )
    supported = {row["id"] for row in relations.to_pylist() if row["verdict"] == "supported"}
    assert set(templates["relation"].to_pylist()) <= supported
    assert set(items["template_id"].to_pylist()) <= set(templates["id"].to_pylist())
    assert set(items["task"].to_pylist()) == {"diagnosis", "treatment", "prognosis"}


def test_the_rows_an_answer_rests_on_stand_in_the_tables(built_demo):
    """From an item to the line of the CSV, by hand: what explain says is what the file says."""
    out = built_demo / "benchmark"
    templates = pq.read_table(out / "templates.parquet").to_pylist()
    events = pq.read_table(out / "events.parquet").to_pylist()
    lines: dict[str, list[str]] = {}
    for template in templates[:40]:
        rows = [
            event
            for event in events
            if event["visit"] == template["target_visit"] and event["code"] in template["answer"]
        ]
        assert rows, template["id"]
        source = rows[0]["source"]
        if source not in lines:
            path = next((built_demo / "tables").rglob(Path(source).name))
            lines[source] = gzip.open(path, "rt", encoding="utf-8").read().splitlines()
        assert rows[0]["raw_code"] in lines[source][rows[0]["row"]]
        assert template["target_visit"] in lines[source][rows[0]["row"]]


def test_explain_names_rows_relation_and_knowledge(built_demo):
    items = pq.read_table(built_demo / "benchmark" / "items.parquet")
    with ehrkg.open(built_demo / "benchmark" / "graph.lbug", read_only=True) as kg:
        for item in items["item_id"].to_pylist()[:: max(1, items.num_rows // 25)]:
            text = kg.explain(item).as_text()
            assert "csv.gz" in text
            assert "supported" in text


@pytest.fixture(scope="module")
def shuffled_tables(built_demo, tmp_path_factory) -> Path:
    """The demo's tables, with the rows of every file in another order."""
    out = tmp_path_factory.mktemp("shuffled") / "tables"
    shutil.copytree(built_demo / "tables", out)
    for path in sorted(out.rglob("*.csv.gz")):
        header, *rows = gzip.open(path, "rt", encoding="utf-8").read().splitlines(keepends=True)
        random.Random(1).shuffle(rows)
        with gzip.open(path, "wt", encoding="utf-8") as handle:
            handle.write(header + "".join(rows))
    return out


@pytest.fixture(scope="module")
def rehydrated(built_demo, shuffled_tables, tmp_path_factory):
    """A cut passed on by recipe and hashes, and made again of the same tables in another order.

    In a process of its own, on one core. Gives the cut, what the process said, and its build.
    """
    bench = ehrkg.Benchmark.open(built_demo / "benchmark")
    cut = bench.filter(task=["diagnosis", "treatment"]).split("patient", seed=3).test
    folder = tmp_path_factory.mktemp("rehydrated")
    cut.export("rehydrate", folder / "passed-on")
    code = "import sys, ehrkg; bench = ehrkg.rehydrate(*sys.argv[1:]); print(bench.fingerprint)"
    env = {"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    words = [folder / "passed-on", shuffled_tables, folder / "out"]
    done = subprocess.run(
        ["taskset", "-c", "0", sys.executable, "-c", code, *words],
        check=True,
        env=env,
        cwd=Path(ehrkg.__file__).parent.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    return cut, done.stdout, folder


def test_a_colleague_makes_the_same_questions_of_the_same_tables(rehydrated):
    cut, said, _folder = rehydrated
    assert said.split()[-1] == cut.fingerprint


def test_order_of_rows_and_number_of_threads_change_nothing(built_demo, rehydrated):
    """Only the row numbers themselves may differ, since they name lines of a file."""
    again = rehydrated[2] / "out"
    mine, theirs = outputs(built_demo / "benchmark"), outputs(again)
    for name in ("relations", "evidence", "templates", "items", "pool", "scores"):
        assert mine[f"{name}.parquet"] == theirs[f"{name}.parquet"], name
    both = [
        pq.read_table(out / "events.parquet").drop_columns(["row"]).to_pylist()
        for out in (built_demo / "benchmark", again)
    ]
    assert sorted(map(str, both[0])) == sorted(map(str, both[1]))


def test_other_questions_are_not_taken_for_the_original_s(rehydrated, shuffled_tables):
    """Of a build that is there already: what came of it is not what the folder says."""
    from ehrkg.rehydration import rehydrate

    _cut, _said, folder = rehydrated
    said = json.loads((folder / "passed-on" / "build.json").read_text())
    (folder / "other").mkdir()
    said["content"]["items.parquet"] = "0" * 64
    (folder / "other" / "build.json").write_text(json.dumps(said))
    shutil.copy(folder / "passed-on" / "recipe.json", folder / "other" / "recipe.json")
    with pytest.raises(ehrkg.CheckError, match="other questions came") as error:
        rehydrate(folder / "other", shuffled_tables, folder / "out")
    assert "tables/hosp/admissions.csv.gz" in str(error.value)
    with pytest.raises(ehrkg.InputError, match="can't be read"):
        rehydrate(folder, shuffled_tables, folder / "out")


def test_a_finished_build_is_not_made_again(built_demo):
    from ehrkg.pipeline import build

    stamp = (built_demo / "benchmark" / "items.parquet").stat().st_mtime_ns
    again = build(built_demo / "tables", built_demo / "benchmark")
    assert (built_demo / "benchmark" / "items.parquet").stat().st_mtime_ns == stamp
    assert again.manifest["graph"]["content"] == graph_hash(built_demo / "benchmark")


def test_another_seed_is_refused_in_the_same_folder(built_demo):
    from ehrkg.pipeline import build

    with pytest.raises(ehrkg.UsageError, match="seed was 7 and is now 8"):
        build(built_demo / "tables", built_demo / "benchmark", ehrkg.Settings(seed=8))


def test_noise_is_refused_and_truth_is_found(built_demo):
    from ehrkg.evaluation import planted_in

    out = built_demo / "benchmark"
    codes = pq.read_table(out / "events.parquet")["code"].unique().to_pylist()
    shares = {
        share.kind: share
        for share in planted_in(
            built_demo / "tables", pq.read_table(out / "relations.parquet"), codes
        )
    }
    assert shares["planted"].supported >= 0.8 * shares["planted"].proposed
    assert shares["noise"].planted >= 10
    assert shares["noise"].supported == 0
