"""One model over a benchmark: consent, prompts, answers, scores, and where they are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation.asking.answer_names import names_of
from ehrkg.evaluation.models.budgeted import ask_within
from ehrkg.evaluation.models.generation import Generation
from ehrkg.evaluation.models.named import AskedModel, model_named
from ehrkg.evaluation.models.questioning import Put, Questioning, whole_only, with_controls
from ehrkg.evaluation.models.running import check_inspect
from ehrkg.evaluation.models.scored import scores_of
from ehrkg.evaluation.scoring.storing import ANSWERS, LOGS, Evaluation, folder_of, store
from ehrkg.evaluation.settings import LIKELIHOOD, Setting
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.growing import MANIFEST
from ehrkg.foundation.progress import Progress, Silent
from ehrkg.foundation.workspace import hold
from ehrkg.propose.models.asking import Reply
from ehrkg.propose.models.budget import Budget
from ehrkg.propose.models.consent import Consent, check_consent
from ehrkg.propose.models.recorded import RecordedAnswers

UNKNOWN = "mimic"
"""What a benchmark whose tables are not known counts as: the format whose terms ask for most."""

ASKED_BY = ("ehrkg", "inspect-ai")


@dataclass(frozen=True)
class Terms:
    """How a model is asked, beside the settings.

    Attributes:
        generation: how it makes its answers.
        limit: how many questions at most, drawn by task, format and number of options.
        seed: of that draw, of the swaps of stems and of the choice of examples.
        consent: needed for a model that is not on this machine.
        budget: where to stop.
        keep: whether scores go into the build that the benchmark was opened from.
        progress: told of each question that has its answer.
    """

    generation: Generation = field(default_factory=Generation)
    limit: int | None = None
    seed: int = 7
    consent: Consent | None = None
    budget: Budget = field(default_factory=Budget)
    keep: bool = True
    progress: Progress = field(default_factory=Silent)


def evaluate_model(
    benchmark: Benchmark,
    model: str | Path | Callable[[list[str]], Any],
    settings: Sequence[Setting | str],
    terms: Terms,
    *,
    controls: bool = True,
    base_url: str | None = None,
    name: str | None = None,
) -> pa.Table:
    """Ask a model every question in every setting that suits it, and score what it says.

    Args:
        benchmark: the questions.
        model: see ``model_named``.
        settings: how they are put; each brings its two controls.
        terms: how the model is asked.
        controls: whether the controls are asked too.
        base_url: where the model is asked, if not at its provider's address.
        name: as it shall stand in the scores; by default its own.

    Returns:
        The schema ``SCORES``.

    Raises:
        UsageError: the model or a setting is unknown, or the model is remote and consent is
            lacking; nothing was sent.
        ServiceError: the model is not there; what it answered is recorded, and the same call goes
            on from there.
    """
    check_inspect()
    asked_model = model_named(model, terms.generation, base_url=base_url, name=name)
    check_allowed(asked_model, benchmark, terms)
    chosen = with_controls(settings, controls=controls)
    if asked_model.path is None and any(one.reading == LIKELIHOOD for one in chosen):
        raise UsageError(
            f"{asked_model.name} does not tell how likely it finds an option",
            todo="read its answers by letter, or name weights on this machine by their path",
        )
    questioning = Questioning(benchmark, chosen, limit=terms.limit, seed=terms.seed)
    finished = build_of(benchmark) if terms.keep else None
    with kept_in(finished, asked_model) as folder:
        run = _Asking(asked_model, questioning, terms, folder)
        put, replies = run.answered()
        scores = scores_of(
            put,
            replies,
            names_of(benchmark) if any(one.question.format == "oeq" for one in put) else {},
            model=asked_model.name,
            budget=terms.budget,
        )
        if finished is not None:
            store(finished, scores, _told(asked_model, put, terms, questioning))
    return scores


def check_allowed(model: AskedModel, benchmark: Benchmark, terms: Terms) -> None:
    """Refuse to send anything to a remote model without consent for what visits hold.

    Raises:
        UsageError: it is lacking.
    """
    if model.remote:
        check_consent(
            terms.consent,
            model=model.name,
            scope="visit",
            hospital_format=_format(benchmark),
        )


def _format(benchmark: Benchmark) -> str:
    """How the hospital's tables were read, which decides what its terms ask for."""
    if "format" in benchmark.manifest:
        return str(benchmark.manifest["format"])
    if benchmark.store is None:
        return UNKNOWN
    rows = benchmark.store.query("MATCH (b:Build) RETURN b.ehr_format AS format").to_pylist()
    return next((row["format"] for row in rows if row["format"]), UNKNOWN)


def build_of(benchmark: Benchmark) -> Path | None:
    """The build that a benchmark was opened from, if it was one."""
    folder = benchmark.folder
    return folder if folder is not None and (folder / MANIFEST).is_file() else None


@contextmanager
def kept_in(out: Path | None, model: AskedModel) -> Iterator[Path]:
    """Where answers are recorded: with the build, held for as long; else for this call only."""
    if out is None:
        with TemporaryDirectory(prefix="ehrkg-evaluation-") as folder:
            yield Path(folder)
        return
    with hold(out):
        yield folder_of(out, model.name)


class _Asking:
    """The prompts of one call, asked as far as the budget goes."""

    def __init__(
        self, model: AskedModel, questioning: Questioning, terms: Terms, folder: Path
    ) -> None:
        self._model, self._questioning, self._terms = model, questioning, terms
        self._answers = RecordedAnswers(folder / ANSWERS)
        self._logs = folder / LOGS
        generation = terms.generation.key()
        self._keyed_by = f"{model.identity} {generation}"

    def answered(self) -> tuple[list[Put], list[Reply]]:
        """The questions that were answered in all their settings, with the replies."""
        put = self._questioning.put
        done = ask_within(
            self._terms.budget,
            self._model,
            [one.prompted for one in put],
            self._answers,
            self._logs,
            keyed_by=self._keyed_by,
            generation=self._terms.generation,
            tokens=self._questioning.tokens(self._terms.generation.max_tokens),
            progress=self._terms.progress,
            saying=f"asking {self._model.name}",
        )
        whole = whole_only(put, done)
        return whole, [self._answers[one.prompted.key(self._keyed_by)] for one in whole]


def _told(
    model: AskedModel, put: Sequence[Put], terms: Terms, questioning: Questioning
) -> list[Evaluation]:
    """What stands in the manifest, one a setting."""
    prompts: dict[str, dict[str, str]] = {}
    for one in put:
        prompts.setdefault(one.setting.name, {})[one.question.format] = one.prompt
    return [
        Evaluation(
            model=model.name,
            setting=setting,
            remote=model.remote,
            own=model.own,
            address=model.address,
            consent=terms.consent.settings() if terms.consent and model.remote else None,
            asked_as={
                **terms.generation.settings(),
                "model": model.identity,
                "seed": terms.seed,
            },
            prompts=words,
            versions=versions_asked_by(),
            missing=questioning.perturbed.missing(Setting.parse(setting).perturbation),
        )
        for setting, words in sorted(prompts.items())
    ]


def versions_asked_by() -> dict[str, str]:
    """The versions of the packages that ask."""
    found = {}
    for package in ASKED_BY:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
