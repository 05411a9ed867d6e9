"""Every named query gives the same table on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from neo4j_server import Server

from ehrkg.graph import catalogue
from ehrkg.graph.store import GraphStore, open_store
from tests.cypher.cypher_faults import FAULTS, everything
from tests.cypher.cypher_world import sound

BUILD = "named"
SECONDS = 2.0
PARAMETERS = {
    "hubs": {"share": 0.1},
    "by_drug_class": {"class": "ATC:C03"},
    "below_term": {"ancestor": "MONDO:0000001"},
    "by_answer_frequency": {"most": 3},
    "by_readmission_gap": {"most": 60},
    "without_patients": {"patients": ["p1", "O'Brien"]},
}


@pytest.fixture(scope="module")
def embedded_queries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    path: Path = tmp_path_factory.mktemp("named") / "graph.lbug"
    with open_store(path, build="beside") as other, open_store(path, build=BUILD) as store:
        sound().write(other)
        everything().write(store)
        yield store


@pytest.fixture(scope="module")
def served_queries(server: Server) -> Iterator[GraphStore]:
    with (
        open_store(server.address, build="beside", auth=server.auth) as other,
        open_store(server.address, build=BUILD, auth=server.auth) as store,
    ):
        sound().write(other)
        everything().write(store)
        yield store


@pytest.mark.parametrize("query", catalogue.named_queries(), ids=lambda query: query.name)
def test_both_engines_give_one_table(
    query: catalogue.NamedQuery, embedded_queries: GraphStore, served_queries: GraphStore
) -> None:
    stem = query.name.rpartition("/")[2]
    parameters = PARAMETERS.get(stem) or (FAULTS[stem].parameters if stem in FAULTS else {})
    here = query.ask(embedded_queries, parameters)
    there = query.ask(served_queries, parameters)
    assert here.num_rows, "a comparison of nothing says nothing"
    assert here.column_names == there.column_names == list(query.columns)
    assert _types(here) == _types(there)
    rows = [table.to_pylist() for table in (here, there)]
    if "ORDER BY" not in query.text:
        rows = [sorted(held, key=str) for held in rows]
    assert rows[0] == rows[1]


def _types(table: pa.Table) -> dict[str, str]:
    """The types of the columns that hold anything but nulls."""
    return {
        field.name: str(field.type).replace("item: ", "").replace("l: ", "")
        for field in table.schema
        if table.column(field.name).null_count < table.num_rows
    }
