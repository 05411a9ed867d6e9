"""Tables read under pseudonyms: the same hospital, no id anywhere, the same names another time."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import ehrkg
from ehrkg import ehr
from ehrkg.ehr import synth
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.keys import default_key_file, key_for, key_with, read_key, read_or_make_key
from ehrkg.foundation.ledger import Ledger


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tables") / "t"
    synth.write(out, patients=40, seed=3)
    return out


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "hospital.key"


def ids_of(tables: Path) -> set[str]:
    """Every id of a patient or a visit that stands in the tables, read by hand."""
    found: set[str] = set()
    for path in tables.rglob("*.csv.gz"):
        header, *rows = gzip.open(path, "rt", encoding="utf-8").read().splitlines()
        names = header.split(",")
        for column in {"subject_id", "hadm_id"} & set(names):
            found |= {row.split(",")[names.index(column)] for row in rows}
    return {one for one in found if len(one) >= 8}


def everything(hospital: ehr.Hospital, ledger: Ledger) -> str:
    parts = [hospital.patients, hospital.visits, hospital.events, hospital.visit_codes]
    parts += [hospital.codes, *ledger.quarantine.values()]
    return "\n".join(str(part.to_pydict()) for part in parts) + str(ledger.as_json())


def test_no_id_is_left_and_the_hospital_is_the_same(tables: Path, key: Path) -> None:
    plain, open_ledger = ehr.read(tables), Ledger()
    ehr.read(tables, ledger=open_ledger)
    ledger = Ledger()
    hidden = ehr.read(tables, pseudonymise=key, ledger=ledger)
    text = everything(hidden, ledger)
    ids = ids_of(tables)
    assert len(ids) > 50
    assert not [one for one in ids if one in text]
    assert [one for one in ids if one in everything(plain, open_ledger)]
    assert ledger.as_json() == open_ledger.as_json()
    for name in ("patients", "visits", "events", "visit_codes"):
        assert getattr(hidden, name).num_rows == getattr(plain, name).num_rows
        assert getattr(hidden, name).schema == getattr(plain, name).schema

    def histories(hospital: ehr.Hospital) -> list[tuple[object, ...]]:
        """Each patient's life, whatever the patient is called."""
        events: dict[str, list[tuple[object, ...]]] = {}
        for row in hospital.events.to_pylist():
            events.setdefault(row["visit"], []).append((row["code"], row["source"], row["row"]))
        lives: dict[str, list[tuple[object, ...]]] = {}
        for row in hospital.visits.to_pylist():
            rest = [str(row[c]) for c in ("ordinal", "admitted", "age", "gap_days")]
            lives.setdefault(row["patient"], []).append((*rest, *sorted(events.get(row["id"], []))))
        return sorted((str(life) for life in lives.values()), key=str)

    assert histories(hidden) == histories(plain)


def test_the_same_key_gives_the_same_names_and_another_key_others(tables: Path, key: Path) -> None:
    first = ehr.read(tables, pseudonymise=key)
    assert first.visits.equals(ehr.read(tables, pseudonymise=key).visits)
    other = ehr.read(tables, pseudonymise=key.with_name("other.key"))
    assert not set(first.visits["id"].to_pylist()) & set(other.visits["id"].to_pylist())
    lengths = {len(one) for one in first.visits["id"].to_pylist()}
    assert lengths == {21}


def test_an_error_names_the_place_and_not_what_stands_there(tmp_path: Path, key: Path) -> None:
    out = tmp_path / "t"
    synth.write(out, patients=20, seed=1)
    path = out / "hosp" / "diagnoses_icd.csv.gz"
    header, first, *rest = gzip.open(path, "rt", encoding="utf-8").read().splitlines()
    with gzip.open(path, "wt", encoding="utf-8") as handle:
        handle.write("\n".join([header, first + ',"open', *rest]) + "\n")
    patient = first.split(",")[0]
    with pytest.raises(InputError, match=patient):
        ehr.read(out)
    with pytest.raises(InputError, match="line 2") as caught:
        ehr.read(out, pseudonymise=key)
    assert patient not in str(caught.value)


def test_a_key_is_for_its_owner_alone(key: Path) -> None:
    made = read_or_make_key(key)
    assert key.stat().st_mode & 0o777 == 0o600
    assert read_key(key).fingerprint == made.fingerprint
    assert key.read_text().strip() not in repr(made) + str(vars(ehrkg.Settings(pseudonymise=made)))
    key.chmod(0o640)
    with pytest.raises(InputError, match="others than its owner"):
        read_key(key)


@pytest.mark.parametrize("content", ["", "12ab", "not hexadecimal", "é"])
def test_what_is_no_key_is_refused(key: Path, content: str) -> None:
    key.parent.mkdir()
    key.write_text(content)
    key.chmod(0o600)
    with pytest.raises(InputError, match="no key of ehrkg"):
        read_or_make_key(key)
    assert key.read_text() == content


def test_each_data_set_has_a_key_of_its_own(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "a").mkdir()
    made = key_for(tmp_path / "a", tmp_path / "out")
    assert default_key_file(tmp_path / "a") != default_key_file(tmp_path / "b")
    assert key_for(tmp_path / "a", tmp_path / "elsewhere").fingerprint == made.fingerprint
    found = key_with(made.fingerprint)
    assert found is not None
    assert found.name("p", "1") == made.name("p", "1")
    assert key_with("0" * 16) is None


def test_a_key_in_the_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="build's folder"):
        key_for(tmp_path, tmp_path / "out", tmp_path / "out" / "my.key")
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a file, not a folder")
    with pytest.raises(InputError, match="can't be"):
        read_or_make_key(tmp_path / "keys" / "my.key")
