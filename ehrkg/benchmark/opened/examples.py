"""A benchmark of a few made-up questions, to try things on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ehrkg.benchmark.schema import ITEMS, TEMPLATES

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

_PAIRS = (
    ("type 2 diabetes mellitus", "ICD10CM:E11.9", "metformin by mouth", "DRUGNAME:metformin"),
    ("hypothyroidism", "ICD10CM:E03.9", "levothyroxine by mouth", "DRUGNAME:levothyroxine"),
    ("gout", "ICD10CM:M10.9", "allopurinol by mouth", "DRUGNAME:allopurinol"),
    ("epilepsy", "ICD10CM:G40.909", "levetiracetam by mouth", "DRUGNAME:levetiracetam"),
)
_SPLITS = ("train", "dev", "test")


def example() -> Benchmark:
    """A small benchmark in memory: six patients, four relations, two questions a template.

    >>> example()
    <Benchmark: 12 templates, 4 relations, 6 patients, effective size 6.0; 24 items>
    """
    from ehrkg.benchmark.opened.benchmark import Benchmark

    templates = [_template(number) for number in range(12)]
    items = [item for number in range(12) for item in _items(number, templates[number])]
    return Benchmark(pa.Table.from_pylist(items, ITEMS), pa.Table.from_pylist(templates, TEMPLATES))


def _template(number: int) -> dict[str, Any]:
    patient, pair = number // 2, number % 4
    _problem, head, _drug, answer = _PAIRS[pair]
    return {
        "id": f"t{number:02d}",
        "task": "treatment",
        "patient": str(patient),
        "visit": f"{patient}-1",
        "target_visit": f"{patient}-1",
        "context": [head, "ICD10CM:I10"],
        "context_routes": ["", ""],
        "anchor_position": 0,
        "history": [],
        "answer": [answer],
        "answer_route": "oral",
        "answer_concept": "",
        "relation": f"r{pair}",
        "predicate": "TREATS",
        "cluster": f"c{patient}",
        "split": _SPLITS[patient % 3],
        "age": 50 + patient,
        "age_band": "40-64",
        "sex": "FM"[patient % 2],
        "visit_kind": "URGENT",
        "icd_version": "10",
        "timing": "timestamped",
        "n_context": 2,
        "n_related": 1,
        "score": round(0.8 + 0.05 * pair, 2),
        "sole_indication": True,
        "flags": [],
    }


def _items(number: int, template: dict[str, Any]) -> list[dict[str, Any]]:
    problem, _head, drug, code = _PAIRS[number % 4]
    woman = "woman" if template["sex"] == "F" else "man"
    told = f"A {template['age']}-year-old {woman} has {problem} and essential hypertension."
    shared = {
        "template_id": template["id"],
        "relation_id": template["relation"],
        "phrasing": 0,
        "history": 0,
        "answer": [drug],
        "seed": 7,
        **{
            name: template[name]
            for name in ("cluster", "task", "split", "timing", "n_related", "flags")
        },
    }
    return [
        shared
        | {
            "item_id": f"{template['id']}.mcq4.frequency.p0.h0.s7",
            "format": "mcq",
            "n_options": 4,
            "strategy": "frequency",
            "stem": f"{told} Which drug was ordered, and is indicated for {problem}?",
            "options": [pair[2] for pair in _PAIRS],
            "option_codes": [pair[3] for pair in _PAIRS],
            "distractor_reasons": [
                "answer" if pair[2] == drug else "as frequent as the answer" for pair in _PAIRS
            ],
            "answer_index": number % 4,
            "accepted_codes": [],
        },
        shared
        | {
            "item_id": f"{template['id']}.oeq.open.p0.h0.s7",
            "format": "oeq",
            "n_options": 0,
            "strategy": "",
            "stem": f"{told} Name a drug that was ordered, and is indicated for {problem}.",
            "options": [],
            "option_codes": [],
            "distractor_reasons": [],
            "answer_index": -1,
            "accepted_codes": [code],
        },
    ]
