"""Folding tables: sorted once, no two rows alike, however large they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ehrkg import ontology
from ehrkg.ontology import sql
from ehrkg.ontology.tables import SORT_KEYS, build, distinct, is_folded

WORD = st.sampled_from(["", "A:1", "A:10", "a", "é", "Z\u00e9", "\U0001f600"])
NAMES = ("concept", "text", "scope", "source")
ROWS = st.lists(st.tuples(WORD, WORD, WORD, WORD), max_size=12)


def table(rows: list[tuple[str, str, str, str]]) -> pa.Table:
    names = ("concept", "text", "scope", "source")
    return pa.table(
        {n: pa.array([row[i] for row in rows], pa.string()) for i, n in enumerate(names)}
    )


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_distinct_rows_are_the_set_of_rows_in_the_order_of_their_key(
    rows: list[tuple[str, str, str, str]],
) -> None:
    places = [NAMES.index(n) for n in SORT_KEYS["synonyms"]]
    wanted = sorted(set(rows), key=lambda row: [row[place].encode() for place in places])
    folded = distinct("synonyms", table(rows))
    assert [tuple(row.values()) for row in folded.to_pylist()] == wanted
    assert is_folded("synonyms", folded)
    assert is_folded("synonyms", table(rows)) == (rows == wanted)


def test_rows_in_several_chunks_are_compared_across_them() -> None:
    one, two = (
        build("concepts", [("A:1", "a", "", "", "s")]),
        build("concepts", [("A:2", "b", "", "", "s")]),
    )
    assert is_folded("concepts", pa.concat_tables([one, two]))
    assert not is_folded("concepts", pa.concat_tables([two, one]))
    assert not is_folded("concepts", pa.concat_tables([one, one]))


def test_large_tables_fold_on_disk_as_small_ones_do_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "".join(
        f"A:{n % 7}\tbiolink:Disease\tname {n % 5}\tsyn {n}|syn {n % 3}\tB:{n % 4}\n"
        for n in range(40)
    )
    edges = "".join(f"A:{n % 9}\tbiolink:treats\tA:{n % 6}\tref {n % 11}\n" for n in range(60))
    (tmp_path / "nodes.tsv").write_text("id\tcategory\tname\tsynonym\txref\n" + lines)
    (tmp_path / "edges.tsv").write_text("subject\tpredicate\tobject\tprovenance\n" + edges)
    small = ontology.load(tmp_path)
    monkeypatch.setattr(sql, "LARGE", 1)
    monkeypatch.setattr(sql, "SMALL", 1)
    assert ontology.load(tmp_path) == small == ontology.merge(small, small)
