"""What is told of open answers beside the names in them: a judge's verdict, BERTScore.

A verdict belongs to an answer's words: it is kept, and found again, by who answered, in which
setting, to which question, and by what was said.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.schema import SCORES

JUDGED, BERT_F1 = "judged", "bert_f1"
APPRAISALS = (JUDGED, BERT_F1)

KEY = ("model", "setting", "item_id")
"""What tells rows of scores apart."""

BETWEEN = "\x1f"


def open_answers(scores: pa.Table) -> pa.Table:
    """The rows that can be appraised: open answers whose words are known.

    Words that were blanked when a patient was forgotten (``answered`` is then null) are not
    silence, and say nothing.

    Args:
        scores: the schema ``SCORES``.
    """
    known = pc.or_(pc.is_valid(scores["answered"]), pc.not_equal(_text(scores), ""))
    return scores.filter(pc.and_(pc.equal(scores["format"], "oeq"), known))


def with_appraisals(scores: pa.Table, others: pa.Table) -> pa.Table:
    """Scores with what other scores tell of the same answers.

    Args:
        scores: the schema ``SCORES``; where the others know nothing, its own values stand.
        others: the same schema.
    """
    there = others.filter(pc.or_(*(pc.is_valid(others[name]) for name in APPRAISALS)))
    if not there.num_rows or not scores.num_rows:
        return scores
    at = pc.index_in(_answer_keys(scores), value_set=_answer_keys(there).combine_chunks())
    for name in APPRAISALS:
        values = pc.coalesce(there[name].take(at), scores[name])
        scores = with_column(scores, name, values)
    return scores


def without(scores: pa.Table, *columns: str) -> pa.Table:
    """Scores of which some columns tell nothing.

    Args:
        scores: the schema ``SCORES``.
        columns: their names.
    """
    for name in columns:
        scores = with_column(scores, name, pa.nulls(scores.num_rows, SCORES.field(name).type))
    return scores


def joined(table: pa.Table, *columns: str) -> pa.ChunkedArray:
    """Some columns of texts as one, to look rows up by."""
    return pc.binary_join_element_wise(*(table[name] for name in columns), BETWEEN)


def _answer_keys(scores: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(joined(scores, *KEY), _text(scores), BETWEEN)


def _text(scores: pa.Table) -> pa.ChunkedArray:
    return pc.fill_null(scores["text"], "")


def with_column(scores: pa.Table, name: str, values: pa.ChunkedArray | pa.Array) -> pa.Table:
    """Scores with other values in one of their columns.

    Args:
        scores: the schema ``SCORES``.
        name: of the column.
        values: one a row.
    """
    place = scores.schema.get_field_index(name)
    return scores.set_column(place, SCORES.field(name), values)
