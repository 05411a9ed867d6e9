"""How far a model's answers hold when the same question is put otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.evaluation.measures.clusters import (
    Groups,
    Means,
    clustered_differences,
    clustered_means,
    group_rows,
    numbered,
)
from ehrkg.evaluation.measures.comparison import paired
from ehrkg.evaluation.measures.summary import BY_MODEL, filled, known_mean
from ehrkg.evaluation.settings import PLAIN, Setting

ROBUSTNESS = pa.schema(
    [
        ("model", pa.string()),
        ("key_source", pa.bool_()),
        ("setting", pa.string()),  # of the original, without the perturbation
        ("perturbation", pa.string()),
        ("task", pa.string()),
        ("format", pa.string()),
        ("items", pa.int32()),  # asked both ways
        ("patients", pa.int32()),
        ("accuracy", pa.float64()),  # of the originals
        ("perturbed", pa.float64()),
        ("change", pa.float64()),  # perturbed less original
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("p", pa.float64()),
        ("chosen_twice", pa.int32()),  # questions to which both times something was chosen
        ("consistency", pa.float64()),  # share of these where it was the same, by code
        ("consistency_low", pa.float64()),
        ("consistency_high", pa.float64()),
    ]
)


def robustness(scores: pa.Table, *, seed: int = 7) -> pa.Table:
    """Change under each perturbation, and how often the choice stays the same, paired by question.

    ``change`` is the mean over questions of ``correct(perturbed) - correct(original)``, with the
    interval and p of ``clusters.clustered_differences``. ``consistency`` is the share of questions
    where the same option was chosen both times, by its code, wherever it stood, right or wrong
    (agreement of a model with itself: Elazar et al. 2021, TACL 9:1012), with a bootstrap over
    patients. A tie, or a text that could not be read, chooses nothing.

    Args:
        scores: the schema ``SCORES``, with settings that name a perturbation.
        seed: of the bootstrap.

    Returns:
        The schema ``ROBUSTNESS``, rounded to 4; consistency is null for open questions. The
        controls are left out.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation import Chance, Setting, evaluate
    >>> turned = Setting(perturbation="option_order")
    >>> found = robustness(evaluate(example(), Chance(), settings=[turned]).scores)
    >>> found.select(["perturbation", "items", "change"]).to_pylist()
    [{'perturbation': 'option_order', 'items': 12, 'change': 0.0}]
    """
    tables = []
    for name in sorted(set(scores["setting"].unique().to_pylist())):
        asked = Setting.parse(name)
        if asked.perturbation and asked.control == PLAIN:
            tables.append(_under(scores, asked, seed))
    return pa.concat_tables([ROBUSTNESS.empty_table(), *tables]).sort_by(
        [(name, "ascending") for name in (*BY_MODEL, "perturbation", "task", "format")]
    )


def _under(scores: pa.Table, asked: Setting, seed: int) -> pa.Table:
    plain = replace(asked, perturbation="").name
    both = paired(scores, asked.name, plain, more=["chosen_codes"])
    place = both.schema.get_field_index("setting")
    both = both.set_column(place, "setting", pa.array([plain] * both.num_rows, pa.string()))
    groups = group_rows(both, (*BY_MODEL, "task", "format"))
    patients = numbered(both["cluster"])
    now, before = (np.asarray(both[name], dtype=np.float64) for name in ("correct", "other"))
    change = clustered_differences(now - before, groups, patients)
    same, n = _consistency(both, groups, seed)
    named = pa.array([asked.perturbation] * len(groups), pa.string())
    return filled(
        ROBUSTNESS,
        groups.keys.append_column("perturbation", named),
        {
            "items": change.n.astype(np.float64),
            "patients": change.clusters.astype(np.float64),
            "accuracy": known_mean(both["other"], groups),
            "perturbed": known_mean(both["correct"], groups),
            "change": change.mean,
            "low": change.low,
            "high": change.high,
            "p": change.p,
            "chosen_twice": n,
            "consistency": np.where(n > 0, same.mean, np.nan),
            "consistency_low": np.where(n > 0, same.low, np.nan),
            "consistency_high": np.where(n > 0, same.high, np.nan),
        },
    )


def _consistency(
    both: pa.Table, groups: Groups, seed: int
) -> tuple[Means, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Of each group: the share of the same choices, and of how many."""
    now, before = (as_sets(both[name]) for name in ("chosen_codes", "other_chosen_codes"))
    known = np.asarray(pc.and_(pc.is_valid(now), pc.is_valid(before)), dtype=bool)
    same = np.asarray(pc.fill_null(pc.equal(now, before), False), dtype=np.float64)
    part = Groups(groups.keys, groups.of[known], len(groups))
    patients = numbered(both["cluster"])[known]
    found = clustered_means(same[known], part, patients, seed=seed)
    return found, found.n.astype(np.float64)


def as_sets(lists: pa.ChunkedArray) -> pa.Array:
    """Lists of texts as one text each, the same for the same members in any order.

    >>> one, other = as_sets(pa.chunked_array([[["b", "a"], ["a", "b"]]])).to_pylist()
    >>> one == other
    True
    """
    whole = lists.combine_chunks()
    of = np.asarray(pc.list_parent_indices(whole), dtype=np.int64)
    texts = pc.list_flatten(whole)
    order = np.lexsort((numbered(pa.chunked_array([texts])), of))
    sizes = np.asarray(pc.fill_null(pc.list_value_length(whole), 0), dtype=np.int64)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
    ordered = pa.ListArray.from_arrays(offsets, texts.take(pa.array(order)))
    joined = pc.binary_join(ordered, "\x1f")
    return pc.if_else(pc.is_valid(whole), joined, pa.scalar(None, pa.string()))
