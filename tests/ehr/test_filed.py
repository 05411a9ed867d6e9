"""Large tables lie in files until they are asked for, and nobody can tell but by the memory."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from ehrkg import ehr
from ehrkg.ehr import assembly, visit_codes
from ehrkg.ehr.filed import Filed, rows_of
from ehrkg.ehr.schema import EVENTS, VISIT_CODES
from ehrkg.graph import writers
from ehrkg.graph.store import open_store
from ehrkg.propose.cooccurrence import everything_seen

FEW = 3


@pytest.fixture
def both(extract) -> tuple[ehr.Hospital, ehr.Hospital]:
    """One extract, held in memory and filed."""
    held = ehr.read(extract.write())
    filed = replace(
        held,
        events=rows_of(pieces(held.events), EVENTS, filed=True),
        visit_codes=rows_of(pieces(held.visit_codes), VISIT_CODES, filed=True),
    )
    return held, filed


def pieces(table: pa.Table) -> list[pa.Table]:
    return [table.slice(0, FEW), table.slice(FEW)]


def test_a_large_extract_is_filed_and_read_as_a_small_one(
    extract, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = ehr.read(extract.write())
    monkeypatch.setattr(assembly, "IN_MEMORY", FEW)
    monkeypatch.setattr(visit_codes, "PIECE", FEW)
    filed = ehr.read(extract.folder)
    assert isinstance(vars(filed)["events"], Filed)
    for name in ("events", "visit_codes"):
        assert filed.count(name) == held.count(name) == getattr(held, name).num_rows
        assert getattr(filed, name).equals(getattr(held, name))
    changed = replace(filed, events=filed.events.slice(0, 1))
    assert (changed.events.num_rows, changed.count("visit_codes")) == (1, held.count("visit_codes"))


def test_pieces_come_in_order_with_the_columns_that_were_asked_for(
    both: tuple[ehr.Hospital, ehr.Hospital],
) -> None:
    names = ["visit", "code", "n"]
    for hospital in both:
        table = pa.concat_tables(hospital.scan("visit_codes", names, coded=["code"]))
        assert pa.types.is_dictionary(table["code"].type)
        at = VISIT_CODES.names.index("code")
        plain = table.set_column(1, VISIT_CODES.field(at), table["code"].cast(pa.string()))
        assert plain.equals(both[0].visit_codes.select(names))


def test_filed_rows_make_the_same_graph_and_the_same_proposals(
    both: tuple[ehr.Hospital, ehr.Hospital], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for place, hospital in enumerate(both):
        monkeypatch.setattr(writers, "_EDGES_PIECE", 1 if place else 10_000)
        with open_store(tmp_path / f"{place}.lbug") as store:
            writers.write_hospital(store, hospital)
            once = store.content_hash()
            writers.write_hospital(store, hospital)
            assert store.content_hash() == once
        found.append((once, everything_seen(hospital, None)))
    assert found[0][0] == found[1][0]
    assert found[0][1].num_rows
    assert found[0][1].equals(found[1][1])


def test_the_file_goes_with_the_last_who_holds_it() -> None:
    rows = Filed(EVENTS)
    rows.add(EVENTS.empty_table())
    rows.done()
    path = rows._path
    assert path.is_file()
    del rows
    gc.collect()
    assert not path.exists()
