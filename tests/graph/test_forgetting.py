"""Nodes taken out of a graph: by copying a file, by deleting on a server; the same is left."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from graph_world import World, fill

from ehrkg.graph.forgetting import copy_without, delete
from ehrkg.graph.store import GraphStore, open_store


def test_what_goes_is_named_nowhere_and_the_rest_is_the_same(
    store: GraphStore, world: World, tmp_path: Path
) -> None:
    fill(store, world)
    patient = world.hospital.patients["id"][0].as_py()
    visits = store.read_nodes("Visit").filter(pc.field("patient") == patient)["id"].to_pylist()
    templates = store.read_nodes("Template")
    mine = templates.filter(pc.field("patient") == patient)["id"].to_pylist()
    gone = {"Patient": [patient], "Visit": visits, "Template": mine}
    assert visits
    assert mine
    rest = {
        label: sorted(set(store.read_nodes(label)["id"].to_pylist()) - set(ids))
        for label, ids in gone.items()
    }
    with open_store(tmp_path / "copy.lbug", build=store.build) as copy:
        copy_without(store, copy, gone)
        delete(store, gone)
        assert copy.content_hash() == store.content_hash()
        assert {label: copy.read_nodes(label)["id"].to_pylist() for label in gone} == rest
        assert not copy.read_edges("HAS_VISIT").filter(pc.field("from") == patient).num_rows
        assert not copy.read_edges("AT").filter(pc.field("from").isin(mine)).num_rows
        assert copy.read_nodes("Concept").equals(store.read_nodes("Concept"))


def test_a_code_that_a_tree_describes_stays_as_one_nobody_recorded(
    store: GraphStore, tmp_path: Path
) -> None:
    codes = pa.table(
        {
            "id": ["ICD10CM:I10", "DRUGNAME:her own", "ICD10CM:E11"],
            "name": ["Hypertension", "her own", "Diabetes"],
            "recorded": [True, True, True],
            "described": [True, None, True],
        }
    )
    store.write_nodes("Code", codes)
    gone = {"Code": ["ICD10CM:I10", "DRUGNAME:her own"]}
    with open_store(tmp_path / "copy.lbug", build=store.build) as copy:
        copy_without(store, copy, gone)
        delete(store, gone)
        for one in (copy, store):
            left = one.read_nodes("Code").select(["id", "name", "recorded"]).to_pylist()
            assert left == [
                {"id": "ICD10CM:E11", "name": "Diabetes", "recorded": True},
                {"id": "ICD10CM:I10", "name": None, "recorded": None},
            ]
