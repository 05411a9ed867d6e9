"""A user's file of pairs: read as it is, answered row by row, never written over."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import ehrkg
from ehrkg.cli import app
from ehrkg.graph import open_store
from ehrkg.graph.writers import write_knowledge, write_relations
from ehrkg.session.pair_files import read_pairs, write_broken
from ehrkg.session.pairs import as_pairs, beside_rows, verify_table
from ehrkg.session.tsv import write_tsv
from ehrkg.verify import verify

HEAD = "id\thead\tpredicate\ttail\tnote\n"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_rows_keep_their_order_their_number_and_their_columns(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(
        HEAD + "1\twarfarin\ttreats\tatrial fibrillation\tx\n2\tO'Brien's \"x\"\tTREATS\tgout\t\n"
        "3\twarfarin\tTREATS\tatrial fibrillation\ty, z\n"
    )
    table = read_pairs(path).table
    write_tsv(beside_rows(table, verify_table(table, None)), tmp_path / "out.tsv")
    rows = rows_of(tmp_path / "out.tsv")
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
        (HEAD.encode() + b"1\ta\tCURES\tb\tc\n", 2, "known predicate(?s:.*)TREATS"),
        (b"id\thead\thead\tpredicate\ttail\n", 1, "two columns have one name"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, data, line, said):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(data)
    with pytest.raises(ehrkg.InputError, match=said) as caught:
        read_pairs(path)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"head,predicate,tail\na,TREATS,b\n", "column head: the column is missing"),
        (b"head\tpredicate\na\tTREATS\n", "column tail: the column is missing"),
    ],
)
def test_a_file_that_is_no_table_of_pairs_says_what_is_missing(tmp_path, data, said):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(data)
    with pytest.raises(ehrkg.InputError, match=said) as caught:
        read_pairs(path)
    assert caught.value.file == path


def test_a_quote_that_never_closes_is_a_character(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"\xef\xbb\xbfhead\tpredicate\ttail\r\n" + b'"lone\tTREATS\tgout\r\n' * 3)
    assert read_pairs(path).table["head"].to_pylist() == ['"lone'] * 3


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20))
def test_what_a_csv_writer_quotes_comes_back(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerows([["head", "predicate", "tail"], [text, "TREATS", "gout"]])
    assert read_pairs(path).table["head"].to_pylist() == [text]


BROKEN_ROWS = {
    7: (b"warfarin\tTREATS\n", "columns"),
    9: (b"warfarin\tTREATS\tgout\tand more\n", "columns"),
    100: (b"warf\xe9rin\tTREATS\tgout\n", "not_utf8"),
    200: (b"warfarin\tCURES\tgout\n", "unknown_predicate"),
    5_000: (b"warfarin TREATS gout\n", "columns"),
    6_000: (b"warfarin\t\tgout\n", "unknown_predicate"),
    7_000: (b"\xff\xfe\n", "not_utf8"),
    8_000: (b"a\tb\tc\td\te\n", "columns"),
    99_999: (b"warfarin\tSUBCLASS_OF\tgout\n", "unknown_predicate"),
    150_000: (b"one\n", "columns"),
}


def test_ten_broken_rows_of_many_are_set_apart_and_the_others_read(tmp_path):
    lines = [b'drug %d\tTREATS\tdisease, or "%d"\n' % (i, i) for i in range(200_000)]
    for line, (row, _) in BROKEN_ROWS.items():
        lines[line - 2] = row
    path = tmp_path / "pairs.tsv"
    path.write_bytes(b"head\tpredicate\ttail\n" + b"".join(lines))
    file = read_pairs(path)
    assert len(file.table) == 199_990
    assert file.table["tail"][0].as_py() == 'disease, or "0"'
    assert {row["line"]: row["reason"] for row in file.broken.to_pylist()} == {
        line: reason for line, (_, reason) in BROKEN_ROWS.items()
    }
    said = file.complaint()
    assert said.startswith("10 rows could not be used: 5 with another number of columns")
    assert "line 7" in said
    assert "TREATS" in said
    place = write_broken(file, tmp_path / "verdicts.tsv")
    assert [int(row["line"]) for row in rows_of(place)] == sorted(BROKEN_ROWS)
    assert write_broken(read_pairs(_good(tmp_path)), tmp_path / "verdicts.tsv") is None
    assert not place.exists()


def _good(folder: Path) -> Path:
    path = folder / "good.tsv"
    path.write_text("head\tpredicate\ttail\nwarfarin\tTREATS\tgout\n")
    return path


def test_in_python_a_file_with_broken_rows_is_complained_of(tmp_path):
    path = _good(tmp_path)
    assert as_pairs(path).num_rows == 1
    path.write_text(path.read_text() + "warfarin\tTREATS\n")
    with pytest.raises(ehrkg.InputError, match="1 rows could not be used"):
        as_pairs(path)


def test_the_command_explains_each_part_and_keeps_what_it_could_not_use(tmp_path):
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "verdicts.tsv"
    pairs.write_text(
        "head\tpredicate\ttail\twho\n"
        "warfarin\tTREATS\tatrial fibrillation\tme\n"
        "warfarin\tTREATS\tno such thing\tme\n"
        "warfarin\tCURES\tgout\tme\n"
    )
    done = CliRunner().invoke(app, ["verify", str(pairs), "--out", str(out), "--explain"])
    assert done.exit_code == 0, done.output
    for words in (
        "warfarin TREATS atrial fibrillation",
        "supported, score",
        "(paths 0.",
        "definitions 0.",
        "coding rules 0.",
        "against 0.",
        "paths:",
        "definitions:",
        "coding rules: none",
        "statistics (shown, never counted): none",
        "unlinked: tail",
        "1 rows could not be used: 1 with an unknown predicate",
        "known predicates are",
    ):
        assert words in done.output
    assert [row["who"] for row in rows_of(out)] == ["me", "me"]
    (broken,) = rows_of(tmp_path / "verdicts.quarantine.tsv")
    assert (broken["line"], broken["reason"]) == ("4", "unknown_predicate")
    evidence = rows_of(tmp_path / "verdicts.evidence.tsv")
    assert {"path"} <= {row["kind"] for row in evidence}
    assert all(row["source"] for row in evidence)


def test_a_table_of_nothing_is_written_with_its_columns(tmp_path):
    table = pa.table({"head": pa.array([], pa.string()), "n": pa.array([], pa.list_(pa.string()))})
    write_tsv(table, tmp_path / "empty.tsv")
    assert (tmp_path / "empty.tsv").read_text() == "head\tn\n"


def test_cells_hold_no_tabs_and_no_line_ends(tmp_path):
    table = pa.table(
        {"a": ["x\ty", None, "z\nw"], "b": [["1", "2"], [], None], "c": [1.0, 0.5, None]}
    )
    write_tsv(table, tmp_path / "t.tsv")
    assert (tmp_path / "t.tsv").read_text() == "a\tb\tc\nx y\t1; 2\t1.0\n\t\t0.5\nz w\t\t\n"


def test_what_the_graphs_hospital_counted_is_shown_and_weighs_nothing(tmp_path):
    """Asked of a graph, a pair's counts stand beside its verdict, by route where none is named."""
    knowledge = tiny.knowledge(
        [tiny.edge("D:one", "CAUSES", "M:two")], [("D:one", "one", "drug", "")]
    )
    codes = ["ICD10CM:I10", "ICD10CM:I50"]
    claims = tiny.candidates(
        [
            tiny.candidate("DRUGNAME:one", "CAUSES", "ICD10CM:I50", route=route, within=many)
            for route, many in (("oral", 40), ("intravenous", 9))
        ]
    )
    links = tiny.links([tiny.link("DRUGNAME:one", "D:one"), tiny.link("ICD10CM:I50", "M:two")])
    found = verify(claims, links, knowledge, policy=tiny.QUIET)
    with open_store(tmp_path / "g.lbug") as store:
        write_knowledge(store, knowledge)
        write_relations(store, found.relations, found.evidence)
    pairs = pa.table({"head": ["DRUGNAME:one"] * 2, "predicate": ["CAUSES"] * 2, "tail": codes})
    told = verify_table(pairs, tmp_path / "g.lbug")
    shown = [row for row in told.evidence.to_pylist() if row["kind"] == "statistic"]
    assert sorted(row["text"].split(" (")[0] for row in shown) == [
        "intravenous: seen together in 9 visits of 9 patients",
        "oral: seen together in 40 visits of 40 patients",
    ]
    assert {row["polarity"] for row in shown} == {"neutral"}
    assert {row["verdict"] for row in told.relations.to_pylist()} == {"unsupported"}
    assert {row["score"] for row in told.relations.to_pylist()} == {0.0}
    assert sorted(told.relations["n_statistic"].to_pylist()) == [0, 1]
