"""Published figures are data with a source, and stand apart from what was measured here."""

from __future__ import annotations

import re

import pytest

from ehrkg.benchmark.schema import ITEMS, TEMPLATES
from ehrkg.ehr import schema as ehr
from ehrkg.evaluation import ReportData
from ehrkg.evaluation.published import LABEL, publications
from ehrkg.evaluation.report.page import render
from ehrkg.evaluation.schema import SCORES
from ehrkg.foundation.ledger import Ledger
from ehrkg.verify import schema as verify


@pytest.fixture(scope="module")
def report() -> str:
    """A report of a build in which nothing was read."""
    manifest = {"settings": {"seed": 7}, "versions": {"ehrkg": "0"}, "consent": ""} | {
        part: {} for part in ("inputs", "outputs", "graph")
    }
    hospital = ehr.Hospital(
        format="mimic4",
        **{
            name: getattr(ehr, name.upper()).empty_table()
            for name in ("patients", "visits", "events", "codes", "visit_codes")
        },
    )
    verified = verify.Verified(
        relations=verify.RELATIONS.empty_table(), evidence=verify.EVIDENCE.empty_table()
    )
    tables = (schema.empty_table() for schema in (TEMPLATES, ITEMS, SCORES))
    html = render(ReportData(manifest, Ledger(), hospital, verified, *tables))
    return re.sub(r"<script>.*?</script>", "", html, flags=re.S)


def test_every_figure_is_plausible_and_named_once():
    for source in publications():
        assert source.identifier
        assert source.url.startswith("https://")
        named = [(figure.measure, figure.group) for figure in source.figures]
        assert len(set(named)) == len(named)
        for figure in source.figures:
            low, high = {"percent": (0, 100), "rank": (1, 100), "share": (0, 1)}[figure.unit]
            assert low <= figure.value <= high
            assert f"{figure.value:g}" in figure.words


def test_the_report_shows_them_in_an_appendix_under_their_label_and_nowhere_else(report):
    body, appendix = report.split('<section id="published"')
    appendix = appendix.split("</section>")[0]
    assert LABEL == "measured on other data"
    assert appendix.count("<table>") == len(publications()) == appendix.count(f", {LABEL}</th>")
    for source in publications():
        assert source.identifier in appendix
        for figure in source.figures:
            assert figure.words in appendix
            assert figure.words not in body
