"""Who answers where no model is named: every baseline that a benchmark can teach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ehrkg.benchmark import Benchmark
from ehrkg.benchmark.checking.made_from import MadeFrom, made_from
from ehrkg.evaluation.asking.asked import asked_of
from ehrkg.evaluation.baselines import (
    Baseline,
    Chance,
    Cooccurrence,
    EmbeddingSimilarity,
    KeySource,
    Logistic,
    MostFrequent,
)
from ehrkg.evaluation.run import baselines_on_arrays, names_said, questions_of_some_templates
from ehrkg.foundation.embedding import SentenceTransformerEmbedder

OF_A_BUILD = tuple(sorted(one.name for one in (Cooccurrence, KeySource, MostFrequent)))
"""Baselines that learn from a hospital's visits or from verified relations, so need a build."""


@dataclass(frozen=True)
class Answering:
    """Some baselines with the questions that they are asked.

    Attributes:
        baselines: having learnt what they may.
        part: the questions.
        note: what a reader of their scores must know; "" for nothing.
    """

    baselines: Sequence[Baseline]
    part: Benchmark
    note: str = ""


def all_of(
    benchmark: Benchmark,
    names: Mapping[str, Sequence[str]],
    *,
    embedded_templates: int | None,
    seed: int,
) -> list[Answering]:
    """Every baseline that this benchmark can teach, with what each is asked.

    They learn from the training split of the whole that the benchmark was cut from.

    Args:
        benchmark: the questions.
        names: code or concept id to the names by which an open answer may name it.
        embedded_templates: of a task, that embedding similarity is asked about; all for ``None``.
        seed: of the draws.
    """
    whole = benchmark.whole
    if _has_graph(whole):
        cheap = Answering(taught_by(made_from(whole), whole, names, seed=seed), benchmark)
    else:
        told = asked_of(whole.to_arrow(), whole.templates()).told
        said = names_said(whole.to_arrow(), names)
        cheap = Answering(
            (Chance(), Logistic.learn(told, said, seed=seed)),
            benchmark,
            f"{', '.join(OF_A_BUILD)}: not asked, as they learn from the graph of a build; "
            "open its folder: Benchmark.open(OUT)",
        )
    return [cheap, _similarity(benchmark, names, embedded_templates, seed)]


def taught_by(
    made: MadeFrom, benchmark: Benchmark, names: Mapping[str, Sequence[str]], *, seed: int
) -> Sequence[Baseline]:
    """The baselines on arrays, having learnt from what a benchmark was made from.

    Args:
        made: the tables that it was made from.
        benchmark: the questions that they learn from.
        names: code or concept id to the names by which an open answer may name it.
        seed: draws from which templates is learnt where there are very many.
    """
    items, templates = benchmark.to_arrow(), benchmark.templates()
    return baselines_on_arrays(
        asked_of(items, templates),
        templates,
        made.hospital,
        made.verified.relations,
        names_said(items, names),
        seed=seed,
    )


def _has_graph(benchmark: Benchmark) -> bool:
    beside = (benchmark.beside("relations"), benchmark.beside("evidence"))
    with benchmark.asking() as store:
        return store is not None and all(table is not None for table in beside)


def _similarity(
    benchmark: Benchmark,
    names: Mapping[str, Sequence[str]],
    templates: int | None,
    seed: int,
) -> Answering:
    items, whole = benchmark.to_arrow(), benchmark.whole.to_arrow()
    similarity = EmbeddingSimilarity.learn(
        SentenceTransformerEmbedder(), whole, names_said(whole, names)
    )
    sample = (
        items if templates is None else questions_of_some_templates(items, templates, seed=seed)
    )
    if sample.num_rows == items.num_rows:
        return Answering([similarity], benchmark)
    return Answering(
        [similarity],
        benchmark.subset(sample["template_id"].unique().to_pylist()),
        f"{similarity.name}: asked {sample.num_rows:,} of {items.num_rows:,} questions, those of "
        f"{templates:,} templates a task (embedded_templates)",
    )
