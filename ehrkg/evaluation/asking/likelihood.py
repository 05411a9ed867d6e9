"""The option that a local model finds likeliest, and how much likelier than the others.

A base model follows no instructions, but it gives every text a likelihood. The options are taken as
endings of the prompt; each has the mean log-likelihood of its tokens (Brown et al. 2020, arXiv
2005.14165, section 2.4), so that a long name is no less likely for being long. The alternatives are
the sum, which prefers short options, and the mean over letters (``acc_norm`` of
lm-evaluation-harness), which differs little where options are names of one kind; the mean over
tokens is what the proposer weighs statements by too, and makes the probability of an option the
geometric mean of its tokens' probabilities, scaled so that the options' sum is 1:

    p(option) = exp(mean log p(token)) / sum over options of the same
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ehrkg.foundation.errors import UsageError
from ehrkg.propose.models.local_model import LocalModel

GGUF = ".gguf"

DIGITS = 6
"""Probabilities are rounded before they are stored and compared."""

TOKENS = 64
"""Tokens of a written answer at most."""


class LocalOptions:
    """Answers by likelihood, or in writing, of a model on this machine.

    Args:
        path: a folder of weights, a .gguf file, or a folder that holds one.

    Attributes:
        name: as it stands in the scores.

    Raises:
        UsageError: there is no model.
        InputError: it can't be loaded, at first use.
    """

    def __init__(self, path: str | Path) -> None:
        self.local = local_model(Path(path).expanduser())
        self.name = f"local/{self.local.name.removesuffix(GGUF)}"

    def __repr__(self) -> str:
        return f"LocalOptions({self.name!r})"

    def probabilities(
        self, prompts: Sequence[str], options: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        """For each prompt, the probability of each of its options; their sum is 1.

        A prompt is read once for all its options, and what it gives depends on no other prompt and
        on no order.

        Args:
            prompts: texts that an option would end.
            options: of each.
        """
        return [
            softmax(self.local.of_endings(prompt, endings))
            for prompt, endings in zip(prompts, options, strict=True)
        ]

    def generate(self, prompts: Sequence[str], *, tokens: int = TOKENS) -> list[str]:
        """What the model writes to each prompt.

        Args:
            prompts: what it is asked.
            tokens: of an answer at most.
        """
        return self.local.write(prompts, tokens=tokens)


def local_model(path: Path) -> LocalModel:
    """The model of a path.

    Raises:
        UsageError: there is none, or a folder holds several .gguf files.
    """
    if path.is_file() and path.suffix == GGUF:
        return LocalModel(path.parent, gguf_file=path.name)
    if (path / "config.json").is_file():
        return LocalModel(path)
    held = sorted(path.glob(f"*{GGUF}")) if path.is_dir() else []
    if len(held) != 1:
        raise UsageError(
            f"{path} holds {len(held)} models" if held else f"there is no model at {path}",
            todo="name a folder of weights (with a config.json), or a .gguf file",
        )
    return LocalModel(path, gguf_file=held[0].name)


def softmax(values: Sequence[float]) -> list[float]:
    """Log-likelihoods as probabilities, rounded to 6 digits.

    >>> softmax([-1.0, -1.0]), softmax([-0.5, -2.5])
    ([0.5, 0.5], [0.880797, 0.119203])
    """
    array: npt.NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    raised = np.exp(array - array.max())
    return [round(float(one), DIGITS) for one in raised / raised.sum()]
