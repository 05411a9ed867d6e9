"""Judges: local models that grade whether a sentence entails a claim, contradicts it, or neither.

A grade stands in a column of its own. It supports nothing: a sentence that is graded a
contradiction no longer counts for its claim, and that is all a grade does.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ehrkg.foundation.embedding import fixed_threads
from ehrkg.foundation.errors import UsageError
from ehrkg.propose.models.answers import pair_schema
from ehrkg.propose.models.asking import Question, Statement
from ehrkg.propose.models.prompts import Prompt, read_prompt
from ehrkg.propose.models.recorded import RecordedAnswers

if TYPE_CHECKING:
    from ehrkg.propose.models.asking import Model

ENTAILMENT, CONTRADICTION, NEITHER = "entailment", "contradiction", "neither"

BATCH = 16

FOILS = 8
"""Other sentences and tails that a model which only weighs sentences compares with."""

_WORDS = {"entail": ENTAILMENT, "contradict": CONTRADICTION, "neutral": NEITHER, "neither": NEITHER}
"""What a model's labels begin with, and what they mean."""


@dataclass(frozen=True)
class Claim:
    """A claim in words: "furosemide", "treats", "heart failure"."""

    head: str
    words: str
    tail: str

    @property
    def text(self) -> str:
        """As one sentence, without a full stop."""
        return f"{self.head} {self.words} {self.tail}"


@runtime_checkable
class Judge(Protocol):
    """Anything on this machine that grades sentences.

    Attributes:
        name: of the model.
    """

    name: str

    def grade(self, asked: Sequence[tuple[str, Claim]]) -> list[str]:
        """A grade (``entailment``, ``contradiction``, ``neither``) for each sentence and claim."""


class NliJudge:
    """A text-classification model of transformers, fine-tuned for natural language inference.

    Args:
        model: a folder, or a name that transformers knows. Its labels must say which of them is
            entailment, which contradiction and which neither.

    Raises:
        UsageError: it can't be loaded, or its labels say something else.
    """

    def __init__(self, model: str | Path) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.name = Path(model).name
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(model))
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(str(model)).eval()
        except (OSError, ValueError) as error:
            raise UsageError(
                f"the judge {str(model)!r} can't be loaded: {str(error).splitlines()[0]}",
                todo="name a folder with a text-classification model that transformers can read",
            ) from error
        self._grades = _grades_of(self._model.config.id2label, str(model))

    def grade(self, asked: Sequence[tuple[str, Claim]]) -> list[str]:
        """See ``Judge.grade``; the likeliest label, sentence as premise, claim as hypothesis."""
        import torch

        found: list[str] = []
        with fixed_threads(), torch.no_grad():
            for at in range(0, len(asked), BATCH):
                some = asked[at : at + BATCH]
                tokens = self._tokenizer(
                    [sentence for sentence, _ in some],
                    [claim.text for _, claim in some],
                    padding=True,
                    truncation="only_first",
                    return_tensors="pt",
                )
                places = self._model(**tokens).logits.argmax(dim=-1).tolist()
                found += [self._grades[place] for place in places]
        return found


def _grades_of(labels: dict[int, str], model: str) -> dict[int, str]:
    grades = {
        int(place): grade
        for place, label in labels.items()
        for word, grade in _WORDS.items()
        if label.casefold().startswith(word)
    }
    if set(grades.values()) != {ENTAILMENT, CONTRADICTION, NEITHER} or len(grades) < len(labels):
        raise UsageError(
            f"the judge {model!r} has the labels {', '.join(map(str, labels.values()))}",
            todo="use a model of natural language inference, whose config.json names the labels "
            "entailment, contradiction and neutral",
        )
    return grades


class ModelJudge:
    """A language model on this machine, asked whether a sentence says a claim or its opposite.

    Args:
        model: what answers; one that is not on this machine is refused, since claims come from a
            hospital's pairs.
        answers: the file where answers are kept; in memory for ``None``.

    Raises:
        UsageError: the model is remote.
    """

    def __init__(self, model: Model, *, answers: Path | None = None) -> None:
        if model.remote:
            raise UsageError(
                f"{model.name} is not on this machine, and claims come from a hospital's pairs",
                todo="use a local model as judge",
            )
        self.name = model.name
        self._model = model
        self._answers = RecordedAnswers(answers)

    def grade(self, asked: Sequence[tuple[str, Claim]]) -> list[str]:
        """See ``Judge.grade``; an answer that can't be read is ``neither``.

        Raises:
            ServiceError: the model is not there.
        """
        tails = tuple(sorted({claim.tail for _, claim in asked}))[:FOILS]
        others = sorted({(sentence, claim.head) for sentence, claim in asked})[:FOILS]
        return [self._one(sentence, claim, others, tails) for sentence, claim in asked]

    def _one(
        self, sentence: str, claim: Claim, others: Sequence[tuple[str, str]], tails: tuple[str, ...]
    ) -> str:
        statements = tuple(
            Statement(
                id,
                f"{sentence} {opening} {claim.head}",
                claim.words,
                claim.tail,
                tuple(f"{other} {opening} {head}" for other, head in others),
                tails,
            )
            for id, opening in (  # noqa: A001
                (ENTAILMENT, "So"),
                (CONTRADICTION, "So it is wrong that"),
            )
        )
        said = [claim.text, f"it is wrong that {claim.text}"]
        prompt = judge_prompt()
        question = Question(
            scope="pair",
            prompt=prompt.label,
            system=prompt.system,
            text=prompt.fill(sentence=sentence, statements=said),
            schema=pair_schema(len(statements)),
            statements=statements,
        )
        key = question.key(self.name)
        reply = self._answers.get(key)
        if reply is None:
            reply = self._model.answer(question)
            self._answers.put(key, reply)
        holds = set(reply.content["holds"]) if reply.content else set()
        if len(holds) != 1 or not holds < {0, 1, 2}:
            return NEITHER
        return {0: ENTAILMENT, 1: CONTRADICTION}.get(holds.pop(), NEITHER)


@functools.cache
def judge_prompt() -> Prompt:
    """What a language model is asked."""
    return read_prompt(Path(__file__).with_name("judge_prompt.yaml"))


__all__ = ["CONTRADICTION", "ENTAILMENT", "NEITHER", "Claim", "Judge", "ModelJudge", "NliJudge"]
