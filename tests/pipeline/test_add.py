"""An extract added to a build: what building from everything gives, under pseudonyms too."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ehrkg
from ehrkg import ontology
from ehrkg.ehr import synth
from ehrkg.foundation import growing
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.keys import SecretKey, read_or_make_key
from ehrkg.foundation.workspace import load_result
from ehrkg.mapping.mapper import Mapper
from ehrkg.pipeline import add, build
from ehrkg.session.forgetting import forget

from ..ehr import splitting

TASKS = ("diagnosis", "treatment")
FORMATS = ("oeq",)
"""Open-ended: in so few patients few templates find distractors that are balanced."""


@dataclass(frozen=True)
class World:
    tables: Path
    first: Path
    second: Path
    key_file: Path
    settings: ehrkg.Settings
    grown: Path
    whole: Path
    known: frozenset[str]
    mapped: frozenset[str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A build that was extended, cut off in the middle of it, and one from both extracts."""
    out = tmp_path_factory.mktemp("add")
    synth.write(out / "all", patients=45, shape="demo", seed=5)
    splitting.split(out / "all", out / "first", out / "second")
    key: SecretKey = read_or_make_key(out / "hospital.key")
    settings = ehrkg.Settings(tasks=TASKS, formats=FORMATS, pseudonymise=key)
    build(out / "first", out / "grown", settings)
    work = out / "grown" / ".work"
    read = (work / "read-1").stat().st_mtime_ns
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(growing, "finish", _cut_off)
        with pytest.raises(KeyboardInterrupt):
            add(out / "second", out / "grown", settings)
    mapped: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        links = Mapper.links
        patched.setattr(
            Mapper, "links", lambda self, code: mapped.append(code.id) or links(self, code)
        )
        known = set(load_result(work / "read-1").codes["id"].to_pylist())
        add(out / "second", out / "grown", settings)
    assert (work / "read-1").stat().st_mtime_ns == read
    # the vectors of texts are the same whoever made them, and take most of a small build's time
    shutil.copytree(work / "embeddings", out / "whole" / ".work" / "embeddings")
    build([out / "first", out / "second"], out / "whole", settings)
    return World(
        out / "all",
        out / "first",
        out / "second",
        out / "hospital.key",
        settings,
        out / "grown",
        out / "whole",
        frozenset(known),
        frozenset(mapped),
    )


def _cut_off(out: Path) -> None:
    if (out / ".work" / growing.IDENTITY).exists():
        raise KeyboardInterrupt


def manifest(out: Path) -> dict:
    return json.loads((out / "manifest.json").read_text())


def texts(out: Path) -> dict[str, str]:
    found = {}
    for path in sorted(out.rglob("*")):
        if path.suffix == ".parquet":
            found[str(path)] = str(pq.read_table(path).to_pydict())
        elif path.suffix == ".arrow":
            found[str(path)] = str(pa.ipc.open_file(path).read_all().to_pydict())
        elif path.is_file():
            found[str(path)] = path.read_bytes().decode("latin-1")
    return found


def test_it_is_what_building_from_everything_gives(world: World) -> None:
    grown, whole = manifest(world.grown), manifest(world.whole)
    assert grown["outputs"] == whole["outputs"]
    assert grown["graph"] == whole["graph"]
    assert grown["inputs"] == whole["inputs"]
    assert grown["outputs"]["items.parquet"]["rows"] > 0
    ledgers = [json.loads((out / "ledger.json").read_text()) for out in (world.grown, world.whole)]
    assert ledgers[0] == ledgers[1]


def test_only_codes_that_are_new_are_mapped(world: World) -> None:
    """Not those that the first extract had, unless the second gives them another name."""
    every = set(load_result(world.grown / ".work" / "join").codes["id"].to_pylist())
    assert world.mapped
    assert world.mapped >= every - world.known
    assert len(world.mapped & world.known) < 0.1 * len(world.known)


def test_the_unusable_rows_name_their_extract(world: World) -> None:
    rows = pq.read_table(world.grown / "quarantine" / "read.parquet")
    assert {one.split("/")[0] for one in rows["source"].to_pylist()} == {"extract-1", "extract-2"}


def test_adding_it_again_is_done_already(world: World) -> None:
    stamp = (world.grown / "items.parquet").stat().st_mtime_ns
    add(world.second, world.grown, world.settings)
    assert (world.grown / "items.parquet").stat().st_mtime_ns == stamp
    with pytest.raises(UsageError, match="in the build already"):
        add(world.first, world.grown, world.settings)


def test_other_settings_are_refused(world: World) -> None:
    with pytest.raises(UsageError, match="seed was 7 and is now 8"):
        add(
            world.tables,
            world.grown,
            ehrkg.Settings(
                tasks=TASKS,
                formats=FORMATS,
                seed=8,
                pseudonymise=world.settings.pseudonymise,
            ),
        )
    assert (world.grown / "manifest.json").exists()


def test_nothing_is_added_to_nothing(world: World, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no build here"):
        add(world.second, tmp_path / "out", world.settings)
    assert not (tmp_path / "out").exists()


def test_no_id_and_no_key_stands_in_any_file(world: World) -> None:
    ids: set[str] = set()
    for name in ("patients", "admissions"):
        header, *rows = splitting.read(world.tables / "hosp" / f"{name}.csv.gz")
        for column in {"subject_id", "hadm_id"} & set(header):
            ids |= {row[header.index(column)] for row in rows}
    # codes of vocabularies have as many digits, and may be the same
    codes = {one.partition(":")[2] for one in ontology.shipped().mappings["object"].to_pylist()}
    ids = {one for one in ids if len(one) >= 8} - codes
    assert len(ids) > 60
    secret = world.key_file.read_text().strip()
    for place, text in texts(world.grown).items():
        assert not [one for one in ids if one in text], place
        assert secret not in text, place


def test_a_patient_is_forgotten_by_the_id_of_the_tables(world: World) -> None:
    header, *rows = splitting.read(world.first / "hosp" / "patients.csv.gz")
    names = {row[header.index("subject_id")] for row in rows}
    key = read_or_make_key(world.key_file)
    templates = pq.read_table(world.whole / "templates.parquet")["patient"].to_pylist()
    patient = next(one for one in sorted(names) if key.name("p", one) in templates)
    hidden = key.name("p", patient)
    assert any(hidden in text for text in texts(world.whole).values())
    other = world.key_file.with_name("other.key")
    read_or_make_key(other)
    with pytest.raises(InputError, match="not the key"):
        forget(patient, world.whole, key_file=other)
    assert "Found: nothing" in forget(patient, world.whole, key_file=world.key_file).as_text()
    assert not any(hidden in text for text in texts(world.whole).values())
    with pytest.raises(UsageError, match="taken out of this build"):
        add(world.tables, world.whole, world.settings)
