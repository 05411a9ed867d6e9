"""Joining knowledge: order decides nothing, and nothing that differs is folded."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg.ontology import merge
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.tables import build, knowledge

rows = st.lists(
    st.tuples(
        st.sampled_from(["X:1", "X:2"]),
        st.sampled_from(["gout", "Gout", ""]),
        st.sampled_from(["disease", "grouping"]),
        st.sampled_from(["", "Painful."]),
        st.sampled_from(["infores:icd10cm", "infores:b"]),
    ),
    max_size=4,
)
pieces = rows.map(lambda found: knowledge(concepts=build("concepts", found)))


@settings(max_examples=10, deadline=None)
@given(pieces, pieces, pieces)
def test_merging_is_idempotent_and_the_order_decides_nothing(
    a: Knowledge, b: Knowledge, c: Knowledge
) -> None:
    whole = merge(a, b, c)
    assert whole == merge(c, a, b) == merge(whole, whole)
    assert whole.concepts == merge(merge(b, c), a).concepts
    assert whole.concepts["id"].to_pylist() == sorted(set(whole.concepts["id"].to_pylist()))


def test_the_more_reliable_name_wins_and_the_other_becomes_a_synonym() -> None:
    trusted = ("X:1", "heart failure", "disease", "", "infores:icd10cm")
    other = ("X:1", "cardiac failure", "disease", "", "infores:unknown")
    merged = merge(*(knowledge(concepts=build("concepts", [row])) for row in (other, trusted)))
    assert merged.concepts["name"].to_pylist() == ["heart failure"]
    assert merged.synonyms["text"].to_pylist() == ["cardiac failure"]


def test_parallel_edges_of_two_sources_stay_two() -> None:
    edges = [
        (f"e{n}", "D:1", "TREATS", "X:1", False, "", source, "infores:label", "CC0-1.0", "", "")
        for n, source in enumerate(["infores:a", "infores:b"])
    ]
    one, two = (knowledge(edges=build("edges", [edge])) for edge in edges)
    assert merge(one, two, one).edges.num_rows == 2
