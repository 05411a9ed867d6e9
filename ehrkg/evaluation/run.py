"""Score a benchmark with the baselines that need nothing but the build itself."""

from __future__ import annotations

import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.answer_names import answer_names
from ehrkg.evaluation.baselines import Chance, EmbeddingSimilarity, KeySource, MostFrequent
from ehrkg.evaluation.scoring import run_baselines
from ehrkg.foundation.progress import Progress
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.embedding import Embedder
from ehrkg.verify.schema import Verified


def score_baselines(
    items: pa.Table,
    templates: pa.Table,
    hospital: Hospital,
    knowledge: Knowledge,
    verified: Verified,
    *,
    embedder: Embedder,
    seed: int = 7,
    progress: Progress | None = None,
) -> pa.Table:
    """Chance, most frequent option, embedding similarity, and the knowledge graph as key source.

    Args:
        items: the benchmark's items.
        templates: its templates.
        hospital: whose training patients teach what is frequent.
        knowledge: names by which open answers may name a concept.
        verified: the relations that the key source reads.
        embedder: for the similarity baseline.
        seed: of the swaps in the ``other_stem`` control.
        progress: told of each (baseline, setting) done.

    Returns:
        A table with the schema ``SCORES``.
    """
    names = answer_names(hospital.codes, knowledge.concepts, knowledge.synonyms)
    first_names = {key: values[0] for key, values in names.items()}
    for row in items.select(["options", "option_codes"]).to_pylist():
        first_names.update(zip(row["option_codes"], row["options"], strict=True))
    baselines = (
        Chance(),
        MostFrequent.learn(hospital, items),
        EmbeddingSimilarity.learn(embedder, items),
        KeySource.learn(verified.relations, templates, first_names),
    )
    return run_baselines(items, baselines, names, seed=seed, progress=progress)
