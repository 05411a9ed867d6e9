"""Each subset cuts the questions that it says."""

from __future__ import annotations

from typing import Any

import pytest

from ehrkg.graph import catalogue
from tests.cypher.cypher_world import FURO, HF, HF9, A, Plot, Write, sound

ALL = ["t1", "t2", "t3", "t4"]
CUTS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("below_term", {"ancestor": "MONDO:0005240"}, ["t2", "t3"]),
    ("below_term", {"ancestor": "MONDO:0000001"}, ALL),
    ("below_term", {"ancestor": "ATC:C03CA"}, ["t1", "t4"]),
    ("by_drug_class", {"class": "ATC:C03"}, ["t1", "t4"]),
    ("by_drug_class", {"class": "ATC:C07"}, []),
    ("by_icd_chapter", {"chapter": "GENITO"}, ["t2", "t3"]),
    ("by_icd_chapter", {}, ALL),
    ("by_ccsr_group", {"ccsr": "GEN002"}, ["t2", "t3"]),
    ("by_predicate", {"predicate": "CAUSES"}, ["t2", "t3"]),
    ("by_evidence_strength", {"score": 0.9}, ["t2", "t3"]),
    ("by_evidence_strength", {"score": 0, "paths": 3}, ["t2", "t3"]),
    ("by_number_of_origins", {}, ["t2", "t3", "t4"]),
    ("by_trajectory_length", {}, ["t2"]),
    ("by_trajectory_length", {"least": 1, "most": 1}, ["t1", "t3", "t4"]),
    ("by_age", {"least": 71}, ["t2"]),
    ("by_age", {"least": 18, "most": 64}, ["t4"]),
    ("by_sex", {"sex": "M"}, ["t4"]),
    ("by_visit_kind", {"kinds": ["ELECTIVE", "NEWBORN"]}, ["t4"]),
    ("first_or_later_visits", {"first": True}, ["t1", "t3", "t4"]),
    ("first_or_later_visits", {"first": False}, ["t2"]),
    ("by_answer_frequency", {"least": 1, "most": 1}, ["t2", "t3"]),
    ("by_answer_frequency", {"least": 2}, ["t1", "t4"]),
    ("balanced_over_chapters", {"each": 1}, ["t1", "t2"]),
    ("balanced_over_chapters", {"each": 2}, ALL),
    ("without_patients", {"patients": ["p1"]}, ["t4"]),
    ("without_patients", {}, ALL),
    ("by_split", {}, ["t4"]),
    ("without_source", {"source": A}, ["t1", "t4"]),
    ("uncontested", {}, ["t2", "t3", "t4"]),
    ("closely_linked", {}, ["t1", "t2", "t3"]),
    ("closely_linked", {"levels": 2}, ALL),
    ("by_readmission_gap", {"least": 30, "most": 60}, ["t3"]),
    ("by_readmission_gap", {}, []),
]


def mixed() -> Plot:
    """The sound graph, with questions that differ."""
    plot = sound()
    plot.node("Relation", "r1", origins=["a"])
    plot.node("Relation", "r2", score=0.95, n_path=3, depends_on=[A])
    plot.evidence("against", "r1", FURO, HF, polarity="contradicts")
    for link in plot.edges["MAPS_TO"]:
        if link["from"] == HF9:
            link["levels"] = 2
    return plot


def test_every_subset_is_cut() -> None:
    named = {
        q.name.rpartition("/")[2]
        for q in catalogue.named_queries()
        if q.name.startswith("subsets/")
    }
    assert named == {name for name, *_ in CUTS}
    assert len(named) >= 12


@pytest.mark.parametrize(("name", "parameters", "wanted"), CUTS)
def test_a_subset_holds_what_it_says(
    name: str, parameters: dict[str, Any], wanted: list[str], write: Write
) -> None:
    found = catalogue.find(name).ask(write("mixed", mixed()), parameters)
    assert found.column_names == ["template"]
    assert found.column(0).to_pylist() == wanted
