"""Let models answer a benchmark: baselines, models behind a name, functions of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import pyarrow as pa

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation.asking.answer_names import names_of
from ehrkg.evaluation.baselines import Baseline
from ehrkg.evaluation.perturbations.scored import score_perturbed
from ehrkg.evaluation.results import Results
from ehrkg.evaluation.run import EMBEDDED_TEMPLATES
from ehrkg.evaluation.scoring.scores import SORTED_BY, run_baselines
from ehrkg.evaluation.settings import PLAIN, Setting
from ehrkg.evaluation.taught import Answering, all_of
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.propose.models.budget import Budget
from ehrkg.propose.models.consent import Consent

if TYPE_CHECKING:
    from ehrkg.evaluation.appraising import Appraising
    from ehrkg.evaluation.models.one_model import Terms

Model = str | Path | Callable[[list[str]], Any]
"""PROVIDER/MODEL as Inspect names it, the path of weights, or a function from prompts to texts."""


def evaluate(
    benchmark: Benchmark,
    *models: Baseline | Model,
    settings: Sequence[Setting | str] = (PLAIN,),
    controls: bool = True,
    limit: int | None = None,
    seed: int = 7,
    consent: Consent | None = None,
    budget: Budget | None = None,
    base_url: str | None = None,
    judge: Model | None = None,
    judge_url: str | None = None,
    bert_score: str | Path | None = None,
    name: str | None = None,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    model_args: Mapping[str, Any] | None = None,
    connections: int | None = None,
    keep: bool = True,
    embedded_templates: int | None = EMBEDDED_TEMPLATES,
    progress: Progress | None = None,
) -> Results:
    """Let models answer the questions of a benchmark, each beside its two controls.

    A model is named as Inspect names it ("anthropic/…", "openai/…", "hf/…", "vllm/…", "ollama/…"),
    by the path of a folder of weights or of a .gguf file, or is a function that takes a list of
    prompts and gives as many texts. Calls go through Inspect, with its concurrency, retries and
    logs. Every answer is on disk before the next is counted: stopped at any moment, the same call
    goes on, and makes no more than the calls in flight again.

    Nothing is sent to a model that is not on this machine without ``consent`` for what single
    visits hold, since a question holds a visit's events. A function is its author's: what it does
    with a prompt is not looked at. Models on this machine, and servers that listen on loopback,
    need none.

    Args:
        benchmark: the questions.
        models: who answers. By default every baseline that the benchmark can teach: chance, the
            logistic model on codes (it learns from the training split) and embedding similarity
            need nothing but the questions; co-occurrence, the most frequent option and the
            knowledge graph (the key source, never ranked) learn from the graph of a build, and
            answer where that lies beside the questions. ``Results.notes`` says who was not asked.
        settings: how questions are put to models, by value or by name; of these, baselines take
            the perturbations alone.
        controls: whether the options alone, and another patient's stem, are asked too.
        limit: questions at most, drawn by task, format and number of options.
        seed: of that draw, of the swaps of stems and of the choice of examples.
        consent: for a model that is not on this machine; MIMIC's formats need all its promises.
        budget: calls, tokens and cost at most, with the prices that make costs.
        base_url: where a model is asked, if not at its provider's address.
        judge: a model, named like any other, that says of each open answer whether it names what
            counts as right. It is shown the accepted names and the answer, needs the same consent,
            and has the same budget once more.
        judge_url: where the judge is asked, if not at its provider's address.
        bert_score: the model by which open answers get a BERTScore: a folder with an encoder, or a
            name as embedding models have ("MiniLM" comes with the package).
        name: as a single model shall stand in the scores; by default its own name.
        temperature: 0 by default; ``None`` leaves it to the model, as some ask for.
        max_tokens: tokens of an answer; by default what the setting needs (16, 64 or 1024).
        model_args: passed on to Inspect's provider.
        connections: calls at once; Inspect adapts it by default.
        keep: whether a model's scores and answers go into the build that the benchmark was opened
            from (OUT/scores.parquet, OUT/evaluations); else, and for tables in memory, answers are
            kept for this call only.
        embedded_templates: of each task, about which embedding similarity is asked by default;
            ``None`` for all. Reading stems takes hundreds of times what the other baselines take
            (some 100 stems a second on two cores), and 200 templates already tell a share to 7
            points either way. ``Results.notes`` says how many questions that were.
        progress: told of each question that has its answer.

    Returns:
        The scores of this call.

    Raises:
        UsageError: a model, setting or option is unknown; a package, key or consent is lacking; the
            build is in use.
        ServiceError: a model is not there. What it answered is kept.

    >>> from ehrkg.benchmark import example
    >>> part = example().filter(format="mcq", task="treatment")
    >>> results = evaluate(part, lambda prompts: ["A" for _ in prompts], name="always A")
    >>> sorted(set(results.scores["setting"].to_pylist()))
    ['no_stem', 'other_stem', 'plain']
    """
    asked = [one for one in models if not _is_baseline(one)]
    if name is not None and len(asked) != 1:
        raise UsageError(f"{name!r} is to name one model", todo="evaluate them one by one")
    tables = []
    terms = None
    if asked or judge is not None or bert_score is not None:
        # What asks models loads slowly and needs an extra; baselines do without.
        from ehrkg.evaluation.models.generation import Generation
        from ehrkg.evaluation.models.one_model import Terms, evaluate_model

        terms = Terms(
            generation=Generation(temperature, max_tokens, dict(model_args or {}), connections),
            limit=limit,
            seed=seed,
            consent=consent,
            budget=budget or Budget(),
            keep=keep,
            progress=progress or Silent(),
        )
    appraising = terms and _appraising(benchmark, judge, judge_url, bert_score, terms)
    baselines = [one for one in models if _is_baseline(one)]
    answering = [Answering(baselines, benchmark)] if baselines else []
    if baselines or not models:
        names = names_of(benchmark)
        if not models:
            answering = all_of(benchmark, names, embedded_templates=embedded_templates, seed=seed)
        tables += [_of_baselines(one, names, settings, seed) for one in answering]
    tables += [
        evaluate_model(
            benchmark,
            _as_model(one),
            settings,
            terms,
            controls=controls,
            base_url=base_url,
            name=name,
        )
        for one in asked
        if terms is not None
    ]
    scores = pa.concat_tables(tables).sort_by(SORTED_BY)
    notes = tuple(one.note for one in answering if one.note)
    return Results(appraising.of(scores) if appraising else scores, benchmark, notes)


def _appraising(
    benchmark: Benchmark,
    judge: Model | None,
    judge_url: str | None,
    bert_score: str | Path | None,
    terms: Terms,
) -> Appraising | None:
    """What open answers are appraised by, found fit before any model is asked."""
    from ehrkg.evaluation.appraising import Appraising

    # Tokens and arguments of the provider were said of who answers, not of who judges.
    generation = replace(terms.generation, max_tokens=None, model_args={})
    judging = replace(terms, generation=generation)
    found = Appraising.wanted(benchmark, judge, bert_score, judging, judge_url=judge_url)
    if found is not None:
        found.check(whole=False)
    return found


def _is_baseline(model: object) -> TypeGuard[Baseline]:
    return hasattr(model, "utilities") and hasattr(model, "texts")


def _as_model(model: object) -> Model:
    if isinstance(model, str | Path) or callable(model):
        return model
    raise UsageError(
        f"{model!r} can't answer: it is no name, path or function, and lacks the methods "
        "utilities(questions) and texts(questions)",
        todo='give "PROVIDER/MODEL", a path, a function from prompts to texts, or an object with '
        "the methods of ehrkg.evaluation.Baseline",
    )


def _of_baselines(
    answering: Answering,
    names: Mapping[str, Sequence[str]],
    settings: Sequence[Setting | str],
    seed: int,
) -> pa.Table:
    """Scores of baselines on the questions as they are, and under the settings' perturbations."""
    part, told = answering.part, answering.part.templates()
    plain = run_baselines(part.to_arrow(), answering.baselines, names, templates=told, seed=seed)
    chosen = [one if isinstance(one, Setting) else Setting.parse(one) for one in settings]
    wanted = dict.fromkeys(one.perturbation for one in chosen if one.perturbation)
    if not wanted:
        return plain
    otherwise = score_perturbed(part, answering.baselines, names, wanted, seed=seed)
    return pa.concat_tables([plain, otherwise])
