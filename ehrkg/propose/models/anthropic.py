"""Claude, through the official SDK: structured outputs, its retries, its time-outs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Unpack

from ehrkg.foundation.errors import ServiceError, UsageError
from ehrkg.propose.models.answers import read_answer
from ehrkg.propose.models.asking import ANSWERED, CUT_SHORT, REFUSED, UNREADABLE, Question, Reply
from ehrkg.propose.models.language_model import Asking, LanguageModel
from ehrkg.propose.models.places import is_here

if TYPE_CHECKING:
    from anthropic.types import Message
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

HOME = "https://api.anthropic.com"
MOST_TOKENS = 1024
"""Tokens of an answer at most: a list of numbers is far shorter."""


class AnthropicModel:
    """A model of Anthropic's Messages API; see ``ehrkg.propose.models.asking.Model``.

    Args:
        model: its name, as the API knows it.
        base_url: where it is served; ANTHROPIC_BASE_URL or Anthropic's own address for ``None``.
        api_key: from ANTHROPIC_API_KEY for ``None``; kept nowhere.
        max_retries: of the SDK, for 408, 409, 429, 5xx, 529, time-outs and cut connections.
        timeout: seconds an answer may take.
        workers: questions asked at once.
        most_tokens: of an answer; a longer one is cut short, kept and counted so.

    Raises:
        UsageError: there is no key.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        max_retries: int = 4,
        timeout: float = 120.0,
        workers: int = 4,
        most_tokens: int = MOST_TOKENS,
    ) -> None:
        import anthropic

        url = base_url or os.environ.get("ANTHROPIC_BASE_URL") or HOME
        if api_key is None and not os.environ.get("ANTHROPIC_API_KEY"):
            raise UsageError(
                "no key for Anthropic's API",
                todo="set ANTHROPIC_API_KEY, or propose by co-occurrence or a local model",
            )
        self.model = model
        self.name = f"anthropic/{model}"
        self.remote = not is_here(url)
        self.workers = workers
        self.most_tokens = most_tokens
        self._client = anthropic.Anthropic(
            base_url=url, api_key=api_key, max_retries=max_retries, timeout=timeout
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    def answer(self, question: Question) -> Reply:
        """See ``Model.answer``."""
        with self.failures():
            message = self._client.messages.create(**self.asked(question))
        return reply_of(question.scope, message)

    def asked(self, question: Question) -> MessageCreateParamsNonStreaming:
        """The request that asks a question."""
        import anthropic

        # What the API does not enforce, a list's length for one, is said to the model in words.
        schema = anthropic.transform_schema(dict(question.schema))
        return {
            "model": self.model,
            "max_tokens": self.most_tokens,
            "system": question.system,
            "messages": [{"role": "user", "content": question.text}],
            "output_config": {"format": {"type": "json_schema", "schema": schema}},
        }

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Turn what the SDK gives up on into an error that says what to do."""
        import anthropic

        try:
            yield
        except anthropic.APIConnectionError as error:
            raise ServiceError(
                f"{self.name} can't be reached: {error}",
                todo="try again: recorded answers are reused",
            ) from error
        except anthropic.APIStatusError as error:
            raise ServiceError(
                f"{self.name} answers {error.status_code}: {error.message}",
                todo="mend what it says and run the same call: recorded answers are reused",
            ) from error


def reply_of(scope: str, message: Message) -> Reply:
    """What a message says, as a reply to a question of a scope."""
    used = message.usage
    status, content = ANSWERED, None
    if message.stop_reason == "refusal":
        status = REFUSED
    elif message.stop_reason == "max_tokens":
        status = CUT_SHORT
    else:
        text = "".join(block.text for block in message.content if block.type == "text")
        content = read_answer(scope, text)
        status = ANSWERED if content is not None else UNREADABLE
    return Reply(status, content, used.input_tokens, used.output_tokens)


class Anthropic(LanguageModel):
    """Propose with a model of Anthropic's.

    Args:
        model: its name, as the API knows it.
        base_url, api_key: see ``AnthropicModel``.
        asking: ``per``, ``consent``, ``budget`` and the rest of ``LanguageModel``'s.

    Raises:
        UsageError: there is no key.

    >>> from ehrkg.propose import Anthropic, Consent
    >>> agreed = Consent("pair", no_retention=True, no_training=True, no_human_review=True)
    >>> Anthropic("claude-of-your-choice", api_key="...", consent=agreed)
    Anthropic('anthropic/claude-of-your-choice', per='pair')
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        **asking: Unpack[Asking],
    ) -> None:
        super().__init__(AnthropicModel(model, base_url=base_url, api_key=api_key), **asking)
