"""Claude by Message Batches: half the price, an answer within a day, and all of it kept there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from ehrkg.foundation.errors import ServiceError
from ehrkg.propose.models.anthropic import AnthropicModel, reply_of
from ehrkg.propose.models.asking import Question, Reply
from ehrkg.propose.models.language_model import Asking, LanguageModel
from ehrkg.propose.models.recorded import SentBatches

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

MOST_QUESTIONS = 10_000
"""Of a batch. The API takes ten times as many; the budget is looked at between two batches."""

ROUNDS = 3
"""How often a question is sent that the service let expire or failed to answer."""

SHORT_WAIT, LONG_WAIT = 5.0, 120.0
"""Seconds between two looks at a batch, growing from the one to the other."""


class AnthropicBatchModel(AnthropicModel):
    """A model of Anthropic's, asked by Message Batches; see ``asking.BatchModel``.

    A batch's id is on disk before its answers are waited for, so a run that is killed meanwhile
    collects the batch when it is called again, and sends nothing twice. Answers are recorded under
    the same keys as those of ``AnthropicModel``.

    Args:
        model: its name, as the API knows it.
        first_wait: seconds before the first look at a batch.
        given: ``base_url``, ``api_key`` and the rest of ``AnthropicModel``'s.

    Raises:
        UsageError: there is no key.
    """

    retains = True
    most = MOST_QUESTIONS

    def __init__(self, model: str, *, first_wait: float = SHORT_WAIT, **given: Any) -> None:
        super().__init__(model, **given)
        self._first_wait = first_wait

    def answer_all(
        self,
        questions: Mapping[str, Question],
        sent: SentBatches,
        take: Callable[[str, Reply], None],
    ) -> None:
        """See ``BatchModel.answer_all``."""
        left = dict(questions)

        def took(key: str, reply: Reply) -> None:
            left.pop(key, None)
            take(key, reply)

        for batch, scope in sent.under_way().items():
            self._collect(batch, scope, sent, took)
        for _ in range(ROUNDS):
            if not left:
                return
            batch, scope = self._send(left), next(iter(left.values())).scope
            sent.add(batch, scope)
            self._collect(batch, scope, sent, took)
        if left:
            raise ServiceError(
                f"{self.name} left {len(left)} of {len(questions)} questions without an answer "
                f"in {ROUNDS} batches",
                todo="run the same call later: only these are sent again",
            )

    def _send(self, questions: Mapping[str, Question]) -> str:
        with self.failures():
            batch = self._client.messages.batches.create(
                requests=[
                    {"custom_id": key, "params": self.asked(question)}
                    for key, question in questions.items()
                ]
            )
        return batch.id

    def _collect(
        self, batch: str, scope: str, sent: SentBatches, take: Callable[[str, Reply], None]
    ) -> None:
        """Wait for a batch and take what it holds; what expired or failed there is not taken."""
        refused: list[str] = []
        cancelled = 0
        with self.failures():
            for row in self._results(self._wait(batch)):
                if row.result.type == "succeeded":
                    take(row.custom_id, reply_of(scope, row.result.message))
                elif why := _refusal(row):
                    refused.append(why)
                cancelled += row.result.type == "canceled"
        sent.collected(batch)
        if refused:
            raise ServiceError(
                f"{self.name} refuses {len(refused)} questions of the batch {batch}: {refused[0]}",
                todo="mend what it says and run the same call: the other answers are recorded",
            )
        if cancelled:
            raise ServiceError(
                f"the batch {batch} was cancelled with {cancelled} questions open",
                todo="run the same call to send these again",
            )

    def _results(self, ended: MessageBatch) -> Iterator[MessageBatchIndividualResponse]:
        from anthropic.types.messages import MessageBatchIndividualResponse

        if ended.results_url is None:  # gone after some weeks: the questions are open as before
            return
        # Read whole, the SDK asks again where the connection is cut; streamed, it can't.
        text = self._client.get(ended.results_url, cast_to=str)
        for line in text.splitlines():
            yield MessageBatchIndividualResponse.model_validate_json(line)

    def _wait(self, batch: str) -> MessageBatch:
        wait = self._first_wait
        while True:
            found = self._client.messages.batches.retrieve(batch)
            if found.processing_status == "ended":
                return found
            time.sleep(wait)
            wait = min(1.5 * wait, LONG_WAIT)


def _refusal(row: MessageBatchIndividualResponse) -> str:
    """Why a request can't be answered however often it is sent; "" where it can."""
    if row.result.type != "errored":
        return ""
    error = row.result.error.error
    return error.message if error.type == "invalid_request_error" else ""


class AnthropicBatches(LanguageModel):
    """Propose with a model of Anthropic's by Message Batches, for data that may be kept there.

    Args:
        model: its name, as the API knows it.
        base_url, api_key: see ``AnthropicModel``.
        asking: ``per``, ``consent``, ``budget`` and the rest of ``LanguageModel``'s. The consent
            needs its second word, ``may_be_retained``.

    Raises:
        UsageError: there is no key.

    >>> from ehrkg.propose import Consent
    >>> agreed = Consent("pair", may_be_retained=True)
    >>> AnthropicBatches("claude-of-your-choice", api_key="...", consent=agreed)
    AnthropicBatches('anthropic/claude-of-your-choice', per='pair')
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        **asking: Unpack[Asking],
    ) -> None:
        super().__init__(AnthropicBatchModel(model, base_url=base_url, api_key=api_key), **asking)
