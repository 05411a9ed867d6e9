"""Counting is exact: every number agrees with a plain enumeration of visits."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger
from ehrkg.propose import Cooccurrence, counting
from ehrkg.propose.chance import at_least
from ehrkg.propose.counting import count_pairs
from tests.propose.worlds import KINDS, hospital


def backwards(table: pa.Table) -> pa.Table:
    return table.take(pa.array(range(table.num_rows - 1, -1, -1), pa.int64()))


code = st.sampled_from(["D1", "D2", "D3", "R1@oral", "R1@intravenous", "R2@oral", "P1"])
histories = st.lists(
    st.lists(st.sets(code, max_size=5), min_size=1, max_size=4), min_size=1, max_size=6
)


def enumerate_pairs(patients: list[list[set[str]]], head_kind: str, tail_kind: str):
    within, across, seen_in = Counter(), Counter(), {}
    for p, stays in enumerate(patients):
        for i, stay in enumerate(stays):
            heads = {c for c in stay if KINDS[c[0]] == head_kind}
            for head in heads:
                for tail in {c.partition("@")[0] for c in stay if KINDS[c[0]] == tail_kind}:
                    if head.partition("@")[0] != tail:
                        within[head, tail] += 1
                        seen_in.setdefault((head, tail), set()).add(p)
                if i + 1 < len(stays):
                    fresh = {c.partition("@")[0] for c in stays[i + 1] if KINDS[c[0]] == tail_kind}
                    fresh -= {c.partition("@")[0] for c in stay}
                    for tail in fresh - {head.partition("@")[0]}:
                        across[head, tail] += 1
                        seen_in.setdefault((head, tail), set()).add(p)
    return within, across, {pair: len(who) for pair, who in seen_in.items()}


@pytest.mark.parametrize(
    ("head_kind", "tail_kind"), [("diagnosis", "diagnosis"), ("drug", "diagnosis")]
)
@settings(max_examples=15, deadline=None)
@given(patients=histories)
def test_counts_equal_a_plain_enumeration(head_kind, tail_kind, patients):
    counts = count_pairs(hospital(patients), head_kind=head_kind, tail_kind=tail_kind).pairs
    within, across, patients_with = enumerate_pairs(patients, head_kind, tail_kind)
    got = {
        (row["head"] + (f"@{row['route']}" if row["route"] else ""), row["tail"]): row
        for row in counts.to_pylist()
    }
    assert set(got) == set(within) | set(across)
    for pair, row in got.items():
        assert row["n_within"] == within[pair]
        assert row["n_across"] == across[pair]
        assert row["n_patients"] == patients_with[pair]


@settings(max_examples=5, deadline=None)
@given(patients=histories)
def test_an_engine_counts_the_same(patients):
    told, con = hospital(patients), ibis.duckdb.connect()
    for head_kind in ("diagnosis", "drug"):
        kinds = {"head_kind": head_kind, "tail_kind": "diagnosis"}
        assert count_pairs(told, **kinds, con=con).pairs.equals(count_pairs(told, **kinds).pairs)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 10**5).flatmap(
        lambda m: st.tuples(st.just(m), st.integers(1, m), st.integers(1, m))
    ),
    st.floats(0, 1),
)
def test_p_is_that_of_the_hypergeometric_distribution(margins, part):
    places, head, tail = margins
    n = max(1, round(part * min(head, tail)))
    counts = (np.array([each]) for each in (n, head, tail, places))
    assert at_least(*counts) == pytest.approx(hypergeom.sf(n - 1, places, head, tail), abs=1e-7)


@pytest.mark.parametrize("head_kind", ["diagnosis", "drug"])
def test_pieces_leave_no_trace(head_kind, monkeypatch):
    stay = [{"D1", "D2", "D3", "R1@oral", "R2@oral"}, {"D2", "D3", "R1@intravenous", "P1"}]
    told = hospital([stay, stay[::-1], stay * 2])
    whole = count_pairs(told, head_kind=head_kind, tail_kind="diagnosis").pairs
    monkeypatch.setattr(counting, "PIECE", 2)
    pieces = count_pairs(told, head_kind=head_kind, tail_kind="diagnosis").pairs
    assert whole.num_rows > 3
    assert pieces.equals(whole)


def margins_across(patients: list[list[set[str]]], head: str, tail: str) -> tuple[int, ...]:
    """Of one pair, over the consecutive visits whose earlier one lacks the tail."""
    steps = [
        (before, {c.partition("@")[0] for c in after})
        for stays in patients
        for before, after in pairwise(stays)
        if tail not in {c.partition("@")[0] for c in before}
    ]
    hits = sum(head in before and tail in after for before, after in steps)
    return hits, sum(head in b for b, _ in steps), sum(tail in a for _, a in steps), len(steps)


@pytest.mark.parametrize(
    ("head_kind", "tail_kind"), [("diagnosis", "diagnosis"), ("drug", "diagnosis")]
)
@settings(max_examples=15, deadline=None)
@given(patients=histories)
def test_margins_across_visits_leave_out_where_the_tail_is_held(head_kind, tail_kind, patients):
    counts = count_pairs(hospital(patients), head_kind=head_kind, tail_kind=tail_kind)
    margins = zip(*(column.tolist() for column in counts.margins("next")), strict=True)
    for row, found in zip(counts.pairs.to_pylist(), margins, strict=True):
        head = row["head"] + (f"@{row['route']}" if row["route"] else "")
        assert found == margins_across(patients, head, row["tail"])


@settings(max_examples=10, deadline=None)
@given(patients=histories)
def test_order_of_rows_decides_nothing(patients):
    straight = hospital(patients)
    turned = Hospital(
        "test",
        straight.patients,
        backwards(straight.visits),
        straight.events,
        straight.codes,
        backwards(straight.visit_codes),
    )
    assert (
        Cooccurrence(min_within=1)
        .propose(straight)
        .equals(Cooccurrence(min_within=1).propose(turned))
    )


def test_lift_and_p_agree_with_fisher_and_ledger_balances():
    from scipy.stats import fisher_exact

    patients = [[{"D1", "R1@oral"}]] * 8 + [[{"D1"}]] * 2 + [[{"R1@oral"}]] * 1 + [[{"D2"}]] * 9
    ledger = Ledger()
    table = Cooccurrence().propose(hospital(patients), tasks=["treatment"], ledger=ledger)
    (row,) = table.to_pylist()
    assert (row["head"], row["route"], row["predicate"], row["tail"]) == (
        "R1",
        "oral",
        "TREATS",
        "D1",
    )
    assert (row["n_within"], row["n_head"], row["n_tail"]) == (8, 9, 10)
    assert row["lift"] == round((8 + 1) / (9 * 10 / 20 + 1), 4)
    assert row["p_value"] == round(fisher_exact([[8, 1], [2, 9]], alternative="greater").pvalue, 6)
    (entry,) = ledger
    assert entry.rows_in == entry.rows_out + sum(entry.dropped.values())


def test_a_code_copied_forward_is_no_prognosis():
    chronic = [[{"D1", "D2"}, {"D1", "D2"}]] * 5
    table = Cooccurrence(min_lift=0.0).propose(hospital(chronic), tasks=["prognosis"])
    assert table.num_rows == 0


def test_a_span_is_judged_by_its_own_numbers():
    """Strong within visits, and once from a visit to the next, as chance would have it."""
    together = [[{"D1", "D2"}]] * 6 + [[{"D3"}]] * 10
    after = [[{"D1"}, {"D2"}], [{"D3"}, {"D2"}], [{"D3"}, {"D2"}], [{"D1"}, {"D3"}]]
    table = Cooccurrence().propose(hospital(together + after))
    (row,) = (
        one
        for one in table.to_pylist()
        if (one["head"], one["predicate"], one["tail"]) == ("D1", "CAUSES", "D2")
    )
    assert (row["n_within"], row["n_across"]) == (6, 1)
    assert row["tasks"] == ["diagnosis"]
    only = Cooccurrence().propose(hospital(together + after), tasks=["diagnosis"])
    (same,) = (one for one in only.to_pylist() if one["id"] == row["id"])
    assert (row["lift"], row["p_value"]) == (same["lift"], same["p_value"])


def test_a_tail_that_is_held_already_does_not_count_against_a_head():
    """Three of three who lacked the tail got it after the head, whoever had it before."""
    patients = [[{"D1"}, {"D2"}]] * 3 + [[{"D3"}, {"D3"}]] * 3
    chronic = [[{"D1", "D2"}, {"D1", "D2"}]] * 20
    rows = [
        {
            one["id"]: one
            for one in Cooccurrence().propose(hospital(who), tasks=["prognosis"]).to_pylist()
        }
        for who in (patients, patients + chronic)
    ]
    (key,) = (
        k for k, one in rows[0].items() if (one["predicate"], one["tail"]) == ("CAUSES", "D2")
    )
    assert [one[key]["lift"] for one in rows] == [round((3 + 1) / (3 * 3 / 6 + 1), 4)] * 2
    assert [one[key]["p_value"] for one in rows] == [0.05] * 2


def test_unknown_task_is_named():
    with pytest.raises(UsageError, match="no such task: surgery"):
        Cooccurrence().propose(hospital([[{"D1"}]]), tasks=["surgery"])
