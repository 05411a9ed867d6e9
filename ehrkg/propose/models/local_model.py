"""A causal language model on this machine, through Hugging Face transformers.

How likely an ending is after its opening is worked out here and nowhere else: proposing weighs
statements by it, evaluating weighs options. It is the mean over the ending's tokens, so that a long
name is no less likely for being long (Brown et al. 2020, arXiv 2005.14165, section 2.4).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ehrkg.foundation.errors import InputError
from ehrkg.propose.models.unpacked import unpacked

BATCH = 24
"""Sentences weighed at once; a small model's time goes into reading its weights, once a batch."""

WRITTEN_AT_ONCE = 8
"""Answers written at once."""

PAUSE = "\n\n"
"""Where a base model's answer ends: what follows are further questions of its own."""


class LocalModel:
    """A causal language model.

    Args:
        model: a folder, or a name that transformers knows.
        gguf_file: the file's name where the folder holds GGUF weights. They are unpacked once and
            kept in the user's cache (``ehrkg.propose.models.unpacked``).

    Raises:
        InputError: it can't be loaded, at first use.
    """

    def __init__(self, model: str | Path, *, gguf_file: str | None = None) -> None:
        self._place = str(model)
        self._gguf = gguf_file

    def __repr__(self) -> str:
        return f"LocalModel({self._place!r})"

    @property
    def name(self) -> str:
        """The file's, folder's or model's own name."""
        return self._gguf or Path(self._place).name

    @property
    def follows_instructions(self) -> bool:
        """Whether it has a chat template; a base model has none."""
        return bool(self.tokenizer.chat_template)

    def likelihoods(self, sentences: Sequence[tuple[str, str]]) -> list[float]:
        """Log-likelihood of each ending after its opening: the mean over the ending's tokens.

        For many short openings. They are read in batches in the order given, so the same sentences
        asked together give the same last digits.
        """
        chunks = [sentences[at : at + BATCH] for at in range(0, len(sentences), BATCH)]
        return [found for chunk in chunks for found in self._likelihoods(chunk)]

    def of_endings(self, opening: str, endings: Sequence[str]) -> list[float]:
        """The same for endings of one opening, which is read once.

        Nothing but the opening and the set of its endings decides the last digits.
        """
        order = sorted(set(endings))
        found = dict(zip(order, self._of_endings(opening, order), strict=True))
        return [found[ending] for ending in endings]

    def write(self, prompts: Sequence[str], *, tokens: int) -> list[str]:
        """What the model goes on to write, the likeliest token each time.

        A model with a chat template gets each prompt as a message. A base model goes on from it, up
        to a blank line.

        Args:
            prompts: what it is asked.
            tokens: of each answer at most.
        """
        order = sorted(set(prompts), key=lambda prompt: (len(prompt), prompt))
        chunks = [order[at : at + WRITTEN_AT_ONCE] for at in range(0, len(order), WRITTEN_AT_ONCE)]
        texts = [text for chunk in chunks for text in self._write(chunk, tokens)]
        found = dict(zip(order, texts, strict=True))
        return [found[prompt] for prompt in prompts]

    def length(self, text: str) -> int:
        """Tokens of a text."""
        return len(self.tokenizer(text).input_ids)

    def _likelihoods(self, sentences: Sequence[tuple[str, str]]) -> list[float]:
        starts = [self.length(opening) for opening, _ in sentences]
        rows = [self.tokenizer(" ".join(sentence)).input_ids for sentence in sentences]
        return self._means(rows, starts)

    def _of_endings(self, opening: str, endings: Sequence[str]) -> list[float]:
        start = self.length(opening)
        rows = [self.tokenizer(f"{opening} {ending}").input_ids for ending in endings]
        # The last token before the endings is read with them: it tells how likely they begin.
        shared = min(_shared(rows), start) - 1
        read = self._read(rows[0][:shared], len(rows)) if shared > 0 else None
        return self._means(rows, [start] * len(rows), read, max(shared, 0) if read else 0)

    def _means(
        self, rows: list[list[int]], starts: list[int], read: Any = None, passed: int = 0
    ) -> list[float]:
        """The mean log-likelihood of each row's tokens from its start.

        Args:
            rows: tokens.
            starts: where in each row its ending begins.
            read: what the model keeps of the tokens that it has read before.
            passed: how many those are.
        """
        import torch

        first, longest = min(starts), max(map(len, rows))
        # Padding stands behind, where a causal model does not look.
        tokens = torch.tensor(
            [[*row, *[0] * (longest - len(row))] for row in rows], device=self.model.device
        )
        kept = longest - first
        given = {} if read is None else {self._kept_as: read}
        with torch.no_grad():
            logits = self.model(tokens[:, passed:-1], **given, **self._last(kept)).logits
        logits = logits[:, -kept:].float()
        chosen = logits.gather(2, tokens[:, first:, None])[:, :, 0] - logits.logsumexp(2)
        return [
            float(line[start - first : len(row) - first].mean())
            for line, start, row in zip(chosen, starts, rows, strict=True)
        ]

    def _read(self, tokens: list[int], copies: int) -> Any:
        """What the model keeps of some tokens, for as many rows as go on from there."""
        import torch

        shared = torch.tensor([tokens], device=self.model.device)
        with torch.no_grad():
            kept = self.model(shared, use_cache=True, **self._last(1))[self._kept_as]
        kept.batch_repeat_interleave(copies)
        return kept

    @property
    def _kept_as(self) -> str:
        """What transformers calls it: newer versions have another name."""
        return "cache" if self._takes("cache") else "past_key_values"

    def _last(self, positions: int) -> dict[str, Any]:
        # The vocabulary's logits are most of a small model's work; before the ending they are idle.
        return {"logits_to_keep": positions} if self._takes("logits_to_keep") else {}

    def _takes(self, name: str) -> bool:
        return name in inspect.signature(self.model.forward).parameters

    def _write(self, prompts: Sequence[str], tokens: int) -> list[str]:
        import torch

        rows = [self._asked(prompt) for prompt in prompts]
        longest = max(map(len, rows))
        # A model writes on from the right end, so here padding stands in front.
        asked = torch.tensor(
            [[*[0] * (longest - len(row)), *row] for row in rows], device=self.model.device
        )
        looked = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        with torch.no_grad():
            made = self.model.generate(
                asked,
                attention_mask=looked.to(asked.device),
                max_new_tokens=tokens,
                do_sample=False,
                pad_token_id=self._padding(),
                stopping_criteria=None if self.follows_instructions else [self._paused(longest)],
            )
        texts = self.tokenizer.batch_decode(made[:, longest:], skip_special_tokens=True)
        if self.follows_instructions:
            return [str(text) for text in texts]
        return [str(text).split(PAUSE)[0] for text in texts]

    def _asked(self, prompt: str) -> list[int]:
        if not self.follows_instructions:
            return list(self.tokenizer(prompt).input_ids)
        text = self.tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False
        )
        return list(self.tokenizer(text, add_special_tokens=False).input_ids)

    def _padding(self) -> int:
        for token in (self.tokenizer.pad_token_id, self.tokenizer.eos_token_id):
            if token is not None:
                return int(token)
        return 0

    def _paused(self, begin: int) -> Any:
        """Ends a row where its answer has come to a pause."""
        import torch

        def paused(tokens: Any, _scores: Any, **_more: Any) -> Any:
            texts = self.tokenizer.batch_decode(tokens[:, begin:], skip_special_tokens=True)
            return torch.tensor([PAUSE in text for text in texts], device=tokens.device)

        return paused

    @cached_property
    def tokenizer(self) -> Any:
        """Of the model."""
        from transformers import AutoTokenizer

        return self._load(AutoTokenizer)

    @cached_property
    def model(self) -> Any:
        """The model itself, on the graphics card where there is one."""
        import torch
        from transformers import AutoModelForCausalLM

        # Half precision is emulated on most processors, and many times slower there.
        loaded = self._load(AutoModelForCausalLM, dtype=torch.float32).eval()
        return loaded.to("cuda") if torch.cuda.is_available() else loaded

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


def _shared(rows: Sequence[Sequence[int]]) -> int:
    """How many tokens all rows begin with."""
    for at, column in enumerate(zip(*rows, strict=False)):
        if len(set(column)) > 1:
            return at
    return min(map(len, rows))
