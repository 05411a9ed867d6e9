"""Any server of the OpenAI protocol: vLLM, llama.cpp, Ollama, or a service."""

from __future__ import annotations

import os
from typing import Any, Unpack

from ehrkg.foundation.errors import ServiceError, UsageError
from ehrkg.propose.models.answers import read_answer
from ehrkg.propose.models.asking import ANSWERED, CUT_SHORT, REFUSED, UNREADABLE, Question, Reply
from ehrkg.propose.models.language_model import Asking, LanguageModel
from ehrkg.propose.models.places import is_here

MOST_TOKENS = 1024
"""Tokens of an answer at most."""


class OpenAICompatibleModel:
    """A model behind ``/v1/chat/completions``; see ``ehrkg.propose.models.asking.Model``.

    Asks for an answer in the question's JSON schema. A server that refuses the schema with 400 is
    asked without it from then on, and its answers are read as they come.

    Args:
        base_url: the server's address, with ``/v1``.
        model: its name, as the server knows it.
        api_key: from OPENAI_API_KEY for ``None``; servers on this machine need none.
        max_retries: of the SDK, for 408, 409, 429, 5xx, time-outs and cut connections.
        timeout: seconds an answer may take.
        workers: questions asked at once.
        most_tokens: of an answer; a longer one is cut short, kept and counted so.

    Raises:
        UsageError: the SDK is not installed.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        max_retries: int = 4,
        timeout: float = 300.0,
        workers: int = 2,
        most_tokens: int = MOST_TOKENS,
    ) -> None:
        try:
            import openai
        except ImportError as error:
            raise UsageError(
                "the package openai is not installed", todo="pip install 'ehrkg[openai]'"
            ) from error
        self.model = model
        self.name = f"openai/{model}"
        self.remote = not is_here(base_url)
        self.workers = workers
        self.most_tokens = most_tokens
        self._holds_to_schema = True
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or os.environ.get("OPENAI_API_KEY") or "none",
            max_retries=max_retries,
            timeout=timeout,
        )

    def __repr__(self) -> str:
        return f"OpenAICompatibleModel({self.model!r})"

    def answer(self, question: Question) -> Reply:
        """See ``Model.answer``."""
        import openai

        try:
            return self._ask(question)
        except openai.BadRequestError as error:
            if self._holds_to_schema:
                self._holds_to_schema = False
                return self.answer(question)
            raise self._failure(error) from error
        except openai.APIStatusError as error:
            raise self._failure(error) from error
        except openai.APIConnectionError as error:
            raise ServiceError(
                f"{self.name} can't be reached: {error}",
                todo="start the server, or mend base_url; recorded answers are reused",
            ) from error

    def _ask(self, question: Question) -> Reply:
        form: dict[str, Any] = {}
        if self._holds_to_schema:
            schema = {"name": "answer", "schema": dict(question.schema), "strict": True}
            form = {"response_format": {"type": "json_schema", "json_schema": schema}}
        done = self._client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.text},
            ],
            max_tokens=self.most_tokens,
            temperature=0.0,
            seed=7,
            **form,
        )
        choice = done.choices[0] if done.choices else None
        tokens_in = done.usage.prompt_tokens if done.usage else 0
        tokens_out = done.usage.completion_tokens if done.usage else 0
        if choice is None:
            return Reply(UNREADABLE, None, tokens_in, tokens_out)
        if choice.message.refusal or choice.finish_reason == "content_filter":
            return Reply(REFUSED, None, tokens_in, tokens_out)
        if choice.finish_reason == "length":
            return Reply(CUT_SHORT, None, tokens_in, tokens_out)
        content = read_answer(question.scope, choice.message.content or "")
        status = ANSWERED if content is not None else UNREADABLE
        return Reply(status, content, tokens_in, tokens_out)

    def _failure(self, error: Any) -> ServiceError:
        return ServiceError(
            f"{self.name} answers {error.status_code}: {error.message}",
            todo="mend what it says and run the same call: recorded answers are reused",
        )


class OpenAICompatible(LanguageModel):
    """Propose with a model behind a server of the OpenAI protocol.

    Args:
        base_url: the server's address, with ``/v1``. One on this machine needs no consent.
        model: its name, as the server knows it.
        api_key: see ``OpenAICompatibleModel``.
        asking: ``per``, ``consent``, ``budget`` and the rest of ``LanguageModel``'s.

    >>> OpenAICompatible("http://127.0.0.1:8080/v1", "small")  # asked when it proposes
    OpenAICompatible('openai/small', per='pair')
    """

    def __init__(
        self, base_url: str, model: str, *, api_key: str | None = None, **asking: Unpack[Asking]
    ) -> None:
        super().__init__(OpenAICompatibleModel(base_url, model, api_key=api_key), **asking)
