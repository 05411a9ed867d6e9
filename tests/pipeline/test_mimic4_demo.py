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


KNOWLEDGE = """
MATCH (t:Template)-[:ASSERTS]->(r:Relation)-[b:BACKED_BY]->(e:Evidence)-[:CITES]->(:Concept)
WHERE r.verdict = 'supported' AND b.polarity = 'supports' AND e.kind = 'path'
RETURN DISTINCT t.id AS template
"""
ROWS = """
MATCH (t:Template)-[:TARGET]->(v:Visit)-[d:DIAGNOSED|PRESCRIBED|PERFORMED]->(c:Code)
MATCH (t)-[:ANSWER]->(c)
WHERE d.source <> '' AND d.row > 0
RETURN DISTINCT t.id AS template
"""


def test_every_question_can_be_traced_to_knowledge_and_to_rows(built_mimic4):
    """Plain Cypher over all of them, and the command's own chain for every thirtieth."""
    items = pq.read_table(built_mimic4 / "items.parquet")
    asked = sorted(set(items["template_id"].to_pylist()))
    with ehrkg.open(built_mimic4 / "graph.lbug", read_only=True) as kg:
        for query in (KNOWLEDGE, ROWS):
            traced = set(kg.query(query)["template"].to_pylist())
            assert set(asked) <= traced
        for template in asked[::30]:
            text = kg.explain(template).as_text()
            assert "csv.gz" in text, template
            assert "infores:" in text, template
