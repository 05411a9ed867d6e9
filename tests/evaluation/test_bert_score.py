"""BERTScore tells likeness of meaning where no word is shared."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ehrkg.evaluation.schema import SCORES
from ehrkg.evaluation.scoring.bert_score import bert_f1, with_bert_score
from ehrkg.foundation.errors import InputError


def test_like_answers_score_higher_and_the_best_reference_counts():
    same, like, unlike, best = bert_f1(
        ["renal failure", "kidney failure", "gout", "gout"],
        [["renal failure"], ["renal failure"], ["renal failure"], ["renal failure", "gout"]],
    )
    assert same == best == pytest.approx(1.0, abs=1e-3)
    assert unlike < like < 1


def test_only_open_answers_get_one_and_silence_gets_none_of_it():
    rows = [
        {"item_id": "a", "format": "oeq", "text": "gout"},
        {"item_id": "a", "format": "oeq", "text": ""},
        {"item_id": "b", "format": "mcq", "text": ""},
    ]
    scores = with_bert_score(pa.Table.from_pylist(rows, SCORES), {"a": ["gout"]})
    assert scores.schema == SCORES
    assert scores["bert_f1"].to_pylist() == [pytest.approx(1.0, abs=1e-3), 0.0, None]


def test_a_model_that_is_not_there_is_said(tmp_path: Path):
    with pytest.raises(InputError, match="gives no BERTScore"):
        bert_f1(["gout"], [["gout"]], model=tmp_path)
