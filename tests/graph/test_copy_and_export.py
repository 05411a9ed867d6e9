"""A graph moves between engines whole, or says by name what can't go before anything is written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from graph_world import World, add_odd, fill
from neo4j_server import Server

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.graph.copy import copy_graph
from ehrkg.graph.export import export_for_neo4j_admin
from ehrkg.graph.store import GraphStore, open_store


def test_a_graph_goes_to_the_server_and_back(
    world: World, served_store: GraphStore, tmp_path: Path
) -> None:
    with open_store(tmp_path / "a.lbug") as first, open_store(tmp_path / "b.lbug") as second:
        fill(first, world)
        add_odd(first)
        counts = copy_graph(first, served_store)
        assert counts == first.counts() == copy_graph(served_store, second)
        assert first.content_hash() == served_store.content_hash() == second.content_hash()
        assert second.read_nodes("Build").column("ehr_format").to_pylist() == ["mimic4"]
        assert copy_graph(second, served_store) == counts  # once more changes nothing


def test_what_the_server_has_no_value_for_is_refused_before_the_first_write(
    embedded_store: GraphStore, served_store: GraphStore
) -> None:
    embedded_store.write_nodes("Concept", pa.table({"id": ["fine"]}))
    embedded_store.write_nodes(
        "Relation",
        pa.table({"id": ["r7"], "reasons": pa.array([["a", None]], pa.list_(pa.string()))}),
    )
    with pytest.raises(InputError, match="Relation: a list holds a null") as caught:
        copy_graph(embedded_store, served_store)
    assert "column reasons" in str(caught.value)
    assert "r7" in str(caught.value)
    assert served_store.counts() == {}
    embedded_store.delete_nodes("Relation", ["r7"])
    embedded_store.write_nodes("Synonym", pa.table({"id": ["y" * 9000]}))
    with pytest.raises(InputError, match="too long for an index"):
        copy_graph(embedded_store, served_store)
    assert served_store.counts() == {}


def test_a_target_that_holds_something_else_is_refused(
    embedded_store: GraphStore, served_store: GraphStore
) -> None:
    embedded_store.write_nodes("Concept", pa.table({"id": ["a"]}))
    served_store.write_nodes("Concept", pa.table({"id": ["other"]}))
    with pytest.raises(UsageError, match="other"):
        copy_graph(embedded_store, served_store)
    assert served_store.counts() == {"Concept": 1}


def test_the_line_for_neo4j_admin_loads_an_equal_graph(
    server: Server, odd_file: Path, import_line: list[str]
) -> None:
    """The server of these tests was loaded by that very line, with the real tool."""
    assert import_line[:4] == ["neo4j-admin", "database", "import", "full"]
    with pytest.raises(InputError, match="never opened for writing"):
        open_store(server.address, auth=server.auth, build="odd", read_only=True)
    open_store(server.address, auth=server.auth, build="odd").close()
    with (
        open_store(server.address, auth=server.auth, build="odd", read_only=True) as store,
        open_store(odd_file, build="odd", read_only=True) as original,
    ):
        assert store.counts() == original.counts()
        assert store.content_hash() == original.content_hash()
        indexes = store.query("SHOW INDEXES YIELD name, state RETURN name, state").to_pylist()
        assert {row["state"] for row in indexes} == {"ONLINE"}
        assert {"ehrkg_Code_key", "ehrkg_Code_id"} <= {row["name"] for row in indexes}
        left = store.query("MATCH (n {build: 'odd'}) WHERE n.ehrkg_lists IS NOT NULL RETURN n.id")
        assert left.num_rows == 0


def test_an_export_is_whole_or_not_there(embedded_store: GraphStore, tmp_path: Path) -> None:
    embedded_store.write_nodes(
        "Relation",
        pa.table({"id": ["r7"], "reasons": pa.array([["a\x1fb"]], pa.list_(pa.string()))}),
    )
    with pytest.raises(InputError, match=r"Relation: .*U\+001F"):
        export_for_neo4j_admin(embedded_store, tmp_path / "files")
    assert not [path for path in tmp_path.iterdir() if "files" in path.name]
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "mine.txt").touch()
    with pytest.raises(UsageError, match="holds something"):
        export_for_neo4j_admin(embedded_store, tmp_path / "files")
