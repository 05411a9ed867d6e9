"""A patient taken out of a build: every byte of every file is looked at, by hand."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import ehrkg
from ehrkg.benchmark.opened.reviews import QUESTION, Mark, asked, read_marks, shown_as
from ehrkg.foundation import replacing
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.storage import content_hash, file_hash
from ehrkg.foundation.workspace import hold, write_ipc
from ehrkg.graph import open_store
from ehrkg.graph.check import check_file
from ehrkg.session.forgetting import forget
from ehrkg.session.searching import Names, search_files
from ehrkg.session.view.marking import append


def every_text(out: Path) -> dict[str, bytes]:
    """What stands in each file: the bytes, and for packed tables all their values too."""
    found = {}
    for path in sorted(out.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if path.suffix == ".parquet":
            data += str(pq.read_table(path).to_pydict()).encode()
        elif path.suffix == ".arrow":
            data += str(pa.ipc.open_file(path).read_all().to_pydict()).encode()
        found[path.relative_to(out).as_posix()] = data
    return found


def holding(out: Path, names: list[str]) -> set[str]:
    return {
        place
        for place, data in every_text(out).items()
        if any(name.encode() in data for name in names)
    }


@pytest.fixture(scope="module")
def patient(built_demo: Path) -> str:
    """One with questions, and with rows that could not be used."""
    out = built_demo / "benchmark"
    unusable = set(pq.read_table(out / "quarantine" / "read.parquet")["patient"].to_pylist())
    asked = pq.read_table(out / "templates.parquet")["patient"].to_pylist()
    return max((name for name in asked if name in unusable), key=asked.count)


def names_of(out: Path, patient: str) -> list[str]:
    with ehrkg.open(out / "graph.lbug", read_only=True) as kg:
        visits = kg.query("MATCH (v:Visit {patient: $p}) RETURN v.id AS id", p=patient)
        templates = kg.query("MATCH (t:Template {patient: $p}) RETURN t.id AS id", p=patient)
    return [patient, *visits["id"].to_pylist(), *templates["id"].to_pylist()]


@dataclass(frozen=True)
class World:
    """A build before and after a patient was forgotten, with two interruptions on the way."""

    out: Path
    names: list[str]
    before: dict[str, pa.Table]
    holding_before: set[str]
    unchanged_by_the_first: bool
    holding_after_the_second: set[str]
    told: str


def cut_off(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def cut_off_after_the_commit(out: Path) -> bool:
    return replacing.committed(out).is_dir() and cut_off()


def review(out: Path, patient: str) -> None:
    """Marks and a sample of two questions of the patient and two of others; one line is torn."""
    templates = pq.read_table(out / "templates.parquet")
    mine = set(templates.filter(pc.equal(templates["patient"], patient))["id"].to_pylist())
    items = pq.read_table(out / "items.parquet").to_pylist()
    shown = {row["item_id"]: shown_as(row["stem"], row["options"]) for row in items}
    own = [row["item_id"] for row in items if row["template_id"] in mine][:2]
    others = [row["item_id"] for row in items if row["template_id"] not in mine][:2]
    for name in (*own, *others):
        when = "2026-01-01T00:00:00Z"
        append(out, Mark(QUESTION, name, "A", "answer", when, (0,), shown=shown[name]))
        good = {row["name"]: row["good"] for row in asked()["ratings"]}
        append(out, Mark(QUESTION, name, "A", "ratings", when, ratings=good))
    with (out / "review" / "marks.jsonl").open("a") as file:
        file.write(f'{{"what": "question", "id": "{own[0]}')
    drawn = {"question": {"ids": [*own, *others], "asked": 4, "by": [], "seed": 7}}
    (out / "review" / "sample.json").write_text(json.dumps(drawn))


@pytest.fixture(scope="module")
def forgotten(built_demo: Path, patient: str, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Cut off before the new files count, cut off after that, then let be."""
    out = tmp_path_factory.mktemp("forgotten") / "out"
    shutil.copytree(built_demo / "benchmark", out)
    names = names_of(out, patient)
    review(out, patient)
    before = {path.name: pq.read_table(path) for path in out.glob("*.parquet")}
    first = holding(out, names)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(replacing.Replacement, "commit", cut_off)
        with pytest.raises(KeyboardInterrupt):
            forget(patient, out)
    unchanged = all(pq.read_table(out / name).equals(table) for name, table in before.items())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(replacing, "finish", cut_off_after_the_commit)
        with pytest.raises(KeyboardInterrupt):
            forget(patient, out)
    second = holding(out, names)
    told = forget(patient, out).as_text()
    return World(out, names, before, first, unchanged, second, told)


def test_nothing_of_the_patient_is_left_in_any_file(forgotten: World) -> None:
    assert {"graph.lbug", "events.parquet", "items.parquet", "report.html"} & (
        forgotten.holding_before
    ) >= {"graph.lbug", "events.parquet", "items.parquet"}
    assert holding(forgotten.out, forgotten.names) == set()
    assert "Found: nothing." in forgotten.told


