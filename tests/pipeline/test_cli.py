"""The command line: help that reads well, one clear error for each mistake, the right exit code."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ehrkg.ehr import synth

VERBS = (
    "demo",
    "build",
    "coverage",
    "synth",
    "verify",
    "audit",
    "check",
    "explain",
    "export",
    "diff",
    "rehydrate",
    "forget",
    "view",
)


def ehrkg(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from ehrkg.cli import main; main()", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb):
    done = ehrkg(verb, "--help")
    assert done.returncode == 0
    assert "Usage:" in done.stdout


@pytest.mark.parametrize("words", [("build",), ("build", "tables", "--add", "more")])
def test_a_build_needs_tables_or_one_more_extract(tmp_path, words):
    done = ehrkg(*words, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "which tables?" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words", [("build", "--add", "more", "--out", "nowhere"), ("forget", "1", "nowhere")]
)
def test_what_needs_a_build_says_that_there_is_none(words):
    done = ehrkg(*words)
    assert done.returncode == 3
    assert "nowhere" in done.stderr


def test_the_help_says_how_to_name_a_build():
    """Square brackets would be eaten as a style."""
    assert "#BUILD" in ehrkg("graph", "copy", "--help").stdout


def test_importing_is_light():
    code = (
        "import sys, ehrkg; heavy = {'torch', 'pandas', 'duckdb', 'ibis', 'faiss', 'pyarrow',"
        " 'ladybug', 'scipy', 'sklearn', 'plotly', 'sentence_transformers'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def tables(folder: Path) -> Path:
    synth.write(folder, patients=20, shape="demo", seed=1)
    return folder


def rewrite(path: Path, change) -> None:
    text = gzip.open(path, "rt", encoding="utf-8").read()
    with gzip.open(path, "wt", encoding="utf-8") as handle:
        handle.write(change(text))


def missing_table(folder: Path) -> None:
    (folder / "hosp" / "diagnoses_icd.csv.gz").unlink()


def missing_column(folder: Path) -> None:
    rewrite(folder / "hosp" / "diagnoses_icd.csv.gz", lambda t: t.replace("icd_version", "edition"))


def truncated_gzip(folder: Path) -> None:
    path = folder / "hosp" / "prescriptions.csv.gz"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def broken_quote(folder: Path) -> None:
    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        lines[3] = '"' + lines[3]
        return "".join(lines)

    rewrite(folder / "hosp" / "admissions.csv.gz", change)


def empty_table(folder: Path) -> None:
    rewrite(folder / "hosp" / "patients.csv.gz", lambda _: "")


def no_tables(folder: Path) -> None:
    for path in (folder / "hosp").iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ("spoil", "names"),
    [
        (missing_table, "diagnoses_icd"),
        (missing_column, "icd_version"),
        (truncated_gzip, "prescriptions"),
        (broken_quote, "admissions"),
        (empty_table, "patients"),
        (no_tables, "table"),
    ],
)
def test_bad_tables_give_one_clear_error_and_leave_nothing(spoil, names, tmp_path):
    folder = tables(tmp_path / "tables")
    spoil(folder)
    done = ehrkg("build", folder, "--out", tmp_path / "out")
    assert done.returncode == 3, done.stderr
    assert names in done.stderr
    assert "do:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_path_that_is_not_there(tmp_path):
    done = ehrkg("build", tmp_path / "nowhere", "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "nowhere" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_is_a_wrong_call(tmp_path):
    folder = tables(tmp_path / "tables")
    done = ehrkg("build", folder, "--out", tmp_path / "out", "--format", "epic")
    assert done.returncode == 2
    assert "mimic4" in done.stderr


def test_an_output_folder_that_holds_something_else(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    done = ehrkg("build", tables(tmp_path / "tables"), "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "notes.txt" in done.stderr


def test_a_build_makes_the_kinds_of_questions_that_it_is_told(tmp_path):
    synth.write(tmp_path / "tables", patients=60, shape="demo", seed=7)
    kinds = [word for kind in ("mcq4", "yesno", "multi") for word in ("--question", kind)]
    out = tmp_path / "out"
    done = ehrkg("build", tmp_path / "tables", "--out", out, *kinds, "--history", 1)
    assert done.returncode == 0, done.stderr
    items = pq.read_table(out / "items.parquet")
    assert set(items["format"].to_pylist()) == {"mcq", "yesno", "multi"}
    assert 1 in items["history"].to_pylist()
    answered = set(pq.read_table(out / "scores.parquet")["format"].to_pylist())
    assert answered == {"mcq", "yesno", "multi"}  # the baselines leave no kind to models
    entries = json.loads((out / "ledger.json").read_text())
    reasons = [entry["dropped"] for entry in entries if entry["stage"] == "evaluate"]
    assert len(reasons) == 6
    assert {reason for dropped in reasons for reason in dropped} <= {"not_sampled"}


def test_dry_run_writes_nothing_and_says_what_a_model_would_be_asked(tmp_path):
    folder, out = tables(tmp_path / "tables"), tmp_path / "out"
    model = ("--proposer", "cooccurrence+openai:m@http://127.0.0.1:9/v1", "--prices", "3,15")
    done = ehrkg("build", folder, "--out", out, "--dry-run", "--max-calls", 7, *model)
    assert done.returncode == 0, done.stderr
    assert "20 patients" in done.stdout
    assert re.search(r"asked of openai/m: [1-7] questions, about .* at a cost of", done.stdout)
    assert not (tmp_path / "out").exists()


def test_audit_lists_runs_and_refuses(built_demo):
    graph = built_demo / "benchmark" / "graph.lbug"
    assert "unmapped_codes" in ehrkg("audit", "--list").stdout
    done = ehrkg(
        "audit", "supported_by_one_origin", "--graph", graph, "--output", "json", "-p", "limit=3"
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 3
    wrong = ehrkg("audit", "supported_by_one_origin", "--graph", graph, "-p", "limit=many")
    assert wrong.returncode == 2
    assert "integer" in wrong.stderr


def test_explain_prints_the_chain(built_demo):
    item = pq.read_table(built_demo / "benchmark" / "items.parquet")["item_id"][0].as_py()
    done = ehrkg("explain", item, "--graph", built_demo / "benchmark" / "graph.lbug")
    assert done.returncode == 0, done.stderr
    assert "csv.gz" in done.stdout
    unknown = ehrkg("explain", "t0000", "--graph", built_demo / "benchmark" / "graph.lbug")
    assert unknown.returncode == 2


def test_verify_takes_names_and_says_what_it_cannot_link(tmp_path):
    (tmp_path / "pairs.tsv").write_text(
        "head\tpredicate\ttail\nwarfarin\tTREATS\tatrial fibrillation\nunobtainium\tTREATS\tgout\n"
    )
    done = ehrkg("verify", tmp_path / "pairs.tsv", "--out", tmp_path / "verdicts.tsv")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in (tmp_path / "verdicts.tsv").read_text().splitlines()[1:]]
    verdicts = {row[0]: row[3] for row in rows}
    assert verdicts == {"warfarin": "supported", "unobtainium": "unsupported"}
    assert "unlinked" in done.stdout


def test_verify_names_a_missing_column(tmp_path):
    (tmp_path / "pairs.tsv").write_text("head\ttail\nwarfarin\tgout\n")
    done = ehrkg("verify", tmp_path / "pairs.tsv", "--out", tmp_path / "verdicts.tsv")
    assert done.returncode == 3
    assert "predicate" in done.stderr


def test_nothing_of_a_users_is_written_over(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("head\tpredicate\ttail\nwarfarin\tTREATS\tgout\n")
    assert ehrkg("verify", pairs, "--out", pairs).returncode == 2
    assert pairs.read_text().startswith("head")
    done = ehrkg("synth", "--out", tmp_path, "--patients", 5)
    assert done.returncode == 3
    assert "pairs.tsv" in [path.name for path in tmp_path.iterdir()]
    assert not (tmp_path / "hosp").exists()


def test_a_demo_of_another_size_leaves_the_first_alone(tmp_path):
    from ehrkg.foundation.progress import Silent
    from ehrkg.session.demo import write_demo_tables

    write_demo_tables(tmp_path / "tables", patients=20, seed=7, progress=Silent())
    before = {path.name: path.read_bytes() for path in (tmp_path / "tables" / "hosp").iterdir()}
    write_demo_tables(tmp_path / "tables", patients=20, seed=7, progress=Silent())
    done = ehrkg("demo", "--out", tmp_path, "--patients", 21)
    assert done.returncode == 2, done.stderr
    after = {path.name: path.read_bytes() for path in (tmp_path / "tables" / "hosp").iterdir()}
    assert after == before


def test_the_version_is_told():
    done = ehrkg("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("ehrkg 0.")


def test_export_shows_its_formats_writes_one_and_refuses_others(built_demo, tmp_path):
    out = built_demo / "benchmark"
    listed = ehrkg("export", "--list").stdout
    assert all(name in listed for name in ("hf", "lm-eval", "inspect", "rehydrate"))
    done = ehrkg("export", out, "--to", "jsonl", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "DATASHEET.md",
        "questions.jsonl",
    ]
    wrong = ehrkg("export", out, "--to", "jsonlines", "--out", tmp_path / "other")
    assert wrong.returncode == 2
    assert "near it: jsonl" in wrong.stderr
    assert ehrkg("export", out).returncode == 2


def test_diff_says_what_two_benchmarks_have_in_common(built_demo, tmp_path):
    out = built_demo / "benchmark"
    done = ehrkg("diff", out, out, "--out", tmp_path / "diff.json")
    assert "0 were added, 0 removed, 0 changed" in done.stdout
    assert json.loads((tmp_path / "diff.json").read_text())["verdicts"] == []
    assert ehrkg("diff", out, tmp_path).returncode == 3
