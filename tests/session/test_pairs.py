"""A user's file of pairs: read as it is, answered row by row, never written over."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ehrkg
from ehrkg.session.pairs import beside_rows, read_pairs, verify_table, write_verdicts

HEAD = "id\thead\tpredicate\ttail\tnote\n"


def test_rows_keep_their_order_their_number_and_their_columns(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(
        HEAD + "1\twarfarin\ttreats\tatrial fibrillation\tx\n2\tO'Brien's \"x\"\tTREATS\tgout\t\n"
        "3\twarfarin\tTREATS\tatrial fibrillation\ty, z\n"
    )
    table = read_pairs(path)
    write_verdicts(
        beside_rows(table, verify_table(table, None)), table.column_names, tmp_path / "out.tsv"
    )
    with (tmp_path / "out.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert [row["note"] for row in rows] == ["x", "", "y, z"]
    assert [row["verdict"] for row in rows] == ["supported", "unsupported", "supported"]
    assert rows[1]["head"] == "O'Brien's \"x\""


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (HEAD.encode() + b"1\ta\tTREATS\tb\n", 2, "another number of columns"),
        (
            (HEAD + "1\tM").encode() + "énière".encode("latin-1") + b"\tTREATS\tb\tc\n",
            2,
            "not UTF-8",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, data, line, said):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(data)
    with pytest.raises(ehrkg.InputError, match=said) as caught:
        read_pairs(path)
    assert caught.value.line == line


def test_a_quote_that_never_closes_is_a_character(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"\xef\xbb\xbfhead\tpredicate\ttail\r\n" + b'"lone\tTREATS\tgout\r\n' * 3)
    assert read_pairs(path)["head"].to_pylist() == ['"lone'] * 3


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20))
def test_what_a_csv_writer_quotes_comes_back(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerows([["head", "x"], [text, "1"]])
    assert read_pairs(path)["head"].to_pylist() == [text]
