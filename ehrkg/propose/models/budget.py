"""What asking costs, before and while it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from ehrkg.foundation.errors import UsageError
from ehrkg.propose.models.asking import Question, Reply
from ehrkg.propose.models.recorded import RecordedAnswers

LETTERS_A_TOKEN = 4
"""English text, about; an estimate says so."""

TOKENS_AN_ANSWER = 40
"""A short list of numbers, about."""

MILLION = 1_000_000


@dataclass(frozen=True)
class Estimate:
    """What asking would take.

    Attributes:
        questions: how many there are within the budget.
        calls: how many of them are not answered yet.
        tokens_in, tokens_out: of the calls, about (four letters a token).
        cost: in the currency of the prices; ``None`` without prices.
    """

    questions: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None

    def __str__(self) -> str:
        """In words.

        >>> str(Estimate(9, 8, 2000, 320, None))
        '8 questions, about 2,000 tokens and 320 of answers'
        >>> str(Estimate(9, 8, 2000, 320, 0.25))
        '8 questions, about 2,000 tokens and 320 of answers, at a cost of 0.25'
        """
        cost = "" if self.cost is None else f", at a cost of {self.cost:,.2f}"
        return (
            f"{self.calls:,} questions, about {self.tokens_in:,} tokens and "
            f"{self.tokens_out:,} of answers{cost}"
        )


@dataclass(frozen=True)
class Budget:
    """Where asking stops.

    Recorded answers count as if they were asked again, so that a run which was stopped and one
    which was not end with the same proposals.

    Args:
        max_calls: questions at most, those of most patients first.
        max_tokens: tokens of questions and answers. No question is asked that would go beyond it as
            far as can be estimated; what was really used is looked at after every sixteen
            questions, or after each batch.
        max_cost: in the currency of the prices; needs them.
        price_in, price_out: of a million tokens. No default: prices change, and belong to a model.

    Raises:
        UsageError: a limit below one, or a cost without prices.

    >>> Budget(max_calls=100).settings()["max_calls"]
    100
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    def __post_init__(self) -> None:
        limits = (self.max_calls, self.max_tokens, self.max_cost)
        if any(limit is not None and limit <= 0 for limit in limits):
            raise UsageError("a budget must be above 0", todo="leave it out for no limit")
        if self.max_cost is not None and (self.price_in is None or self.price_out is None):
            raise UsageError(
                "a cost needs prices",
                todo="give price_in and price_out, of a million tokens, from the service's page",
            )

    def settings(self) -> dict[str, object]:
        """As it stands in the manifest."""
        return asdict(self)

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """What tokens cost; ``None`` without prices.

        >>> Budget(price_in=3.0, price_out=15.0).cost(1_000_000, 100_000)
        4.5
        """
        if self.price_in is None or self.price_out is None:
            return None
        return round((tokens_in * self.price_in + tokens_out * self.price_out) / MILLION, 6)

    def start(self) -> Spent:
        """Nothing spent yet."""
        return Spent(self)

    def estimate(
        self, questions: Iterable[Question], answers: RecordedAnswers, model: str
    ) -> Estimate:
        """What the questions would take; see ``LanguageModel.estimate``."""
        every = list(questions)
        within = every[: self.start().affordable(every, len(every))]
        open_ = [one for one in within if answers.get(one.key(model)) is None]
        tokens = sum(question_tokens(one) for one in open_)
        out = len(open_) * TOKENS_AN_ANSWER
        return Estimate(len(within), len(open_), tokens, out, self.cost(tokens, out))


class Text(Protocol):
    """Anything that is asked in words."""

    @property
    def system(self) -> str:
        """What the model is told it is for."""

    @property
    def text(self) -> str:
        """What it is asked."""


def question_tokens(question: Text) -> int:
    """Tokens of a question, about."""
    return (len(question.system) + len(question.text)) // LETTERS_A_TOKEN


class Spent:
    """What a run has asked so far."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._calls = self._tokens_in = self._tokens_out = 0

    def take(self, replies: Sequence[Reply]) -> None:
        """Count replies."""
        self._calls += len(replies)
        self._tokens_in += sum(reply.tokens_in for reply in replies)
        self._tokens_out += sum(reply.tokens_out for reply in replies)

    def affordable(self, questions: Iterable[Text], most: int) -> int:
        """How many of the next questions may be asked, at most ``most``, by what they should take.

        >>> asked = Question("pair", "pair 1", "", "Which of them hold?" * 10, {})
        >>> Budget(max_tokens=200).start().affordable([asked] * 9, most=16)
        2
        """
        budget, number = self._budget, 0
        tokens_in, tokens_out = self._tokens_in, self._tokens_out
        for question in questions:
            tokens_in += question_tokens(question)
            tokens_out += TOKENS_AN_ANSWER
            cost = budget.cost(tokens_in, tokens_out)
            if (
                number >= most
                or _beyond(budget.max_calls, self._calls + number + 1)
                or _beyond(budget.max_tokens, tokens_in + tokens_out)
                or _beyond(budget.max_cost, cost)
            ):
                break
            number += 1
        return number


def _beyond(limit: float | None, value: float | None) -> bool:
    return limit is not None and value is not None and value > limit
