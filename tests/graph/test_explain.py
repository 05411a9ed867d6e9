"""From a question back to the rows and the knowledge behind it."""

from __future__ import annotations

import pytest
from graph_world import HARD

from ehrkg.foundation.errors import UsageError
from ehrkg.graph.explain import explain_template
from ehrkg.graph.store import GraphStore


def test_the_chain_reaches_rows_knowledge_and_links(full: GraphStore) -> None:
    found = explain_template(full, "t1")
    assert [(c.code, c.route, c.row and c.row.row) for c in found.context] == [
        ("DRUGNAME:furosemide", "intravenous", 11),
        ("ICD10CM:I50.23", "", 7),
        ("DRUGNAME:furosemide", "oral", 2**40),
    ]
    answer = found.answer[0]
    assert answer.row is not None
    assert (answer.row.source, answer.row.row, answer.row.raw_code) == (
        "hosp/diagnoses_icd.csv.gz",
        9,
        "N179",
    )
    assert found.claim is not None
    assert (found.claim.verdict, found.claim.predicate) == ("supported", "CAUSES")
    assert [piece.id for piece in found.evidence] == ["v2", "v1", "v3"]
    edge = found.evidence[0].edges[0]
    assert (edge.id, edge.subject_name, edge.predicate, edge.object_name, edge.licence) == (
        "e1",
        "heart failure",
        "CAUSES",
        HARD,
        "CC0-1.0",
    )
    assert [c.id for c in found.evidence[0].cited] == ["MONDO:0005252", "MONDO:0002492"]
    assert [(link.code, link.method) for link in found.links] == [
        ("ICD10CM:I50.23", "tree"),
        ("ICD10CM:I50.23", "xref"),
        ("ICD10CM:N17.9", "sssom"),
    ]


def test_history_is_shown_with_its_first_row(full: GraphStore) -> None:
    history = explain_template(full, "t2").history
    assert [(one.code, one.visit) for one in history] == [("ICD10CM:I50.23", "v1")]


def test_the_text_names_each_step_on_a_line(full: GraphStore) -> None:
    text = explain_template(full, "t1").as_text()
    lines = text.splitlines()
    for begin in (
        "Template t1",
        "Context at visit v1",
        "Answer at visit v2",
        "Relation",
        "Evidence",
        "Links",
    ):
        assert sum(line.startswith(begin) for line in lines) == 1, begin
    assert "hosp/prescriptions.csv.gz row 11, the first of 3 rows" in text
    assert "heart failure causes" in text
    assert max(map(len, lines)) < 600


def test_the_picture_escapes_names(full: GraphStore) -> None:
    html = explain_template(full, "t1")._repr_html_()
    assert "Carrión&#x27;s &quot;disease&quot;" in html
    assert "<script" not in html
    assert HARD not in html


def test_an_unknown_template_is_said_to_be_unknown(full: GraphStore) -> None:
    with pytest.raises(UsageError, match="no template 'nope'"):
        explain_template(full, "nope")
