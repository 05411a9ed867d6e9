"""Score a benchmark with the baselines that need nothing but the build itself."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.answer_names import answer_names
from ehrkg.evaluation.baselines import Chance, EmbeddingSimilarity, KeySource, MostFrequent
from ehrkg.evaluation.scoring import SORTED_BY, run_baselines
from ehrkg.foundation.embedding import Embedder
from ehrkg.foundation.hashing import order_by_hash
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.schema import Verified

EMBEDDED_TEMPLATES = 200
"""Templates a task whose questions the embedding baseline answers: reading stems costs most of an
evaluation, and 200 templates already give an interval of a few percent."""


ANSWERED = ("mcq", "oeq")
"""Formats that the baselines answer; the rest is for models, and counted as left to them."""


def score_baselines(
    items: pa.Table,
    templates: pa.Table,
    hospital: Hospital,
    knowledge: Knowledge,
    verified: Verified,
    *,
    embedder: Embedder,
    seed: int = 7,
    ledger: Ledger | None = None,
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
        ledger: gets an entry a baseline, of questions in and answered.
        progress: told of each (baseline, setting) done.

    Returns:
        A table with the schema ``SCORES``.
    """
    asked = items.filter(pc.is_in(items["format"], value_set=pa.array(ANSWERED)))
    names = answer_names(hospital.codes, knowledge.concepts, knowledge.synonyms)
    first_names = {key: values[0] for key, values in names.items()}
    for row in items.select(["options", "option_codes"]).to_pylist():
        first_names.update(zip(row["option_codes"], row["options"], strict=True))
    cheap = (
        Chance(),
        MostFrequent.learn(hospital, asked),
        KeySource.learn(verified.relations, templates, first_names),
    )
    similarity = EmbeddingSimilarity.learn(embedder, asked)
    sample = questions_of_some_templates(asked, EMBEDDED_TEMPLATES, seed=seed)
    if ledger is not None:
        for baseline, answered in (*((one, asked) for one in cheap), (similarity, sample)):
            ledger.record(
                "evaluate",
                baseline.name,
                rows_in=items.num_rows,
                rows_out=answered.num_rows,
                dropped={
                    "format_left_to_models": items.num_rows - asked.num_rows,
                    "not_sampled": asked.num_rows - answered.num_rows,
                },
            )
    scores = (
        run_baselines(asked, cheap, names, seed=seed, progress=progress),
        run_baselines(sample, (similarity,), names, seed=seed, progress=progress),
    )
    return pa.concat_tables(scores).sort_by(SORTED_BY)


def questions_of_some_templates(items: pa.Table, per_task: int, *, seed: int = 7) -> pa.Table:
    """All questions of at most so many templates a task, drawn by a hash of the template.

    Args:
        items: the schema ``ITEMS``.
        per_task: templates to keep of each task.
        seed: names the draw.
    """
    by_task: dict[str, set[str]] = {}
    pairs = zip(items["task"].to_pylist(), items["template_id"].to_pylist(), strict=True)
    for task, template in pairs:
        by_task.setdefault(task, set()).add(template)
    kept = [
        template
        for templates in by_task.values()
        for template in order_by_hash(templates, seed, "sample")[:per_task]
    ]
    return items.filter(pc.is_in(items["template_id"], value_set=pa.array(kept, pa.string())))
