"""Questions as a model meets them, with the paired controls that show what an accuracy is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ehrkg.evaluation.settings import NO_STEM, OTHER_STEM, PLAIN, unknown_setting
from ehrkg.foundation.hashing import hash64


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
    """The same questions under a setting's control, paired one to one.

    The other patient's stem comes from a question of the same task, format and number of options;
    who swaps with whom is a hash. Where a group holds a single patient the stem is left out.

    Raises:
        UsageError: the control is unknown.
    """
    if control == PLAIN:
        return questions
    if control == NO_STEM:
        return [replace(question, stem="", stem_template="") for question in questions]
    if control != OTHER_STEM:
        raise unknown_setting(control)
    groups: dict[tuple[str, str, int], list[Question]] = {}
    for question in questions:
        key = (question.task, question.format, question.n_options)
        groups.setdefault(key, []).append(question)
    rings = {
        key: sorted(group, key=lambda q: (hash64(seed, "ring", q.item_id), q.item_id))
        for key, group in groups.items()
    }
    places = {
        question.item_id: place for ring in rings.values() for place, question in enumerate(ring)
    }
    return [
        _with_stem_of(
            question,
            _next_patient(
                rings[question.task, question.format, question.n_options],
                places[question.item_id],
            ),
        )
        for question in questions
    ]


def _next_patient(ring: list[Question], place: int) -> Question | None:
    """The next question of the ring that is about another patient."""
    mine = ring[place].cluster
    for step in range(1, len(ring)):
        other = ring[(place + step) % len(ring)]
        if other.cluster != mine:
            return other
    return None


def _with_stem_of(question: Question, other: Question | None) -> Question:
    if other is None:
        return replace(question, stem="", stem_template="")
    return replace(question, stem=other.stem, stem_template=other.template_id)
