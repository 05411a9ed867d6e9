"""Answers in, scores out: one row a (model, setting, item)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ehrkg.evaluation.baselines import Baseline
from ehrkg.evaluation.choices import told_by_code
from ehrkg.evaluation.metrics import exact_match, relation_coverage, rouge
from ehrkg.evaluation.questions import Question, in_setting, questions_of
from ehrkg.evaluation.schema import SCORES
from ehrkg.evaluation.settings import CONTROLS, PLAIN
from ehrkg.foundation.progress import Progress, Silent

SORTED_BY = [("model", "ascending"), ("setting", "ascending"), ("item_id", "ascending")]


def run_baselines(
    items: pa.Table,
    baselines: Sequence[Baseline],
    names: Mapping[str, Sequence[str]],
    *,
    seed: int = 7,
    progress: Progress | None = None,
) -> pa.Table:
    """Let each baseline answer every item, plain and under both controls.

    Args:
        items: the schema ``benchmark.schema.ITEMS``.
        baselines: who answers.
        names: code or concept id to the names by which an open answer may name it.
        seed: of the swaps in the ``other_stem`` control.
        progress: told of each (baseline, setting) done.

    Returns:
        A table with the schema ``SCORES``, sorted by model, setting, item_id.
    """
    shown = progress or Silent()
    shown.start("answering with the baselines", len(baselines) * len(CONTROLS))
    questions = questions_of(items)
    rows: list[dict[str, object]] = []
    for baseline in baselines:
        for setting in CONTROLS:
            asked = in_setting(questions, setting, seed=seed)
            rows += _score_choices(baseline, setting, [q for q in asked if q.format == "mcq"])
            if setting == PLAIN:
                rows += _score_texts(
                    baseline, setting, [q for q in asked if q.format == "oeq"], names
                )
            shown.advance()
    return told_by_code(pa.Table.from_pylist(rows, SCORES), items).sort_by(SORTED_BY)


def _score_choices(
    baseline: Baseline, setting: str, questions: Sequence[Question]
) -> list[dict[str, object]]:
    rows = []
    for question, utility in zip(questions, baseline.utilities(questions), strict=True):
        best = np.flatnonzero(utility == utility.max())
        hit = question.answer_index in best
        choice = int(best[0]) if len(best) == 1 else -1
        rows.append(
            _row(baseline, setting, question)
            | {
                "choice": choice,
                "text": "",
                "answered": question.options[choice] if choice >= 0 else None,
                "correct": round(1.0 / len(best), 4) if hit else 0.0,
            }
        )
    return rows


def _score_texts(
    baseline: Baseline,
    setting: str,
    questions: Sequence[Question],
    names: Mapping[str, Sequence[str]],
) -> list[dict[str, object]]:
    rows = []
    for question, text in zip(questions, baseline.texts(questions), strict=True):
        accepted = list(question.answers)
        for code in question.accepted_codes:
            accepted += names.get(code, ())
        covered = relation_coverage(text, accepted)
        first, longest = rouge(text, question.answers)
        rows.append(
            _row(baseline, setting, question)
            | {
                "choice": -1,
                "text": text,
                "answered": text,
                "correct": covered,
                "coverage": covered,
                "exact": exact_match(text, accepted),
                "rouge1": round(first, 4),
                "rouge_l": round(longest, 4),
            }
        )
    return rows


def _row(baseline: Baseline, setting: str, question: Question) -> dict[str, object]:
    return {
        "model": baseline.name,
        "setting": setting,
        "item_id": question.item_id,
        "template_id": question.template_id,
        "cluster": question.cluster,
        "task": question.task,
        "format": question.format,
        "n_options": question.n_options,
        "parsed": True,
        "key_source": baseline.key_source,
    }