def test_what_readers_said_of_others_stays(forgotten: World) -> None:
    assert {"review/marks.jsonl", "review/sample.json"} <= forgotten.holding_before
    marks = read_marks(forgotten.out)
    assert (len(marks.lines), marks.torn) == (4, 0)
    drawn = json.loads((forgotten.out / "review" / "sample.json").read_text())
    assert drawn["question"]["ids"] == [one.id for one in marks.lines if one.step == "answer"]
    assert "Not reviewed by clinicians" not in (forgotten.out / "report.html").read_text("utf-8")


def test_it_can_be_cut_off_at_any_moment(forgotten: World) -> None:
    assert forgotten.unchanged_by_the_first
    assert forgotten.holding_after_the_second
    assert not (forgotten.out / ".work" / "replacing").exists()


def test_the_others_stay_as_they_were(forgotten: World, patient: str) -> None:
    def kept(name: str) -> pa.Table:
        table = forgotten.before[f"{name}.parquet"]
        return table.filter(pc.not_equal(table["patient"], patient))

    after = {path.stem: pq.read_table(path) for path in forgotten.out.glob("*.parquet")}
    assert after["events"].equals(kept("events"))
    assert after["templates"].equals(kept("templates"))
    templates = set(after["templates"]["id"].to_pylist())
    items = forgotten.before["items.parquet"].to_pylist()
    assert set(after["items"]["item_id"].to_pylist()) == {
        row["item_id"] for row in items if row["template_id"] in templates
    }
    relations = set(after["relations"]["id"].to_pylist())
    assert set(after["templates"]["relation"].to_pylist()) <= relations
    assert set(after["evidence"]["relation"].to_pylist()) <= relations


def test_what_only_the_patient_had_goes_too(forgotten: World, patient: str) -> None:
    """By hand: a pair of codes that only this patient's visits show is no relation any more."""
    rows = forgotten.before["events.parquet"].to_pylist()
    others = {row["code"] for row in rows if row["patient"] != patient}
    after = pq.read_table(forgotten.out / "relations.parquet").to_pylist()
    shown = pq.read_table(forgotten.out / "items.parquet")["option_codes"].to_pylist()
    shown_codes = {code for codes in shown for code in codes}
    assert all({row["head"], row["tail"]} <= others | shown_codes for row in after)


def test_ledger_and_manifest_say_what_happened(forgotten: World) -> None:
    manifest = json.loads((forgotten.out / "manifest.json").read_text())
    assert manifest["forgotten"]["patients"] == 1
    assert "not made anew" in manifest["forgotten"]["note"]
    for name, facts in manifest["outputs"].items():
        table = pq.read_table(forgotten.out / name)
        assert facts == {
            "rows": table.num_rows,
            "sha256": file_hash(forgotten.out / name),
            "content": content_hash(table),
        }
    assert check_file(str(forgotten.out / "graph.lbug")) == manifest["graph"]["content"]
    ledger = json.loads((forgotten.out / "ledger.json").read_text())
    assert {"events", "templates", "items", "scores", "quarantine/read"} <= {
        row["unit"] for row in ledger if row["stage"] == "forget"
    }
    for row in ledger:
        assert row["in"] == row["out"] + sum(row["dropped"].values())


def test_the_build_still_serves(forgotten: World) -> None:
    item = pq.read_table(forgotten.out / "items.parquet")["item_id"][0].as_py()
    with ehrkg.open(forgotten.out / "graph.lbug", read_only=True) as kg:
        assert "supported" in kg.explain(item).as_text()
    assert "</html>" in (forgotten.out / "report.html").read_text(encoding="utf-8")


def test_forgetting_again_says_so(forgotten: World, patient: str) -> None:
    with pytest.raises(InputError, match="holds no such patient"):
        forget(patient, forgotten.out)


@pytest.mark.parametrize("name", ["notes.txt", "part.parquet", "part.arrow"])
def test_the_search_finds_what_was_left(tmp_path: Path, name: str) -> None:
    table = pa.table({"text": ["see 10000032, please"]})
    if name.endswith("parquet"):
        pq.write_table(table, tmp_path / name)
    elif name.endswith("arrow"):
        write_ipc(table, tmp_path / name)
    else:
        (tmp_path / name).write_text("see 10000032, please")
    count, found = search_files(tmp_path, Names(frozenset({"10000032"})))
    assert (count, len(found)) == (1, 1)
    assert found[0].place.startswith(name)
    assert not search_files(tmp_path, Names(frozenset({"1000003"})))[1]


def test_the_search_finds_what_a_graph_only_deleted(tmp_path: Path) -> None:
    """The engine leaves the bytes of deleted nodes in the file: hence the file is made anew."""
    path = tmp_path / "graph.lbug"
    with open_store(path) as store:
        store.write_nodes("Patient", pa.table({"id": ["10000032", "10000084"]}))
    with open_store(path) as store:
        store.delete_nodes("Patient", ["10000032"])
    assert search_files(tmp_path, Names(frozenset({"10000032"})))[1]


def test_a_folder_that_is_no_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished build"):
        forget("1", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_build_in_use_is_left_alone(forgotten: World) -> None:
    with hold(forgotten.out), pytest.raises(UsageError, match="in use"):
        forget("1", forgotten.out)
