"""Settings are judged before anything is read, and secrets are never repeated."""

from __future__ import annotations

import pytest

import ehrkg
from ehrkg.session.extracts import extracts_of


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"tasks": ("surgery",)}, "no such task: surgery"),
        ({"formats": ("mcq9",)}, "no such format: mcq9"),
        ({"strategies": ("clever",)}, "no such strategy: clever"),
    ],
)
def test_unknown_names_are_refused(wrong, said):
    with pytest.raises(ehrkg.UsageError, match=said):
        ehrkg.Settings(**wrong)


def test_a_password_in_an_address_is_refused_and_not_repeated():
    with pytest.raises(ehrkg.UsageError) as caught:
        ehrkg.Settings(graph="neo4j://me:hunter2@host:7687")
    assert "hunter2" not in str(caught.value)


def test_files_of_one_name_are_two_inputs(tmp_path):
    from ehrkg.ehr import synth

    synth.write(tmp_path / "tables", patients=20, seed=1)
    for folder, text in (("a", "one"), ("b", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "edges.tsv").write_text(text)
    named = tuple(str(tmp_path / folder / "edges.tsv") for folder in "ab")
    settings = ehrkg.Settings(knowledge=named)
    hashes = extracts_of(tmp_path / "tables", settings).inputs
    assert hashes["knowledge/1/edges.tsv"] != hashes["knowledge/2/edges.tsv"]
    assert "tables/hosp/admissions.csv.gz" in hashes
    (tmp_path / "tables" / "hosp" / "labevents.csv.gz").write_bytes(b"not read")
    assert extracts_of(tmp_path / "tables", settings).inputs == hashes
