"""``ehrkg view --relations``: verdicts to look at, and labels by readers who did not see them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from ehrkg.benchmark.opened.reviews import RELATION
from ehrkg.benchmark.opened.source import Source
from ehrkg.evaluation.readers.relation_agreement import relation_summary
from ehrkg.session.pair_files import read_pairs
from ehrkg.session.view import modes
from ehrkg.session.view.application import application
from ehrkg.session.view.command import relation_lines
from ehrkg.session.view.evidence import Evidence
from ehrkg.session.view.guard import Guard, Secrets
from ehrkg.session.view.sampling import draw_relations, sample
from tests.browser import PHONE, visit
from tests.session.test_reading import copied
from tests.session.test_view import viewing


@pytest.fixture
def out(built_demo: Path, tmp_path: Path) -> Path:
    return copied(built_demo / "benchmark", tmp_path / "out")


@pytest.fixture(scope="module")
def served(built_demo: Path) -> Iterator[str]:
    with viewing(built_demo / "benchmark", "--relations") as (address, _):
        yield address


def reader_of(out: Path, name: str, n: int | None = None) -> TestClient:
    routes = modes.relations_blind(out, Evidence(out), name, n, 7, "f")
    guard = Guard(application(routes), host="127.0.0.1", port=80, kept=Secrets("", form="f"))
    return TestClient(guard, base_url="http://127.0.0.1", follow_redirects=False)


def judge(client: TestClient, answer: str) -> str:
    """Judge the next relation; its id."""
    found = re.search(r'name="id" value="([^"]+)"', client.get("/").text)
    assert found
    form = {"form": "f", "id": found[1], "answer": answer}
    assert client.post("/said/answer", data=form).status_code == 303
    return found[1]


def test_verdicts_get_as_many_each_and_predicates_take_turns(out):
    relations = pq.read_table(out / "relations.parquet").to_pylist()
    source = Source(out / "items.parquet", out / "templates.parquet", {})
    drawn = draw_relations(source, out / "relations.parquet", 40, seed=7)
    rows = {row["id"]: row for row in relations}
    there = Counter(row["verdict"] for row in relations)
    chosen = Counter(rows[name]["verdict"] for name in drawn)
    assert sum(chosen.values()) == len(set(drawn)) == 40
    plenty = [chosen[verdict] for verdict, many in there.items() if many > 40]
    assert max(plenty) - min(plenty) <= 1
    predicates = {row["predicate"] for row in relations if row["verdict"] == "unsupported"}
    found = {rows[name]["predicate"] for name in drawn if rows[name]["verdict"] == "unsupported"}
    assert len(found) == min(len(predicates), chosen["unsupported"])


def test_neither_verdict_nor_evidence_shows_before_the_answer(out):
    client = reader_of(out, "A", 5)
    text = client.get("/").text
    name = re.search(r'name="id" value="([^"]+)"', text)
    assert name
    row = next(
        one for one in pq.read_table(out / "relations.parquet").to_pylist() if one["id"] == name[1]
    )
    assert row["head"] in text
    for told in (row["verdict"], "score", *row["reasons"], *row["proposers"]):
        assert told not in text
    assert client.get("/key/1").status_code == 403
    judge(client, "unsure")
    assert row["verdict"] in client.get("/key/1").text


def test_judgements_become_labels_that_verify_reads(out):
    first, second = reader_of(out, "A", 6), reader_of(out, "B")
    ids = [judge(first, word) for word in ("true", "true", "false", "unsure", "false", "true")]
    for word in ("true", "false", "false", "true", "unsure"):
        judge(second, word)
    found = relation_summary(out)
    assert found is not None
    assert (found.relations, found.twice, found.disputed) == (6, 5, 1)
    labels = dict(zip(ids, ("true", "", "false", "true", "false", "true"), strict=True))
    rows = {row["id"]: row for row in pq.read_table(out / "relations.parquet").to_pylist()}
    expected = sorted(
        (rows[name]["head"], rows[name]["predicate"], rows[name]["tail"], label)
        for name, label in labels.items()
        if label
    )
    lines = relation_lines(out)
    assert lines[0] == "(reader 1 is A; reader 2 is B)"
    assert any("whether it is true: agreement 40.0 %" in line for line in lines)
    pairs = read_pairs(out / "review" / "labels.tsv")
    assert not len(pairs.broken)
    told = pairs.table.select(["head", "predicate", "tail", "label"]).to_pylist()
    assert sorted(tuple(row.values()) for row in told) == expected
    assert sum(one.n for one in found.verdicts.values()) == len(expected)
    assert set(found.verdicts) <= {rows[name]["verdict"] for name in ids}


def test_what_was_drawn_is_the_same_for_all(out):
    source = Source(out / "items.parquet", out / "templates.parquet", {})
    assert sample(out, source, RELATION, n=7) == sample(out, source, RELATION, seed=3)


def test_relations_are_found_and_followed_to_their_evidence(browser, served, built_demo):
    with visit(browser, served) as seen:
        page = seen.page
        page.get_by_label("verdict").select_option("supported")
        page.get_by_label("predicate").select_option("TREATS")
        page.get_by_role("button", name="Show").click()
        relations = pq.read_table(built_demo / "benchmark" / "relations.parquet").to_pylist()
        many = sum(
            row["verdict"] == "supported" and row["predicate"] == "TREATS" for row in relations
        )
        assert page.get_by_role("heading", level=1).inner_text() == f"{many:,} relations"
        seen.assert_sound()
        page.locator(".list a").first.click()
        assert page.locator(".evidence > li.supports").count()
        seen.assert_sound()
    with visit(browser, f"{served}?text=heart+failure", PHONE) as seen:
        assert "failure" in seen.page.locator(".list a").first.inner_text().lower()
        seen.assert_sound()
