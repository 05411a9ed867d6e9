"""The table that evaluating gives: one row a (model, setting, item)."""

from __future__ import annotations

import pyarrow as pa

SCORES = pa.schema(
    [
        ("model", pa.string()),
        ("setting", pa.string()),  # Setting.name
        ("item_id", pa.string()),
        ("template_id", pa.string()),
        ("cluster", pa.string()),
        ("task", pa.string()),
        ("format", pa.string()),
        ("n_options", pa.int32()),
        ("choice", pa.int32()),  # the option chosen; -1: a tie, or a text that could not be read
        ("chosen", pa.list_(pa.int32())),  # multi: the options chosen
        ("chosen_codes", pa.list_(pa.string())),  # of what was chosen; of yes/no the word
        ("answer_index", pa.int32()),  # where the right option stood; -1: none, or several are
        ("text", pa.string()),  # an open answer
        ("answered", pa.string()),  # what the model gave, as it gave it; null for a tie
        ("parsed", pa.bool_()),  # false: it could not be read, and counts as wrong
        ("probabilities", pa.list_(pa.float64())),  # of the options; only where likelihoods exist
        ("correct", pa.float64()),  # 1 or 0; a tie among k best options counts 1/k; multi: the set
        ("partial", pa.float64()),  # multi: Jaccard index of the chosen and the right options
        ("coverage", pa.float64()),  # open-ended: 1 if an accepted answer is named
        ("exact", pa.float64()),  # open-ended: 1 if the whole text is an accepted answer
        ("rouge1", pa.float64()),
        ("rouge_l", pa.float64()),
        ("bert_f1", pa.float64()),  # open-ended: BERTScore, where a model of it was named
        ("judged", pa.float64()),  # open-ended: 1 or 0, by the model that was asked to judge
        ("tokens_in", pa.int64()),  # of the whole prompt, kept by the service or not
        ("tokens_out", pa.int64()),
        ("cost", pa.float64()),  # US dollars; at most, where a service gives kept tokens for less
        ("seconds", pa.float64()),
        ("key_source", pa.bool_()),  # the model is the knowledge that wrote the key: never ranked
    ]
)
"""scores.parquet. Sorted by model, setting, item_id. Null: does not apply, or is not known."""


def complete_scores(scores: pa.Table) -> pa.Table:
    """Scores with every column of the schema; what an older build lacks is null.

    Args:
        scores: the schema ``SCORES``, or that of an older version.
    """
    columns = [
        scores[field.name].cast(field.type)
        if field.name in scores.column_names
        else pa.nulls(scores.num_rows, field.type)
        for field in SCORES
    ]
    return pa.table(columns, schema=SCORES)
