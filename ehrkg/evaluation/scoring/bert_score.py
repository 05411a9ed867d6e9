"""BERTScore of open answers: likeness of meaning, token by token, by a model on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg.evaluation.schema import SCORES
from ehrkg.evaluation.scoring.appraisals import BERT_F1, with_column
from ehrkg.foundation.embedding_models import embedding_model
from ehrkg.foundation.errors import InputError, UsageError

BATCH = 8
"""Texts read at once."""

DIGITS = 4
"""What is kept: later digits change with the company in which a text is read."""


def bert_f1(
    texts: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    model: str | Path | None = None,
    layers: int | None = None,
) -> list[float]:
    """BERTScore F1 of each text, the best over its references.

    Each token's vector is matched with the likest one of the other text; F1 is of the means of
    these likenesses from either side (Zhang et al. 2020, arXiv 1904.09675), worked out by the
    authors' library, without weights by rarity and without rescaling. Figures of different models
    or layers don't compare.

    Args:
        texts: answers; an empty one gets 0.
        references: right texts of each.
        model: a folder with an encoder that transformers reads; by default the embedding model that
            comes with the package.
        layers: the layer whose vectors are taken; the last by default. The authors' choices for
            well-known models stand in ``bert_score.utils.model2layers``.

    Returns:
        One number a text, rounded to 4.

    Raises:
        UsageError: the library is not installed.
        InputError: the model can't be loaded.

    >>> bert_f1(["", "gout"], [["gout"], ["heart failure", "gout"]])
    [0.0, 1.0]
    """
    pairs = [
        (at, (text, reference))
        for at, (text, held) in enumerate(zip(texts, references, strict=True))
        for reference in held
        if text.strip() and reference.strip()
    ]
    # Sorted and each once: many answers are the same, and their order then changes nothing.
    distinct = sorted({pair for _, pair in pairs})
    found = [0.0] * len(texts)
    if distinct:
        _, _, values = _scorer(model, layers).score(
            [text for text, _ in distinct], [reference for _, reference in distinct]
        )
        likeness = dict(zip(distinct, values.tolist(), strict=True))
        for at, pair in pairs:
            found[at] = max(found[at], round(likeness[pair], DIGITS))
    return found


def with_bert_score(
    scores: pa.Table,
    answers: Mapping[str, Sequence[str]],
    *,
    model: str | Path | None = None,
    layers: int | None = None,
) -> pa.Table:
    """Scores with ``bert_f1`` filled in where a question is open-ended.

    Args:
        scores: the schema ``SCORES``.
        answers: item id to the right texts (``items.answer``).
        model: see ``bert_f1``, as for layers.
        layers: which layer's vectors are taken.
    """
    rows = [at for at, form in enumerate(scores["format"].to_pylist()) if form == "oeq"]
    texts, items = (scores[name].to_pylist() for name in ("text", "item_id"))
    values: list[float | None] = [None] * scores.num_rows
    likeness = bert_f1(
        [texts[at] or "" for at in rows],
        [answers[items[at]] for at in rows],
        model=model,
        layers=layers,
    )
    for at, value in zip(rows, likeness, strict=True):
        values[at] = value
    return with_column(scores, BERT_F1, pa.array(values, SCORES.field(BERT_F1).type))


def check_bert_score() -> None:
    """Look whether the library is installed.

    Raises:
        UsageError: it is not.
    """
    if find_spec("bert_score") is None:
        raise UsageError(
            "BERTScore is worked out by bert-score, which is not installed",
            todo="pip install 'ehrkg[bertscore]'",
        )


def _scorer(model: str | Path | None, layers: int | None) -> Any:
    check_bert_score()
    from bert_score import BERTScorer
    from transformers import AutoConfig
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    place = embedding_model(None if model is None else str(model)).place()
    try:
        depth = AutoConfig.from_pretrained(place).num_hidden_layers if layers is None else layers
        return BERTScorer(model_type=place, num_layers=depth, batch_size=BATCH, idf=False)
    except (OSError, ValueError, AttributeError, AssertionError) as error:
        raise InputError(
            f"this model gives no BERTScore: {(str(error) or repr(error)).splitlines()[0]}",
            file=place,
            todo="give a folder with an encoder that transformers reads, and one of its layers",
        ) from error
