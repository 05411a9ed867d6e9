"""A report that is passed on tells of no visit, no question, and nothing about few patients."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ehrkg.cli import app
from ehrkg.evaluation.report.gathering import report_of_build
from ehrkg.evaluation.report.page import HERE, render
from ehrkg.evaluation.report.shareable import FEW, LEAST, STEP, held_back
from ehrkg.foundation.errors import InputError
from tests.browser import PHONE, visit
from tests.evaluation.report_world import with_column, with_few, with_model

SENTINEL = "zanzibar quadrille"


class Words(HTMLParser):
    """Everything a page tells: its text, its scripts, and every attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.scripts: list[str] = []
        self.cells: list[str] = []
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.said += [value or "" for _, value in attrs]
        if tag not in ("meta", "link", "br", "input"):
            self._open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.said.append(data)
        tag, kind = self._open[-1] if self._open else ("", "")
        if tag == "script":
            self.scripts.append(data)
        if (tag == "td" and kind == "n") or kind == "value":
            self.cells.append(data.strip())


def told(html: str) -> Words:
    words = Words()
    words.feed(html)
    return words


@pytest.fixture(scope="module")
def data(built_demo):
    return with_model(report_of_build(built_demo / "benchmark"), answered=SENTINEL)


@pytest.fixture(scope="module")
def passed_on(data):
    """The report to pass on, with a sentinel in every stem and in every model's answer."""
    stems = [f"{stem} {SENTINEL}" for stem in data.items["stem"].to_pylist()]
    texts = [SENTINEL] * data.scores.num_rows
    return render(
        replace(
            data,
            items=with_column(data.items, "stem", stems),
            scores=with_column(data.scores, "text", texts),
        ),
        shareable=True,
    )


def test_no_question_no_answer_and_no_id_stands_in_it(data, passed_on):
    words = told(passed_on)
    text = " ".join(words.said)
    assert SENTINEL not in text
    assert [script.strip() for script in words.scripts] == [
        (HERE / "report.js").read_text(encoding="utf-8").strip()
    ]
    for stem in data.items["stem"].to_pylist():
        said = stem.split()
        assert not any(" ".join(said[at : at + 6]) in text for at in range(0, len(said) - 6, 3))
    tokens = set(re.findall(r"[\w.:]+", text))
    for table, column in (
        (data.items, "item_id"),
        (data.templates, "id"),
        (data.templates, "patient"),
        (data.templates, "visit"),
        (data.templates, "cluster"),
        (data.verified.relations, "id"),
        (data.verified.evidence, "id"),
    ):
        assert not tokens & set(table[column].to_pylist())
    assert SENTINEL in render(data)


def test_every_count_in_it_is_eleven_or_more_and_rounded(passed_on):
    cells = told(passed_on).cells
    counts = [int(cell.replace(",", "")) for cell in cells if re.fullmatch(r"[\d,]+", cell)]
    assert len(counts) > 100
    assert not [count for count in counts if count % STEP]
    assert cells.count("<11") > 20
    labels = re.findall(r'aria-label="([^"]*)"', passed_on)
    for label in labels:
        for count in re.findall(r"(?:supported|contradicted|ambiguous|read|used) ([\d,]+)", label):
            assert int(count.replace(",", "")) % STEP == 0


def test_two_builds_that_differ_in_small_counts_give_the_same_file(data):
    few, more = (render(with_few(data, count), shareable=True) for count in (3, 8))
    assert few == more
    for name in ("planted reason: &lt;11", "planted rule", "planted.parquet"):
        assert name in few
    assert "tiny/model" not in few  # a row of few patients would tell that there are some
    whole = render(with_few(data, 3))
    assert "tiny/model" in whole
    assert whole != render(with_few(data, 8))


@given(small=st.integers(0, 10), others=st.lists(st.integers(LEAST, 5000), min_size=1, max_size=5))
def test_no_sum_gives_a_small_count_away(small, others):
    shown = held_back({"all": small + sum(others), "small": small, "others": others})
    assert shown["small"] is FEW
    highest, lowest = sum(shown["others"]), sum(one - STEP + 1 for one in shown["others"])
    possible = [
        one
        for one in range(LEAST)
        if shown["all"] - STEP + 1 - highest <= one <= shown["all"] - lowest
    ]
    assert len(possible) >= 6


def test_what_a_section_gives_is_masked_unless_it_is_known_to_be_safe():
    few = {"patients": 10, "low": 0.1, "deep": [0.2]}
    shown = held_back({"accuracy": 0.5, "row": few, "rows": [few, {"low": 0.1}]})
    masked = {"patients": FEW, "low": None, "deep": [None]}
    assert shown == {"accuracy": None, "row": masked, "rows": [{"low": None}]}
    with pytest.raises(TypeError, match="nobody knows"):
        held_back({"set": {1, 2}})


def test_the_command_writes_it_beside_the_build(built_demo, tmp_path):
    said = CliRunner().invoke(app, ["report", str(built_demo / "benchmark"), "--shareable"])
    written = built_demo / "benchmark-shareable.html"
    assert said.output.strip() == f"Written: {written.resolve()}"
    assert "To be passed on." in written.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="no finished build"):
        CliRunner().invoke(app, ["report", str(tmp_path)], catch_exceptions=False)


def test_it_holds_in_a_browser(browser, passed_on, tmp_path):
    path = tmp_path / "shareable.html"
    path.write_text(passed_on, encoding="utf-8")
    with visit(browser, path.as_uri(), PHONE) as seen:
        assert seen.page.locator("article.question").count() == 0
        seen.assert_sound()
