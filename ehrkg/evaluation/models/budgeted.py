"""Prompts asked in their order, as far as a budget goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ehrkg.evaluation.models.generation import Generation
from ehrkg.evaluation.models.named import AskedModel
from ehrkg.evaluation.models.prompted import Prompted
from ehrkg.evaluation.models.running import ask
from ehrkg.foundation.progress import Progress
from ehrkg.propose.models.budget import Budget
from ehrkg.propose.models.recorded import RecordedAnswers

BLOCK = 96
"""Prompts between two looks at what a budget has left; without a limit all are asked at once."""


def ask_within(
    budget: Budget,
    model: AskedModel,
    prompts: Sequence[Prompted],
    answers: RecordedAnswers,
    logs: Path,
    *,
    keyed_by: str,
    generation: Generation,
    tokens: Mapping[str, int],
    progress: Progress,
    saying: str,
) -> int:
    """Have the first prompts answered, as many as a budget pays for.

    Args:
        budget: where to stop; recorded answers count as if they were asked again.
        model: who answers.
        prompts: in the order in which they are paid for.
        answers: where answers are recorded.
        logs: the folder for Inspect's logs.
        keyed_by: see ``ask``, as for generation and tokens.
        generation: how it answers.
        tokens: of an answer at most, by setting.
        progress: told of each prompt that has its answer.
        saying: what is done, for the progress; the numbers are put behind it.

    Returns:
        How many of the prompts have their answer.

    Raises:
        ServiceError: the model is not there, or fails; what was answered is recorded.
    """
    spent, done = budget.start(), 0
    limited = any((budget.max_calls, budget.max_tokens, budget.max_cost))
    within = prompts[: spent.affordable(prompts, len(prompts))]
    keys = {one.key(keyed_by) for one in within}
    fresh = sum(answers.get(key) is None for key in keys)
    progress.start(f"{saying} {fresh:,} prompts, {len(keys) - fresh:,} recorded", len(within))
    while number := spent.affordable(prompts[done:], BLOCK if limited else len(prompts)):
        block = prompts[done : done + number]
        ask(
            model,
            block,
            answers,
            logs,
            keyed_by=keyed_by,
            generation=generation,
            tokens=tokens,
            progress=progress,
        )
        spent.take([answers[one.key(keyed_by)] for one in block])
        done += number
    return done
