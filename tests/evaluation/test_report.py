"""The report in a real browser's hands: whole, escaped, readable by anybody, offline."""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ehrkg.evaluation import reliability_of
from ehrkg.evaluation.readers.agreement import Figure, ReaderFigures, ReviewSummary
from ehrkg.evaluation.report import write_report
from ehrkg.evaluation.report.gathering import report_of_build
from ehrkg.evaluation.report.sections.settings_words import as_asked
from ehrkg.evaluation.report.sections.verdicts import proposers
from tests.browser import DESKTOP, PHONE, visit
from tests.evaluation.report_world import HOSTILE, hostile, with_model


@pytest.fixture(scope="module")
def data(built_demo):
    return with_model(report_of_build(built_demo / "benchmark"))


@pytest.fixture(scope="module")
def page(data, tmp_path_factory):
    """The report of the demo, made again from its files, with a model that answered since."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(data, path)
    return path


@pytest.mark.parametrize(
    ("size", "scheme"), [(PHONE, "light"), (DESKTOP, "dark")], ids=["phone", "desktop"]
)
def test_the_report_holds_in_a_browser(browser, page, size, scheme):
    with visit(browser, page.as_uri(), size, scheme=scheme) as seen:
        if size == DESKTOP:
            seen.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        seen.assert_sound()


def test_a_reader_goes_through_the_questions_by_clicks_and_keys(browser, page):
    with visit(browser, page.as_uri(), PHONE) as seen:
        at = seen.page
        shown = at.locator("article.question:visible")
        place, step = at.locator("#place"), at.get_by_role("button", name="Next")
        total = at.locator("article.question").count()
        assert shown.count() == 1
        assert place.inner_text() == f"1 of {total}"
        first = shown.get_attribute("id")
        step.click()
        assert place.inner_text() == f"2 of {total}"
        assert shown.get_attribute("id") != first
        step.press("ArrowLeft")
        assert shown.get_attribute("id") == first
        assert at.get_by_role("button", name="Previous").is_disabled()
        at.locator("#browser").get_by_label("Task").select_option("treatment")
        at.get_by_label("Format").select_option("open-ended")
        count = int(place.inner_text().split()[-1])
        assert 0 < count < total
        for _ in range(count - 1):
            step.click()
        assert step.is_disabled()
        assert shown.get_attribute("data-task") == "treatment"
        at.locator("article.question:visible summary", has_text="picture").click()
        picture = at.locator("article.question:visible .drawing")
        assert picture.locator("svg.narrow").is_visible()
        assert not picture.locator("svg.wide").is_visible()
        assert picture.evaluate("e => e.scrollWidth <= e.clientWidth"), "it scrolls sideways"
        at.evaluate("id => { location.hash = id }", first)
        at.wait_for_function("id => !document.getElementById(id).hidden", arg=first)
        assert shown.count() == 1
        seen.assert_sound()


def test_a_wide_screen_shows_the_picture_from_left_to_right_and_whole(browser, page):
    with visit(browser, page.as_uri(), DESKTOP) as seen:
        at = seen.page
        at.locator("article.question:visible summary", has_text="picture").click()
        picture = at.locator("article.question:visible .drawing")
        assert picture.locator("svg.wide").is_visible()
        assert not picture.locator("svg.narrow").is_visible()
        assert picture.evaluate("e => e.scrollWidth <= e.clientWidth"), "it scrolls sideways"


def test_how_sure_a_model_was_is_drawn_in_bins_and_told(browser, data, page):
    held = data.scores.filter(pc.is_valid(data.scores["probabilities"]))
    bins = reliability_of(as_asked(held), seed=data.seed).to_pylist()
    assert bins
    with visit(browser, page.as_uri(), PHONE) as seen:
        chart = seen.page.locator("#calibration svg[aria-label^='Reliability of test/model']")
        said = chart.first.get_attribute("aria-label")
        for row in bins:
            sure = f"{10 * row['bin']} to {10 * row['bin'] + 10} % sure"
            share = f"{100 * row['accuracy']:.1f} % right"
            assert f"{sure}, {row['items']:,} questions: {share}" in said
        assert chart.first.locator("rect.share").count() == len(bins)


def test_a_review_of_a_few_questions_says_that_it_is_a_part(data):
    from ehrkg.evaluation.report.page import render

    reader = ReaderFigures(1, Figure.share(50, 60), Figure.share(3, 60), {})
    few = ReviewSummary(60, 30, (reader,), {}, Figure.share(3, 60), Figure.share(1, 30), 0, 0)
    part = "This is part of a review"
    html = render(replace(data, review=few))
    assert part in html
    assert "each read by two readers; 30 were" in html
    assert "review of the whole" in html
    whole = replace(few, questions=200, twice=200)
    assert part not in render(replace(data, review=whole))


def test_without_its_script_every_question_is_there(browser, page):
    context = browser.new_context(java_script_enabled=False)
    at = context.new_page()
    at.goto(page.as_uri())
    articles = at.locator("article.question")
    assert articles.count() == at.locator("article.question:visible").count() >= 10
    assert not at.locator("#browser").is_visible()
    for one in ("wide", "narrow"):
        assert at.locator(f".drawing svg.{one}").count() == articles.count()
    context.close()


def test_names_from_the_data_are_text_whatever_they_hold(browser, data, tmp_path):
    write_report(hostile(data), tmp_path / "report.html")
    with visit(browser, (tmp_path / "report.html").as_uri()) as seen:
        seen.assert_quiet()
        seen.assert_fits()
        seen.assert_anchors_resolve()
        assert seen.page.locator("script").count() == 1
        assert seen.page.locator("img").count() == 0
        stem = seen.page.locator("article.question:visible .stem")
        assert stem.evaluate("e => e.textContent") == HOSTILE
        assert "<script>alert" in seen.page.locator("#leaderboard .chart .name").first.inner_text()


def test_the_report_needs_nothing_from_outside(page, built_demo):
    for path in (page, built_demo / "benchmark" / "report.html"):
        html = path.read_text(encoding="utf-8")
        assert not re.findall(r'\s(?:src|href)="(?!#|data:)[^"]*"', html)
        assert not re.findall(r"@import|url\(\s*['\"]?(?!#|data:)\w+:", html)
        assert "default-src 'none'" in html
    assert page.stat().st_size < 2_000_000


def test_the_report_shows_counts_that_the_files_hold(page, built_demo):
    out, html = built_demo / "benchmark", page.read_text()
    for name in ("templates", "items"):
        assert f"<b>{pq.read_metadata(out / f'{name}.parquet').num_rows:,}</b>" in html
    said = ("not bedside diagnosis", "Not reviewed by clinicians", "key source")
    for words in (*said, "test/model (likelihood)", "no training: yes", "Brier", "option order"):
        assert words.lower() in html.lower()


def test_a_section_that_has_nothing_to_say_is_left_out_and_says_why(data):
    from ehrkg.evaluation.report.page import render

    html = render(replace(data, scores=data.scores.slice(0, 0), checks=()))
    assert 'id="leaderboard"' not in html
    assert "no model and no baseline has answered" in html
    assert "ehrkg check DIR makes one" in html


def test_a_proposers_worth_stands_beside_what_counting_found():
    said = [
        (["cooccurrence"], "supported", 0.9),
        (["cooccurrence", "m"], "supported", 0.8),
        (["m"], "supported", 0.7),
        (["m"], "contradicted", 0.0),
    ]
    relations = pa.Table.from_pylist(
        [
            {"id": f"r{at}", "head": f"R{at}", "predicate": "TREATS", "tail": "D", "reasons": []}
            | {"proposers": by, "verdict": verdict, "score": score}
            for at, (by, verdict, score) in enumerate(said)
        ]
    )
    counted, model = proposers(relations, {"R2": "furosemide", "D": "oedema"})
    assert counted["beyond_cooccurrence"] is None
    assert (model["proposed"], model["beyond_cooccurrence"]) == (3, 2)
    assert model["beyond_cooccurrence_supported"] == 1
    assert model["contradicted"] == 1
    assert model["found"] == ["furosemide — treats — oedema"]
    alone = relations.filter(pa.array([False, False, True, True]))
    assert proposers(alone, {})[0]["beyond_cooccurrence"] is None
