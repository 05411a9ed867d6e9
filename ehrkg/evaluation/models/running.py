"""Ask a model through Inspect, and record each answer as it comes.

Inspect has the providers, the concurrency, the retries, the logs and their viewer. What is kept
here is each answer by what was asked: so a run that was stopped goes on, a prompt that stands in
two settings is asked once, and logs may be deleted. Inspect's own cache stays off: it lies in the
user's home, where nobody would look for patients.
"""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ehrkg.evaluation.models.generation import Generation
from ehrkg.evaluation.models.named import AskedModel
from ehrkg.evaluation.models.prompted import Prompted
from ehrkg.foundation.errors import EhrkgError, ServiceError, UsageError
from ehrkg.foundation.progress import Progress
from ehrkg.propose.models.asking import ANSWERED, CUT_SHORT, REFUSED, Reply
from ehrkg.propose.models.recorded import RecordedAnswers

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.model import ModelUsage

STOPS = {"max_tokens": CUT_SHORT, "model_length": CUT_SHORT, "content_filter": REFUSED}
"""Why an answer ends, as Inspect says, and how that is counted."""

QUIET = {
    "INSPECT_TELEMETRY": "",
    "INSPECT_EVAL_NOTIFICATION": "",
    "INSPECT_EVAL_MODEL_BASE_URL": "",
    "INSPECT_TRACE_LEVEL": "CRITICAL",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "ANONYMIZED_TELEMETRY": "False",
}
"""What the environment says while Inspect runs: nothing is told to anybody, no address counts but
the one that was judged, and Inspect's traces, which lie in the user's home, stay empty."""

REACHED_IN = 20.0
"""Seconds within which a server takes a connection."""

LOOPBACK = "localhost,127.0.0.1,::1"


def check_there(model: AskedModel) -> None:
    """Look whether anybody listens where a model is asked.

    Raises:
        ServiceError: nobody does.
    """
    if model.address is None:
        return
    place = urlsplit(model.address)
    port = place.port or (443 if place.scheme == "https" else 80)
    try:
        socket.create_connection((place.hostname or "", port), timeout=REACHED_IN).close()
    except OSError as error:
        raise ServiceError(
            f"nobody answers at {model.address}: {error.strerror or error}",
            todo="start the server, or mend the address; recorded answers are reused",
        ) from error


