"""What a language model is asked, what it answers, and what anything that answers must offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ehrkg.foundation.hashing import short_id

if TYPE_CHECKING:
    from ehrkg.propose.models.recorded import SentBatches

ANSWERED, REFUSED, CUT_SHORT, UNREADABLE = "answered", "refused", "cut_short", "unreadable"
STATUSES = (ANSWERED, REFUSED, CUT_SHORT, UNREADABLE)
"""How an answer can end. None of them is asked again: the model has had its say."""


@dataclass(frozen=True)
class Statement:
    """One thing that may hold, in words.

    Attributes:
        id: of the candidate relation it stands for.
        head: the head's name ("furosemide").
        words: the predicate's ("treats").
        tail: the tail's name.
        other_heads, other_tails: names that stand at the same ends of other statements of the
            predicate, for models that only weigh sentences; its own may be among them.
    """

    id: str
    head: str
    words: str
    tail: str
    other_heads: tuple[str, ...] = ()
    other_tails: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole sentence, without a full stop.

        >>> Statement("r1", "furosemide", "treats", "heart failure").text
        'furosemide treats heart failure'
        """
        return f"{self.head} {self.words} {self.tail}"


@dataclass(frozen=True)
class Question:
    """One prompt, and the form its answer must have.

    Attributes:
        scope: ``pair`` (two code names, nobody's visit) or ``visit`` (what one visit holds).
        prompt: name and version of the prompt file ("pair 1").
        system: what the model is told it is for.
        text: what it is asked.
        schema: JSON Schema of the answer.
        statements: what a ``pair`` question asks about, by the index an answer uses.
    """

    scope: str
    prompt: str
    system: str
    text: str
    schema: Mapping[str, Any] = field(hash=False)
    statements: tuple[Statement, ...] = ()

    def key(self, model: str) -> str:
        """Under what its answer is recorded: model, prompt version and all that is asked.

        >>> asked = Question("pair", "pair 1", "", "Which hold?", {})
        >>> asked.key("a") == asked.key("a") != asked.key("b")
        True
        """
        options = [(one.id, one.text, one.other_heads, one.other_tails) for one in self.statements]
        return short_id("a", model, self.prompt, self.system, self.text, options)


@dataclass(frozen=True)
class Reply:
    """What came back.

    Attributes:
        status: one of ``STATUSES``.
        content: the answer, in the question's schema; ``None`` unless answered.
        tokens_in, tokens_out: as the model counts them.
    """

    status: str
    content: Mapping[str, Any] | None = field(default=None, hash=False)
    tokens_in: int = 0
    tokens_out: int = 0


@runtime_checkable
class Model(Protocol):
    """Anything that answers questions.

    Attributes:
        name: stands in the manifest and in the keys of recorded answers.
        remote: whether what it is asked leaves this machine.
        workers: how many questions it takes at once.
    """

    name: str

    @property
    def remote(self) -> bool:
        """Whether what it is asked leaves this machine."""

    @property
    def workers(self) -> int:
        """How many questions it takes at once."""

    def answer(self, question: Question) -> Reply:
        """Answer one question.

        Raises:
            ServiceError: the model is not there, or stays away after retrying.
        """


@runtime_checkable
class BatchModel(Model, Protocol):
    """A model that is given many questions at once and answers them when it likes.

    Attributes:
        most: questions of a batch at most.
        retains: whether what it is asked is kept at the other side.
    """

    @property
    def most(self) -> int:
        """Questions of a batch at most."""

    @property
    def retains(self) -> bool:
        """Whether what it is asked is kept at the other side."""

    def answer_all(
        self,
        questions: Mapping[str, Question],
        sent: SentBatches,
        take: Callable[[str, Reply], None],
    ) -> None:
        """Answer questions, those of batches that an earlier run sent among them.

        Args:
            questions: by the key under which the answer is recorded.
            sent: which batches are under way.
            take: given each answer with its key, as it comes.

        Raises:
            ServiceError: the model is not there, or some questions stay without answer; the
                answers that came were taken.
        """
