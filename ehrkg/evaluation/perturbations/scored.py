"""Baselines under perturbations: the same questions, put otherwise, answered and scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark import Benchmark, Facts
from ehrkg.benchmark.checking.made_from import made_from
from ehrkg.evaluation.asking.answer_names import answer_names
from ehrkg.evaluation.baselines import Baseline
from ehrkg.evaluation.perturbations import ALL, Perturbed, names_in, perturb
from ehrkg.evaluation.schema import SCORES
from ehrkg.evaluation.scoring.scores import SORTED_BY, run_baselines
from ehrkg.evaluation.settings import Setting
from ehrkg.evaluation.taught import taught_by
from ehrkg.foundation.ledger import Ledger


def score_perturbed(
    benchmark: Benchmark,
    baselines: Sequence[Baseline],
    names: Mapping[str, Sequence[str]],
    perturbations: str | Iterable[str] = ALL,
    *,
    seed: int = 7,
    facts: Facts | None = None,
    ledger: Ledger | None = None,
) -> pa.Table:
    """Let baselines answer the questions of a benchmark under perturbations, with the controls.

    Beside scores of the same baselines on the benchmark as it is, ``robustness`` reads them.

    Args:
        benchmark: the questions as they are.
        baselines: who answers; what they learnt, they learnt from the questions as they are.
        names: see ``scoring.run_baselines``.
        perturbations: their names.
        seed: of every draw.
        facts: what the benchmark was made from; read out of its graph by default.
        ledger: see ``perturb``.

    Returns:
        The schema ``SCORES``, its settings named by the perturbation.

    Raises:
        UsageError: there is no such perturbation, or no graph to read.

    >>> from ehrkg.benchmark import example
    >>> from ehrkg.evaluation.baselines import Chance
    >>> scores = score_perturbed(example(), [Chance()], {}, "option_order")
    >>> scores["setting"].unique().to_pylist()[0]
    'perturbed:option_order'
    """
    tables = [
        named(
            run_baselines(
                one.benchmark.to_arrow(),
                baselines,
                names,
                templates=one.benchmark.templates(),
                seed=seed,
            ),
            one,
        )
        for one in perturb(benchmark, perturbations, seed=seed, facts=facts, ledger=ledger)
        if len(one.benchmark)
    ]
    return pa.concat_tables([SCORES.empty_table(), *tables]).sort_by(SORTED_BY)


def perturb_baselines(
    benchmark: Benchmark,
    perturbations: str | Iterable[str] = ALL,
    *,
    part: Benchmark | None = None,
    seed: int = 7,
    ledger: Ledger | None = None,
) -> pa.Table:
    """The baselines on arrays, asked a build's questions as they are and under perturbations.

    Args:
        benchmark: of a build: what the baselines learn from is read out of its graph.
        perturbations: their names.
        part: the questions to ask, if not all; the baselines learn from all of them.
        seed: of every draw.
        ledger: see ``perturb``.

    Returns:
        The schema ``SCORES``, sorted.

    Raises:
        UsageError: there is no such perturbation, or no graph to read.
    """
    wanted = names_in(perturbations)
    made, templates = made_from(benchmark), benchmark.templates()
    names = answer_names(made.hospital.codes, made.knowledge.concepts, made.knowledge.synonyms)
    baselines = taught_by(made, benchmark, names, seed=seed)
    part = benchmark if part is None else part
    plain = run_baselines(part.to_arrow(), baselines, names, templates=templates, seed=seed)
    otherwise = score_perturbed(
        part, baselines, names, wanted, seed=seed, facts=made.facts, ledger=ledger
    )
    return pa.concat_tables([plain, otherwise]).sort_by(SORTED_BY)


def named(scores: pa.Table, under: Perturbed) -> pa.Table:
    """Scores of perturbed questions, their settings named by the perturbation."""
    settings = scores["setting"].combine_chunks().dictionary_encode()
    names = [
        replace(Setting.parse(name), perturbation=under.name).name
        for name in settings.dictionary.to_pylist()
    ]
    place = scores.schema.get_field_index("setting")
    told = pc.take(pa.array(names, pa.string()), settings.indices)
    return scores.set_column(place, SCORES.field("setting"), told)
