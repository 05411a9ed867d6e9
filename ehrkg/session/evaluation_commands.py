"""``ehrkg evaluate``: a model over the questions of a build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ehrkg.session import proposers

if TYPE_CHECKING:
    from rich.console import Console

    from ehrkg.benchmark import Benchmark

MODELS = (
    "anthropic/NAME, openai/NAME, hf/NAME, vllm/NAME, ollama/NAME or any other of Inspect; or the "
    "path of a folder of weights or of a .gguf file"
)
SETTINGS = (
    "How questions are put: plain, or parts joined by +, as likelihood, few_shot5, "
    "chain_of_thought, with_evidence; may be given several times."
)
PERTURB = (
    "Ask each question again, put otherwise with its right answer unchanged: option_order, "
    "fewer_options, more_options, phrasing, fewer_events, irrelevant_events, context_order, "
    "history_length, codes_shown, abbreviations, typos, distractors_random, "
    "distractors_cooccurring, or all; may be given several times."
)
BASELINES = "baselines"
"""In place of a model: the baselines that need none, for --perturb."""


def evaluate(
    directory: Annotated[Path, typer.Argument(help="The folder of a build.")],
    model: Annotated[
        list[str] | None, typer.Option(help=f"Who answers: {MODELS}. May be repeated.")
    ] = None,
    setting: Annotated[list[str] | None, typer.Option(help=SETTINGS)] = None,
    perturb: Annotated[list[str] | None, typer.Option(help=PERTURB)] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Questions at most, drawn by task, format, options.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help="Only items like COLUMN=VALUE (task=treatment); may be repeated."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Where the model is asked, if not at its provider's address.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="A model that says of each open answer whether it names what counts as right; "
            "without --model, of those that stand in the scores."
        ),
    ] = None,
    judge_url: Annotated[
        str | None, typer.Option(help="Where the judge is asked, if not at its provider's address.")
    ] = None,
    bert_score: Annotated[
        str | None,
        typer.Option(
            help="A model (MiniLM, or the folder of an encoder) by which open answers get their "
            "BERTScore; without --model, those that stand in the scores."
        ),
    ] = None,
    temperature: Annotated[
        float, typer.Option(help="Of the answers; below 0 leaves it to the model.")
    ] = 0.0,
    answer_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens of an answer; what the setting needs.")
    ] = None,
    connections: Annotated[int | None, typer.Option(min=1, help="Calls at once.")] = None,
    consent: proposers.Agreed = None,
    max_calls: proposers.MostCalls = None,
    max_tokens: proposers.MostTokens = None,
    max_cost: proposers.MostCost = None,
    prices: proposers.Prices = None,
    controls: Annotated[
        bool, typer.Option(help="Ask the options alone and another patient's stem too.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Names the draws.")] = 7,
) -> None:
    """Let a model answer a build's questions; scores, answers and logs stay with the build.

    Questions hold what single visits hold: a model elsewhere needs --consent visit,... and a model
    on this machine none. Stopped, the same call goes on where it stood. Inspect's own eval-retry
    finds no task in these logs: it would look at no consent, and record nothing for the build.
    """
    from rich.console import Console

    from ehrkg.evaluation import appraise
    from ehrkg.evaluation import evaluate as run
    from ehrkg.evaluation.perturbations import names_in
    from ehrkg.evaluation.perturbations.questions import under_perturbations
    from ehrkg.session.console import StageBars
    from ehrkg.session.evaluation_tables import show_appraised, show_results, show_robustness

    console = Console()
    names = names_in(perturb or [])
    settings = under_perturbations(setting or ["plain"], names)
    bench = _part(directory, by or [])
    asking = proposers.asked_so("visit", consent, max_calls, max_tokens, max_cost, prices)
    shared: dict[str, Any] = {
        "judge": judge,
        "judge_url": judge_url,
        "bert_score": bert_score,
        "limit": limit,
        "seed": seed,
        "consent": asking["consent"],
        "budget": asking["budget"],
        "temperature": temperature if temperature >= 0 else None,
        "connections": connections,
    }
    if not model:
        _check_appraised(judge, bert_score)
        with StageBars(console) as bars:
            appraised = appraise(bench, **shared, progress=bars("judge"))
        show_appraised(console, appraised.scores)
        return
    if BASELINES in model:
        _baselines(console, directory, bench, names, limit, seed)
    for name in (one for one in model if one != BASELINES):
        with StageBars(console) as bars:
            results = run(
                bench,
                name,
                settings=settings,
                controls=controls,
                base_url=base_url,
                max_tokens=answer_tokens,
                progress=bars("evaluate"),
                **shared,
            )
        show_results(console, results, directory)
        show_robustness(console, results.scores)


def _check_appraised(judge: str | None, bert_score: str | None) -> None:
    """Without a model that answers there must be something to appraise answers by."""
    from ehrkg.foundation.errors import UsageError

    if judge is None and bert_score is None:
        raise UsageError(
            "nobody is named to answer",
            todo="add --model M; or --judge M or --bert-score M for the open answers that stand "
            "in the scores",
        )


def _baselines(
    console: Console,
    directory: Path,
    bench: Benchmark,
    names: tuple[str, ...],
    limit: int | None,
    seed: int,
) -> None:
    """The baselines under perturbations; as the questions are, the build has asked them already."""
    from ehrkg.benchmark import Benchmark
    from ehrkg.evaluation.perturbations.scored import perturb_baselines
    from ehrkg.evaluation.scoring.storing import store
    from ehrkg.foundation.errors import UsageError
    from ehrkg.foundation.ledger import Ledger
    from ehrkg.foundation.workspace import hold
    from ehrkg.session.evaluation_tables import show_perturbed, show_robustness

    if not names:
        raise UsageError(
            "a build's scores hold its baselines already", todo="add --perturb all, or one by name"
        )
    ledger = Ledger()
    drawn_by = ["task", "format", "n_options"]
    part = bench if limit is None else bench.sample(limit, by=drawn_by, seed=seed)
    with hold(directory):
        scores = perturb_baselines(
            Benchmark.open(directory), names, part=part, seed=seed, ledger=ledger
        )
        store(directory, scores, [])
    show_perturbed(console, ledger)
    show_robustness(console, scores)


def _part(directory: Path, by: list[str]) -> Benchmark:
    """The questions of a build that have some values."""
    from ehrkg.benchmark import Benchmark
    from ehrkg.foundation.errors import UsageError

    conditions: dict[str, list[str | int]] = {}
    for words in by:
        column, equals, value = words.partition("=")
        if not equals:
            raise UsageError(f"no condition: {words!r}", todo="write COLUMN=VALUE: task=treatment")
        conditions.setdefault(column, []).append(int(value) if value.isdigit() else value)
    bench = Benchmark.open(directory)
    return bench.filter(**conditions) if conditions else bench