def check_inspect() -> None:
    """Look whether Inspect is installed.

    Raises:
        UsageError: it is not.
    """
    if find_spec("inspect_ai") is None:
        raise UsageError(
            "models are asked through Inspect, and the package inspect-ai is not installed",
            todo="pip install 'ehrkg[eval]'",
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Let Inspect reach nothing but the model; the environment is then as it was."""
    before = dict(os.environ)
    proxies = {
        name: ",".join(filter(None, (os.environ.get(name, ""), LOOPBACK)))
        for name in ("NO_PROXY", "no_proxy")
    }
    os.environ.update(QUIET | proxies)
    try:
        yield
    finally:
        for name in {*QUIET, *proxies}:
            if name in before:
                os.environ[name] = before[name]
            else:
                os.environ.pop(name, None)


def ask(
    model: AskedModel,
    asked: Sequence[Prompted],
    answers: RecordedAnswers,
    logs: Path,
    *,
    keyed_by: str,
    generation: Generation,
    tokens: Mapping[str, int],
    progress: Progress,
) -> None:
    """Have every question answered that is not answered yet; each answer is recorded as it comes.

    Args:
        model: who answers.
        asked: the questions; those asked before, in this run or another, are not asked again.
        answers: where answers are recorded.
        logs: the folder for Inspect's logs. They hold what was asked.
        keyed_by: with the prompt, under what an answer is recorded: who answers, and how.
        generation: how it answers.
        tokens: of an answer at most, by setting.
        progress: told of each question that has its answer.

    Raises:
        ServiceError: the model is not there, or fails; what was answered is recorded.
        EhrkgError: what a model of ours says.
    """
    lacking: dict[str, Prompted] = {}
    serves: Counter[str] = Counter()
    for one in asked:
        key = one.key(keyed_by)
        serves[key] += 1
        if answers.get(key) is None:
            lacking.setdefault(key, one)
    progress.advance(sum(count for key, count in serves.items() if key not in lacking))
    if not lacking:
        return
    check_there(model)
    run = _Run(model, answers, lambda key: progress.advance(serves[key]))
    with quiet():
        statuses = run.through_inspect(lacking, logs, generation, tokens)
    if run.failure is not None:
        raise _said(model, run.failure) from run.failure
    if "cancelled" in statuses:
        raise KeyboardInterrupt
    left = [one.item_id for key, one in lacking.items() if answers.get(key) is None]
    if left:
        raise ServiceError(
            f"{model.name} left {len(left)} questions unanswered, {left[0]} among them",
            todo=f"read Inspect's logs: inspect view --log-dir {logs}; then call again",
        )


class _Run:
    """One call of Inspect."""

    def __init__(
        self, model: AskedModel, answers: RecordedAnswers, done: Callable[[str], None]
    ) -> None:
        self._model, self._answers, self._done = model, answers, done
        self.failure: Exception | None = None

    def through_inspect(
        self,
        lacking: Mapping[str, Prompted],
        logs: Path,
        generation: Generation,
        tokens: Mapping[str, int],
    ) -> set[str]:
        """Ask; the statuses of Inspect's logs, a task a setting."""
        import inspect_ai

        made = self._made()
        tasks = [
            self._task(setting, {k: a for k, a in lacking.items() if a.setting == setting}, most)
            for setting, most in tokens.items()
            if any(one.setting == setting for one in lacking.values())
        ]
        at_once = filter(None, (generation.connections, self._model.at_once))
        found = inspect_ai.eval(
            tasks,
            model=made,
            log_dir=str(logs),
            display="none",
            log_level="error",
            log_realtime=False,
            ctl_server=False,
            fail_on_error=True,
            max_tasks=len(tasks),
            score_display=False,
            temperature=generation.temperature,
            max_retries=generation.retries,
            attempt_timeout=generation.timeout,
            max_connections=min(at_once, default=None),
        )
        return {log.status for log in found}

    def _made(self) -> Any:
        from inspect_ai._util.error import PrerequisiteError

        try:
            return self._model.make()
        except (PrerequisiteError, ValueError, ImportError) as error:
            raise UsageError(
                f"{self._model.name} can't be asked: {_first_line(error)}",
                todo="mend what it says; Inspect's documentation names what each provider needs",
            ) from error

    def _task(self, setting: str, asked: Mapping[str, Prompted], most: int) -> Task:
        from inspect_ai import Task
        from inspect_ai.dataset import MemoryDataset, Sample
        from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, GenerateConfig

        samples = []
        for key, one in asked.items():
            said: list[ChatMessage] = [ChatMessageSystem(content=one.system)] if one.system else []
            said.append(ChatMessageUser(content=one.text))
            about = {"key": key, "templates": list(one.templates), "choices": list(one.choices)}
            samples.append(Sample(id=one.item_id, input=said, target=one.right, metadata=about))
        return Task(
            name=setting,
            dataset=MemoryDataset(samples, name=setting),
            solver=self._solver(),
            config=GenerateConfig(max_tokens=most),
        )

    def _solver(self) -> Any:
        from inspect_ai.model import GenerateConfig
        from inspect_ai.solver import Generate, Solver, TaskState, solver

        @solver(name="asked_once")
        def asked_once() -> Solver:
            async def solve(state: TaskState, generate: Generate) -> TaskState:
                if self.failure is not None:  # no more is asked of a model that is not there
                    raise self.failure
                began = time.monotonic()
                choices = state.metadata["choices"]
                weighed = {"extra_body": {"choices": choices}} if choices else {}
                try:
                    state = await generate(
                        state, **GenerateConfig(**weighed).model_dump(exclude_none=True)
                    )
                except Exception as error:
                    self.failure = self.failure or error
                    raise
                self._record(state, time.monotonic() - began)
                return state

            return solve

        return asked_once()

    def _record(self, state: Any, seconds: float) -> None:
        output, about = state.output, state.metadata
        usage = output.usage
        content = {
            "text": output.completion,
            "seconds": round(seconds if output.time is None else output.time, 3),
            "templates": about["templates"],
            **({"chances": output.metadata["chances"]} if output.metadata else {}),
        }
        status = STOPS.get(output.stop_reason, ANSWERED)
        spent = (_read(usage), usage.output_tokens) if usage else (0, 0)
        self._answers.put(about["key"], Reply(status, content, *spent))
        self._done(about["key"])


def _read(usage: ModelUsage) -> int:
    """Tokens of a prompt; Inspect counts apart what the service had kept of an earlier one."""
    kept = (usage.input_tokens_cache_read, usage.input_tokens_cache_write)
    return usage.input_tokens + sum(one or 0 for one in kept)


def _said(model: AskedModel, failure: Exception) -> Exception:
    """A failure in words; a function's own error is its owner's to read."""
    from tenacity import RetryError

    if isinstance(failure, RetryError):
        failure = failure.last_attempt.exception() or failure  # type: ignore[assignment]
    if isinstance(failure, EhrkgError) or model.own:
        return failure
    return ServiceError(
        f"{model.name} does not answer: {type(failure).__name__}: {_first_line(failure)}",
        todo="start the server, or mend what it says, and run the same call: recorded answers are "
        "reused",
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
