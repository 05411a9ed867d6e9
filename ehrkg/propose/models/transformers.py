"""A model on this machine, through Hugging Face transformers.

A model with a chat template is asked like any other. A base model follows no instructions, so it
weighs sentences (``ehrkg.propose.models.weighing``).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.propose.models.answers import read_answer
from ehrkg.propose.models.asking import ANSWERED, CUT_SHORT, UNREADABLE, Question, Reply
from ehrkg.propose.models.language_model import Asking, LanguageModel
from ehrkg.propose.models.unpacked import unpacked
from ehrkg.propose.models.weighing import Sentence, Weighing

MOST_TOKENS = 512

BATCH = 24
"""Sentences weighed at once; a small model's time goes into reading its weights, once a batch."""

MOST_CHANCE = 0.1
"""What a base model proposes stands out as few sentences of random names do: one in ten, which is
about how many of the pairs that stand together in a hospital are related at all."""


class TransformersModel:
    """A local model; see ``ehrkg.propose.models.asking.Model``.

    Args:
        model: a folder, or a name that transformers knows.
        gguf_file: the file's name where the folder holds GGUF weights. They are unpacked once and
            kept in the user's cache (``ehrkg.propose.models.unpacked``).
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
        self._place = str(model)
        self._gguf = gguf_file
        self._chance = chance
        self.weighing = Weighing(self.likelihoods)
        self.name = f"transformers/{gguf_file or Path(self._place).name}"

    def __repr__(self) -> str:
        return f"TransformersModel({self._place!r})"

    def answer(self, question: Question) -> Reply:
        """See ``Model.answer``.

        Raises:
            UsageError: a base model is asked about a visit: it can only weigh statements.
        """
        if self._tokenizer.chat_template:
            return self._generate(question)
        if question.scope != "pair":
            raise UsageError(
                f"{self.name} follows no instructions, so it can't read a visit",
                todo="use per='pair', or a model with a chat template",
            )
        chances = [self.weighing.chance(one) for one in question.statements]
        holds = [at for at, chance in enumerate(chances) if chance <= self._chance]
        return Reply(ANSWERED, {"holds": holds, "chances": chances}, self._length(question), 0)

    def likelihoods(self, sentences: Sequence[Sentence]) -> list[float]:
        """Log-likelihood of each ending after its opening: the mean over the ending's tokens."""
        chunks = [sentences[at : at + BATCH] for at in range(0, len(sentences), BATCH)]
        return [found for chunk in chunks for found in self._likelihoods(chunk)]

    def _likelihoods(self, sentences: Sequence[Sentence]) -> list[float]:
        import torch

        starts = [len(self._tokenizer(opening).input_ids) for opening, _ in sentences]
        rows = [self._tokenizer(" ".join(sentence)).input_ids for sentence in sentences]
        first, longest = min(starts), max(map(len, rows))
        # Padding stands behind, where a causal model does not look.
        tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
        with torch.no_grad():
            logits = self._model(tokens[:, :-1], **self._last(longest - first)).logits
        logits = logits[:, -(longest - first) :].float()
        chosen = logits.gather(2, tokens[:, first:, None])[:, :, 0] - logits.logsumexp(2)
        return [
            float(line[start - first : len(row) - first].mean())
            for line, start, row in zip(chosen, starts, rows, strict=True)
        ]

    def _last(self, positions: int) -> dict[str, Any]:
        # The vocabulary's logits are most of a small model's work; before the ending they are idle.
        able = "logits_to_keep" in inspect.signature(self._model.forward).parameters
        return {"logits_to_keep": positions} if able else {}

    def _length(self, question: Question) -> int:
        return sum(len(self._tokenizer(one.text).input_ids) for one in question.statements)

    def _generate(self, question: Question) -> Reply:
        import torch

        text = f"{question.system}\n\n{question.text}\n\n{_FORM[question.scope]}"
        asked = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": text}],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        length = int(asked["input_ids"].shape[1])
        with torch.no_grad():
            made = self._model.generate(**asked, max_new_tokens=MOST_TOKENS, do_sample=False)
        fresh = made[0, length:]
        text = self._tokenizer.decode(fresh, skip_special_tokens=True)
        content = read_answer(question.scope, text[text.find("{") : text.rfind("}") + 1])
        if content is not None:
            return Reply(ANSWERED, content, length, len(fresh))
        status = CUT_SHORT if len(fresh) >= MOST_TOKENS else UNREADABLE
        return Reply(status, None, length, len(fresh))

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return self._load(AutoTokenizer)

    @cached_property
    def _model(self) -> Any:
        import torch
        from transformers import AutoModelForCausalLM

        # Half precision is emulated on most processors, and many times slower there.
        return self._load(AutoModelForCausalLM, dtype=torch.float32).eval()

    def _load(self, kind: Any, **options: Any) -> Any:
        try:
            place = unpacked(Path(self._place) / self._gguf) if self._gguf else self._place
            return kind.from_pretrained(place, **options)
        except (OSError, ValueError, ImportError) as error:
            raise InputError(
                f"this model can't be loaded: {str(error).splitlines()[0]}",
                file=self._place,
                todo="give a folder that transformers can read, or a name it can fetch; a GGUF "
                "file needs the packages gguf and accelerate: pip install 'ehrkg[local]'",
            ) from error


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
