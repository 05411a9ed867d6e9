"""A model on this machine, through Hugging Face transformers.

A model with a chat template is asked like any other. A base model follows no instructions, so it
weighs sentences (``ehrkg.propose.models.weighing``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from ehrkg.foundation.errors import UsageError
from ehrkg.propose.models.answers import read_answer
from ehrkg.propose.models.asking import ANSWERED, CUT_SHORT, UNREADABLE, Question, Reply
from ehrkg.propose.models.language_model import Asking, LanguageModel
from ehrkg.propose.models.local_model import LocalModel
from ehrkg.propose.models.weighing import Weighing

MOST_TOKENS = 512

MOST_CHANCE = 0.1
"""What a base model proposes stands out as few sentences of random names do: one in ten, which is
about how many of the pairs that stand together in a hospital are related at all."""


class TransformersModel:
    """A local model; see ``ehrkg.propose.models.asking.Model``.

    Args:
        model: a folder, or a name that transformers knows.
        gguf_file: the file's name where the folder holds GGUF weights.
        chance: for base models, how many sentences of random names may stand out as much as a
            statement that is proposed.

    Raises:
        InputError: it can't be loaded, at first use.
    """

    remote = False
    workers = 1

    def __init__(
        self, model: str | Path, *, gguf_file: str | None = None, chance: float = MOST_CHANCE
    ) -> None:
        self.local = LocalModel(model, gguf_file=gguf_file)
        self._chance = chance
        self.weighing = Weighing(self.local.likelihoods)
        self.name = f"transformers/{self.local.name}"

    def __repr__(self) -> str:
        return f"TransformersModel({self.name!r})"

    def answer(self, question: Question) -> Reply:
        """See ``Model.answer``.

        Raises:
            UsageError: a base model is asked about a visit: it can only weigh statements.
        """
        if self.local.follows_instructions:
            return self._generate(question)
        if question.scope != "pair":
            raise UsageError(
                f"{self.name} follows no instructions, so it can't read a visit",
                todo="use per='pair', or a model with a chat template",
            )
        chances = [self.weighing.chance(one) for one in question.statements]
        holds = [at for at, chance in enumerate(chances) if chance <= self._chance]
        return Reply(ANSWERED, {"holds": holds, "chances": chances}, self._length(question), 0)

    def _length(self, question: Question) -> int:
        return sum(self.local.length(one.text) for one in question.statements)

    def _generate(self, question: Question) -> Reply:
        asked = f"{question.system}\n\n{question.text}\n\n{_FORM[question.scope]}"
        (text,) = self.local.write([asked], tokens=MOST_TOKENS)
        content = read_answer(question.scope, text[text.find("{") : text.rfind("}") + 1])
        spent = self.local.length(asked), self.local.length(text)
        if content is not None:
            return Reply(ANSWERED, content, *spent)
        return Reply(CUT_SHORT if spent[1] >= MOST_TOKENS else UNREADABLE, None, *spent)


_FORM = {
    "pair": 'Answer with JSON only, like {"holds": [0, 2]}.',
    "visit": "Answer with JSON only, like "
    '{"relations": [{"head": 0, "predicate": "TREATS", "tail": 3, "context": [1, 4]}]}.',
}


class Transformers(LanguageModel):
    """Propose with a model on this machine; nothing is sent anywhere.

    Args:
        model: a folder, or a name that transformers knows.
        gguf_file: the file's name where the folder holds GGUF weights.
        asking: ``per``, ``budget`` and the rest of ``LanguageModel``'s.

    >>> Transformers("a-folder", min_patients=3)
    Transformers('transformers/a-folder', per='pair')
    """

    def __init__(
        self, model: str | Path, *, gguf_file: str | None = None, **asking: Unpack[Asking]
    ) -> None:
        super().__init__(TransformersModel(model, gguf_file=gguf_file), **asking)
