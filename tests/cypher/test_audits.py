"""Each audit finds the fault it is for, and nothing in a sound graph."""

from __future__ import annotations

import pytest

from ehrkg.graph import catalogue
from ehrkg.graph.store import GraphStore
from tests.cypher.cypher_faults import FAULTS
from tests.cypher.cypher_world import Write, sound

AUDITS = [query for query in catalogue.named_queries() if query.name.startswith("audits/")]


def stem(query: catalogue.NamedQuery) -> str:
    return query.name.rpartition("/")[2]


def test_every_audit_has_a_fault() -> None:
    assert {stem(query) for query in AUDITS} == set(FAULTS)
    assert len(AUDITS) >= 25


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_an_audit_finds_the_fault_planted(name: str, write: Write) -> None:
    fault = FAULTS[name]
    plot = sound()
    fault.plant(plot)
    found = catalogue.find(name).ask(write(name, plot), fault.parameters).to_pylist()
    for row in fault.rows:
        assert any(one | row == one for one in found), (row, found)


@pytest.mark.parametrize("name", sorted(n for n, fault in FAULTS.items() if fault.silent))
def test_an_audit_finds_nothing_in_a_sound_graph(name: str, sound_store: GraphStore) -> None:
    assert catalogue.find(name).ask(sound_store, FAULTS[name].parameters).to_pylist() == []
