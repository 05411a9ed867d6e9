"""The MIMIC-IV demo, unchanged: enough questions, all of them traceable, the same bytes again."""

from __future__ import annotations

from collections import Counter

import pyarrow.parquet as pq

import ehrkg


def test_templates_by_task_and_patients(built_mimic4):
    templates = pq.read_table(built_mimic4 / "templates.parquet")
    counts = Counter(templates["task"].to_pylist())
    assert templates.num_rows >= 300
    assert min(counts[task] for task in ("diagnosis", "treatment", "prognosis")) >= 40
    assert len(set(templates["cluster"].to_pylist())) >= 40


def test_every_question_can_be_traced(built_mimic4):
    items = pq.read_table(built_mimic4 / "items.parquet")
    with ehrkg.open(built_mimic4 / "graph.lbug", read_only=True) as kg:
        for template in sorted(set(items["template_id"].to_pylist())):
            text = kg.explain(template).as_text()
            assert "csv.gz" in text, template
            assert "infores:" in text, template
