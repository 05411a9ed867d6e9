"""A model on this machine, through Hugging Face transformers.

A model with a chat template is asked like any other. A base model follows no instructions, so it
weighs sentences: a statement is proposed where its tail is likelier after "head predicate" than
tails drawn at random, each held against how likely it is after the predicate alone.
"""

from __future__ import annotations

from functools import cached_property
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.propose.models.answers import read_answer
from ehrkg.propose.models.asking import ANSWERED, CUT_SHORT, UNREADABLE, Question, Reply, Statement
from ehrkg.propose.models.language_model import Asking, LanguageModel

if TYPE_CHECKING:
    import torch

MOST_TOKENS = 512
LEAST_MARGIN = 1.0
"""Standard deviations above its foils at which a base model's statement is proposed."""

DIGITS = 3
"""Log-likelihoods are rounded before they are compared: their last digits depend on the machine."""


class TransformersModel:
    """A local model; see ``ehrkg.propose.models.asking.Model``.

    Args:
        model: a folder, or a name that transformers knows.
        gguf_file: the file's name where the folder holds GGUF weights.
        margin: for base models, how far above its foils a statement must lie.

    Raises:
        InputError: it can't be loaded, at first use.
    """

    remote = False
    workers = 1

    def __init__(
        self, model: str | Path, *, gguf_file: str | None = None, margin: float = LEAST_MARGIN
    ) -> None:
        self._place = str(model)
        self._gguf = gguf_file
        self._margin = margin
        self._likelihoods: dict[tuple[str, str], float] = {}
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
        margins = [self.margin(one, question.foils) for one in question.statements]
        holds = [at for at, margin in enumerate(margins) if margin >= self._margin]
        return Reply(ANSWERED, {"holds": holds, "margins": margins}, self._length(question), 0)

    def margin(self, statement: Statement, foils: tuple[str, ...]) -> float:
        """How far a statement's tail lies above its foils, in their standard deviations.

        Pointwise mutual information of opening and tail by the model, held against that of the same
        opening with foils (after Holtzman et al. 2021, domain-conditional PMI).
        """
        words = statement.opening.rsplit(" ", 1)[-1]
        scores = [
            self.likelihood(statement.opening, tail) - self.likelihood(f"It {words}", tail)
            for tail in (statement.ending, *(foil for foil in foils if foil != statement.ending))
        ]
        own, others = scores[0], scores[1:]
        if len(others) < 2:
            return 0.0
        mean = sum(others) / len(others)
        spread = sqrt(sum((one - mean) ** 2 for one in others) / (len(others) - 1))
        return round((own - mean) / max(spread, 0.05), 2)

    def likelihood(self, opening: str, ending: str) -> float:
        """Mean log-likelihood of the tokens of ``ending`` after ``opening``, rounded."""
        place = (opening, ending)
        if place not in self._likelihoods:
            self._likelihoods[place] = round(self._mean_log_likelihood(*place), DIGITS)
        return self._likelihoods[place]

    def _mean_log_likelihood(self, opening: str, ending: str) -> float:
        import torch

        first = self._tokens(opening)
        whole = self._tokens(f"{opening} {ending}")
        with torch.no_grad():
            logits = self._model(whole).logits[0, :-1].float()
        scores = torch.log_softmax(logits, dim=-1)
        chosen = scores.gather(1, whole[0, 1:, None])[:, 0]
        return float(chosen[first.shape[1] - 1 :].mean())

    def _tokens(self, text: str) -> torch.Tensor:
        tokens: torch.Tensor = self._tokenizer(text, return_tensors="pt").input_ids
        return tokens

    def _length(self, question: Question) -> int:
        return sum(int(self._tokens(one.text).shape[1]) for one in question.statements)

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
        given = {"gguf_file": self._gguf} if self._gguf else {}
        try:
            return kind.from_pretrained(self._place, **given, **options)
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
