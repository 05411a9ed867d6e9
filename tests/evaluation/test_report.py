"""The report, in a real browser's hands or none: self-contained, escaped, complete."""

from __future__ import annotations

import re

import pyarrow.parquet as pq


def test_the_report_needs_nothing_from_outside(built_demo):
    html = (built_demo / "benchmark" / "report.html").read_text(encoding="utf-8")
    body = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', body)
    assert '<link rel="stylesheet"' not in body


def test_the_report_shows_counts_that_the_files_hold(built_demo):
    out = built_demo / "benchmark"
    html = (out / "report.html").read_text(encoding="utf-8")
    for name in ("templates", "items"):
        assert f"<b>{pq.read_metadata(out / f'{name}.parquet').num_rows:,}</b>" in html
    for words in ("not bedside diagnosis", "Not reviewed by clinicians", "key source"):
        assert words.lower() in html.lower()


def test_every_sampled_question_shows_its_evidence_as_a_picture(built_demo):
    html = (built_demo / "benchmark" / "report.html").read_text(encoding="utf-8")
    questions = html.count('<article class="question">')
    assert questions >= 10
    assert html.count('class="picture"') - html.count(".picture {") >= questions


def test_names_from_the_data_are_escaped(built_demo):
    from dataclasses import replace

    import pyarrow as pa

    from ehrkg.ehr.schema import CODES
    from ehrkg.evaluation import ReportData
    from ehrkg.evaluation.report.page import render
    from ehrkg.foundation.ledger import Ledger
    from ehrkg.foundation.workspace import load_result

    out = built_demo / "benchmark"
    hospital = load_result(out / ".work" / "read-1")
    codes = [
        row | {"name": "<script>alert('x')</script>" + row["name"]}
        for row in hospital.codes.to_pylist()
    ]
    hospital = replace(hospital, codes=pa.Table.from_pylist(codes, CODES))
    import json

    html = render(
        ReportData(
            json.loads((out / "manifest.json").read_text()),
            Ledger.read(out / "ledger.json"),
            hospital,
            load_result(out / ".work" / "verify"),
            *(pq.read_table(out / f"{name}.parquet") for name in ("templates", "items", "scores")),
        )
    )
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_a_proposers_worth_stands_beside_what_counting_found():
    import pyarrow as pa

    from ehrkg.evaluation.report.sections import proposers

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
    assert round(model["shares"]["contradicted"], 2) == 0.33
    assert model["found"] == ["furosemide — treats — oedema"]
    alone = relations.filter(pa.array([False, False, True, True]))
    assert proposers(alone, {})[0]["beyond_cooccurrence"] is None
