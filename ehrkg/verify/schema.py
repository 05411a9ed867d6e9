"""The tables that verifying gives: relations with verdicts, and the evidence for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd

RELATIONS = pa.schema(
    [
        ("id", pa.string()),
        ("head", pa.string()),  # a Code id (or a CURIE, when verifying a user's pairs)
        ("route", pa.string()),
        ("predicate", pa.string()),
        ("tail", pa.string()),
        ("head_concept", pa.string()),  # the concept that carried the verdict, "" if unlinked
        ("tail_concept", pa.string()),
        ("verdict", pa.string()),  # supported, contradicted, ambiguous, unsupported
        ("score", pa.float64()),  # in [0, 1], rounded to 4
        ("score_calibrated", pa.bool_()),  # the score is a probability, at the policy's prior
        ("score_path", pa.float64()),  # the parts of the score, each rounded to 4
        ("score_definition", pa.float64()),
        ("score_contradiction", pa.float64()),
        ("score_coding_rule", pa.float64()),
        ("reasons", pa.list_(pa.string())),  # in words, the deciding one first
        ("n_path", pa.int32()),  # supporting path evidence
        ("n_definition", pa.int32()),
        ("n_coding_rule", pa.int32()),
        ("n_statistic", pa.int32()),
        ("n_contradicting", pa.int32()),
        ("origins", pa.list_(pa.string())),  # distinct origins of the supporting paths, sorted
        ("sources", pa.list_(pa.string())),  # distinct sources, sorted
        ("depends_on", pa.list_(pa.string())),  # sources without which the verdict falls, sorted
        ("tasks", pa.list_(pa.string())),
        ("proposers", pa.list_(pa.string())),
        ("n_within", pa.int32()),
        ("n_across", pa.int32()),
        ("n_patients", pa.int32()),
        ("lift", pa.float64()),
        ("p_value", pa.float64()),
    ]
)
"""relations.parquet. Sorted by id."""

EVIDENCE = pa.schema(
    [
        ("id", pa.string()),  # short_id("v", relation, kind, ...)
        ("relation", pa.string()),
        ("kind", pa.string()),  # path, definition, coding_rule, statistic
        ("polarity", pa.string()),  # supports, contradicts, neutral
        ("text", pa.string()),  # one readable sentence
        ("source", pa.string()),
        ("origin", pa.string()),
        ("weight", pa.float64()),  # rounded to 4
        ("meta_path", pa.string()),  # name of the row of meta_paths.yaml, "" for other kinds
        ("edges", pa.list_(pa.string())),  # ids of the knowledge edges, in path order
        ("concepts", pa.list_(pa.string())),  # the concepts cited, in path order
        ("passage", pa.string()),  # the Passage that a sentence stands in, "" for a definition's
        ("judged", pa.string()),  # entailment, contradiction, neither; "" where no judge was asked
    ]
)
"""evidence.parquet. Sorted by relation, kind, id."""


@dataclass(frozen=True)
class Verified:
    """Relations and their evidence.

    Attributes:
        relations: RELATIONS.
        evidence: EVIDENCE.
        features: by relation, the numbers that its score was computed from (id, then the names of
            ``ehrkg.verify.features``); None where the relations were read and not verified.
    """

    relations: pa.Table
    evidence: pa.Table
    features: pa.Table | None = None

    def to_pandas(self) -> pd.DataFrame:
        """The relations as a pandas DataFrame; ``evidence.to_pandas()`` gives what backs them."""
        frame: pd.DataFrame = self.relations.to_pandas()
        return frame
