"""Proposers by the words that name them on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from ehrkg.foundation.errors import UsageError
from ehrkg.propose import Budget, Consent, Cooccurrence, Proposer
from ehrkg.propose.models.language_model import Asking

WAYS = (
    "cooccurrence, local, transformers:FOLDER, openai:MODEL@URL, anthropic:MODEL, "
    "anthropic-batch:MODEL; several joined by +"
)


PROMISES = ("no-retention", "no-training", "no-human-review", "may-be-retained")
"""The last is no promise of the service but the user's second word, which batches need."""

ProposerWords = Annotated[str, typer.Option("--proposer", help=f"Who proposes relations: {WAYS}.")]
PerWhat = Annotated[
    str, typer.Option("--per", help="What a model is asked about: each pair of codes, or a visit.")
]
Agreed = Annotated[
    str | None,
    typer.Option(
        "--consent",
        help="What a remote model may be sent, and what its service has promised: pair or visit, "
        f"then any of {', '.join(PROMISES)}, with commas between.",
    ),
]
MostCalls = Annotated[
    int | None, typer.Option("--max-calls", min=1, help="Questions to a model at most.")
]
MostTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Tokens of questions and answers at most.")
]
MostCost = Annotated[
    float | None, typer.Option("--max-cost", help="What a model may cost; needs --prices.")
]
Prices = Annotated[
    str | None,
    typer.Option(
        "--prices", help="Of a million tokens of questions and of answers, as 3.0,15.0: for costs."
    ),
]


def consent_said(words: str) -> Consent:
    """The consent that a user's words give.

    Raises:
        UsageError: a word is unknown.

    >>> consent_said("pair,no-retention,no-training,no-human-review").no_training
    True
    """
    scope, *promises = [word.strip() for word in words.split(",")]
    unknown = sorted(set(promises) - set(PROMISES))
    if unknown:
        raise UsageError(
            f"no such promise: {', '.join(unknown)}", todo=f"use {', '.join(PROMISES)}"
        )
    return Consent(
        scope,
        no_retention="no-retention" in promises,
        no_training="no-training" in promises,
        no_human_review="no-human-review" in promises,
        may_be_retained="may-be-retained" in promises,
    )


def asked_so(
    per: str,
    consent: str | None,
    max_calls: int | None,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    prices: str | None = None,
) -> Asking:
    """How models are asked, from what a user says on the command line.

    Raises:
        UsageError: words that can't be read, or a cost without prices.

    >>> asked_so("pair", None, 500, prices="3,15")["budget"].price_out
    15.0
    """
    price_in, price_out = _prices(prices) if prices else (None, None)
    return {
        "per": per,
        "consent": consent_said(consent) if consent else None,
        "budget": Budget(max_calls, max_tokens, max_cost, price_in, price_out),
    }


def _prices(words: str) -> tuple[float, float]:
    try:
        price_in, price_out = map(float, words.split(","))
    except ValueError as error:
        raise UsageError(f"no prices: {words!r}", todo="write two numbers, as 3.0,15.0") from error
    return price_in, price_out


def proposer_named(words: str, asking: Asking | None = None) -> Proposer:
    """The proposer that words name.

    Args:
        words: ``cooccurrence``; ``local`` (the small model of ``ehrkg[local]``);
            ``transformers:FOLDER``; ``openai:MODEL@URL``; ``anthropic:MODEL``;
            ``anthropic-batch:MODEL``; several joined by ``+``.
        asking: how models are asked.

    Raises:
        UsageError: the words name nothing.

    >>> proposer_named("cooccurrence").name
    'cooccurrence'
    >>> proposer_named("oracle")
    Traceback (most recent call last):
    ehrkg.foundation.errors.UsageError: no such proposer: 'oracle'
      do: use cooccurrence, local, ...
    """
    named = [_one(word.strip(), asking or {}) for word in words.split("+")]
    if len(named) == 1:
        return named[0]
    from ehrkg.propose import Union

    return Union(*named)


def _one(word: str, asking: Asking) -> Proposer:
    kind, _, rest = word.partition(":")
    make = _KINDS.get(kind)
    if make is None or (kind in _NAMED and not rest):
        raise UsageError(f"no such proposer: {word!r}", todo=f"use {WAYS}")
    return make(rest, asking)


def _cooccurrence(_rest: str, _asking: Asking) -> Proposer:
    return Cooccurrence()


def _local(_rest: str, asking: Asking) -> Proposer:
    from ehrkg.propose import Transformers
    from ehrkg.propose.models.small_model import small_model

    weights = small_model()
    return Transformers(weights.parent, gguf_file=weights.name, **asking)


def _transformers(rest: str, asking: Asking) -> Proposer:
    from ehrkg.propose import Transformers

    return Transformers(rest, **asking)


def _openai(rest: str, asking: Asking) -> Proposer:
    from ehrkg.propose import OpenAICompatible

    model, _, url = rest.partition("@")
    if not url:
        raise UsageError(
            f"no address in openai:{rest}", todo="write openai:MODEL@http://127.0.0.1:8080/v1"
        )
    return OpenAICompatible(url, model, **asking)


def _anthropic(rest: str, asking: Asking) -> Proposer:
    from ehrkg.propose import Anthropic

    return Anthropic(rest, **asking)


def _anthropic_batch(rest: str, asking: Asking) -> Proposer:
    from ehrkg.propose import AnthropicBatches

    return AnthropicBatches(rest, **asking)


_KINDS: Mapping[str, Callable[[str, Asking], Proposer]] = {
    "cooccurrence": _cooccurrence,
    "local": _local,
    "transformers": _transformers,
    "openai": _openai,
    "anthropic": _anthropic,
    "anthropic-batch": _anthropic_batch,
}
_NAMED = ("transformers", "openai", "anthropic", "anthropic-batch")
