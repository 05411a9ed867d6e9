"""What comes of letting models answer a benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation.answer_names import answer_names
from ehrkg.evaluation.baselines import Baseline, Chance, EmbeddingSimilarity
from ehrkg.evaluation.figures import Figures
from ehrkg.evaluation.scoring import run_baselines
from ehrkg.foundation.embedding import SentenceTransformerEmbedder
from ehrkg.foundation.errors import UsageError
from ehrkg.graph import readers


@dataclass(frozen=True)
class Results(Figures):
    """Scores of one or more models on one benchmark.

    Attributes:
        scores: one row a (model, setting, item), with the schema ``SCORES``.
        benchmark: what was asked; None where nobody kept it. Figures by chapter or age need it.
    """

    scores: pa.Table
    benchmark: Benchmark | None = None

    def __repr__(self) -> str:
        lines = [
            f"{row['model']}, {row['task']}, {row['n_options']} options, {row['setting']}: "
            f"{100 * row['accuracy']:.1f} % ({100 * row['low']:.1f} to {100 * row['high']:.1f})"
            for row in self.accuracy().to_pylist()
        ]
        return "\n".join(lines) or "Results(no multiple-choice question was answered)"


def evaluate(benchmark: Benchmark, *models: Baseline, seed: int = 7) -> Results:
    """Let models answer every question of a benchmark, plain and under both controls.

    Args:
        benchmark: the questions.
        models: anything with the methods of ``Baseline``; chance and embedding similarity by
            default, which need nothing but the questions.
        seed: of the swaps in the ``other_stem`` control.

    Raises:
        UsageError: a model lacks the methods.
    """
    for model in models:
        if not (hasattr(model, "utilities") and hasattr(model, "texts")):
            raise UsageError(
                f"{model!r} can't answer: it lacks utilities(questions) and texts(questions)",
                todo="give an object with the methods of ehrkg.evaluation.Baseline",
            )
    items = benchmark.to_arrow()
    asked: Sequence[Baseline] = models or (
        Chance(),
        EmbeddingSimilarity.learn(SentenceTransformerEmbedder(), items),
    )
    told = benchmark.templates()
    scores = run_baselines(items, asked, _names(benchmark), templates=told, seed=seed)
    return Results(scores, benchmark)


def _names(benchmark: Benchmark) -> Mapping[str, Sequence[str]]:
    """Names by which open answers may name a code: the graph's, where the benchmark has one."""
    if benchmark.store is None:
        return {}
    knowledge = readers.read_knowledge(benchmark.store)
    codes = benchmark.store.query("MATCH (c:Code) RETURN c.id AS id, c.name AS name")
    return answer_names(codes, knowledge.concepts, knowledge.synonyms)
