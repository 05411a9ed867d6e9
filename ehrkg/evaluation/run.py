"""Score a benchmark with the baselines that need nothing but the build itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.asking.answer_names import answer_names
from ehrkg.evaluation.asking.asked import Asked, asked_of
from ehrkg.evaluation.baselines import (
    Baseline,
    Chance,
    Cooccurrence,
    EmbeddingSimilarity,
    KeySource,
    Logistic,
    MostFrequent,
    practice_of,
)
from ehrkg.evaluation.scoring.scores import SORTED_BY, score_blocks
from ehrkg.foundation.embedding import Embedder
from ehrkg.foundation.hashing import order_by_hash
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.schema import Verified

EMBEDDED_TEMPLATES = 200
"""Templates a task whose questions the embedding baseline answers: reading stems costs most of an
evaluation, and 200 templates already tell a share to 7 points either way."""


def score_baselines(
    items: pa.Table,
    templates: pa.Table,
    hospital: Hospital,
    knowledge: Knowledge,
    verified: Verified,
    *,
    embedder: Embedder,
    embedded_templates: int = EMBEDDED_TEMPLATES,
    seed: int = 7,
    ledger: Ledger | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """All baselines: those that only look at arrays, embedding similarity, and the key source.

    Args:
        items: the benchmark's items.
        templates: its templates.
        hospital: whose training patients teach what is frequent, and what goes with what.
        knowledge: names by which open answers may name a concept.
        verified: the relations that the key source reads.
        embedder: for the similarity baseline.
        embedded_templates: of each task, whose questions that baseline answers; the ledger counts
            the others as ``not_sampled``.
        seed: of the swaps in the ``other_stem`` control.
        ledger: gets an entry a baseline, of questions in and answered.
        progress: told of each (baseline, setting) done.

    Returns:
        A table with the schema ``SCORES``.
    """
    names = answer_names(hospital.codes, knowledge.concepts, knowledge.synonyms)
    said = names_said(items, names)
    asked = asked_of(items, templates)
    cheap = baselines_on_arrays(asked, templates, hospital, verified.relations, said, seed=seed)
    similarity = EmbeddingSimilarity.learn(embedder, items, said)
    sample = questions_of_some_templates(items, embedded_templates, seed=seed)
    if ledger is not None:
        for baseline, answered in (*((one, items) for one in cheap), (similarity, sample)):
            ledger.record(
                "evaluate",
                baseline.name,
                rows_in=items.num_rows,
                rows_out=answered.num_rows,
                dropped={"not_sampled": items.num_rows - answered.num_rows},
            )
    scores = [
        *score_blocks(asked, cheap, names, seed=seed, progress=progress),
        *score_blocks(
            asked_of(sample, templates), [similarity], names, seed=seed, progress=progress
        ),
    ]
    return pa.concat_tables(scores).sort_by(SORTED_BY)


def baselines_on_arrays(
    asked: Asked,
    templates: pa.Table,
    hospital: Hospital,
    relations: pa.Table,
    names: Mapping[str, str],
    *,
    seed: int = 7,
) -> Sequence[Baseline]:
    """Every baseline that needs no model, having learnt what it may, in the order of their names.

    Args:
        asked: the questions.
        templates: the schema ``TEMPLATES``.
        hospital: what its training patients teach.
        relations: the schema ``RELATIONS``, for the key source.
        names: code to the text of an answer.
        seed: draws from which templates is learnt where there are very many.
    """
    practice = practice_of(hospital, templates)
    codes = (hospital.codes[column].to_pylist() for column in ("id", "kind"))
    found = (
        Chance(),
        MostFrequent.learn(practice, asked),
        Cooccurrence.learn(practice, asked, names),
        Logistic.learn(asked.told, names, seed=seed),
        KeySource.learn(relations, dict(zip(*codes, strict=True)), names),
    )
    return sorted(found, key=lambda baseline: baseline.name)


def names_said(items: pa.Table, names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The text by which an answer names each code: as options do, or the first of its names."""
    shown = items.filter(pc.not_equal(items["format"], "yesno")).select(["option_codes", "options"])
    flat = pa.table([pc.list_flatten(shown[name]) for name in shown.column_names], ["code", "text"])
    first = flat.group_by("code").aggregate([("text", "min")])
    texts = dict(zip(first["code"].to_pylist(), first["text_min"].to_pylist(), strict=True))
    return {code: values[0] for code, values in names.items()} | texts


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
