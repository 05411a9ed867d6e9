"""Questions as a model meets them, with the paired controls that show what an accuracy is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ehrkg.evaluation.asking.pairing import other_stems
from ehrkg.evaluation.settings import NO_STEM, OTHER_STEM, PLAIN, unknown_setting


@dataclass(frozen=True)
class Question:
    """One question in one setting.

    Attributes:
        item_id, template_id, cluster, task, format, n_options: as in items.parquet.
        split: train, dev or test.
        stem: what is shown; "" without stem, another patient's in that control.
        stem_template: the template whose stem is shown; "" where none is.
        options, option_codes: the choices; empty for an open-ended question.
        answer_index: the right choice, -1 for an open-ended question.
        answers: the right texts.
        accepted_codes: codes and concepts that an open answer may name.
        relation_id: the relation that the question rests on.
        right: places of all right choices; empty for an open-ended question.
    """

    item_id: str
    template_id: str
    cluster: str
    task: str
    format: str
    n_options: int
    split: str
    stem: str
    stem_template: str
    options: tuple[str, ...]
    option_codes: tuple[str, ...]
    answer_index: int
    answers: tuple[str, ...]
    accepted_codes: tuple[str, ...]
    relation_id: str = ""
    right: tuple[int, ...] = ()


def questions_of(items: pa.Table) -> list[Question]:
    """The plain questions of an items table, in its order."""
    return [
        Question(
            item_id=row["item_id"],
            template_id=row["template_id"],
            cluster=row["cluster"],
            task=row["task"],
            format=row["format"],
            n_options=row["n_options"],
            split=row["split"],
            stem=row["stem"],
            stem_template=row["template_id"],
            options=tuple(row["options"]),
            option_codes=tuple(row["option_codes"]),
            answer_index=row["answer_index"],
            answers=tuple(row["answer"]),
            accepted_codes=tuple(row["accepted_codes"]),
            relation_id=row["relation_id"],
            right=_right(row),
        )
        for row in items.to_pylist()
    ]


def _right(row: Mapping[str, Any]) -> tuple[int, ...]:
    """Places of the right choices; only where several are right do the reasons tell them."""
    if row["answer_index"] >= 0:
        return (row["answer_index"],)
    return tuple(at for at, why in enumerate(row["distractor_reasons"] or ()) if why == "answer")


def in_setting(questions: list[Question], control: str, *, seed: int = 7) -> list[Question]:
    """The same questions under a control, paired one to one.

    The other patient's stem comes from a question of the same task, format and number of options;
    who swaps with whom is a hash. Where a group holds a single patient the stem is left out.

    Raises:
        UsageError: the control is unknown.
    """
    if control == PLAIN:
        return questions
    if control == NO_STEM:
        return [with_stem_of(question) for question in questions]
    if control != OTHER_STEM:
        raise unknown_setting(control)
    kinds = [f"{one.task} {one.format} {len(one.options)}" for one in questions]
    groups, clusters = (
        np.unique(np.array(values, str), return_inverse=True)[1]
        for values in (kinds, [one.cluster for one in questions])
    )
    partners = other_stems([one.item_id for one in questions], groups, clusters, seed=seed)
    return [
        with_stem_of(question, questions[at].stem, questions[at].template_id)
        if at >= 0
        else with_stem_of(question)
        for question, at in zip(questions, partners.tolist(), strict=True)
    ]


def with_stem_of(question: Question, stem: str = "", template: str = "") -> Question:
    """A question with another template's stem; without any by default."""
    return replace(question, stem=stem, stem_template=template)
