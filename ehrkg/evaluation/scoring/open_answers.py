"""Open answers scored all together: each distinct text and reference is compared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.evaluation.asking.asked import Ints, places
from ehrkg.evaluation.metrics import normalise_answer, rouge


@dataclass(frozen=True)
class OpenScores:
    """One number an answer in each column.

    Attributes:
        coverage: 1 where an accepted name stands in the text (``metrics.relation_coverage``).
        exact: 1 where the text is an accepted name (``metrics.exact_match``).
        rouge1, rouge_l: F-measures, each the best over the right texts (``metrics.rouge``).
    """

    coverage: Floats
    exact: Floats
    rouge1: Floats
    rouge_l: Floats


def score_open(
    said: Sequence[str],
    answers: pa.Array,
    accepted: pa.Array,
    names: Mapping[str, Sequence[str]],
) -> OpenScores:
    """Score open answers.

    Args:
        said: the texts given.
        answers: for each the right texts: lists.
        accepted: for each the codes and concepts that may be named: lists.
        names: code or concept to its names.

    >>> scores = score_open(["human insulin"], pa.array([["insulin, injected"]]),
    ...     pa.array([["D:1"]]), {"D:1": ["human insulin"]})
    >>> float(scores.coverage[0]), float(scores.exact[0]), float(scores.rouge1[0])
    (1.0, 1.0, 0.5)
    """
    given = pa.array(said, pa.string())
    texts = given.unique()
    at = places(given, texts)
    phrases = [normalise_answer(text) for text in texts.to_pylist()]
    by_code = _Named(pc.list_flatten(accepted), lambda code: names.get(code, ()))
    by_text = _Named(pc.list_flatten(answers), lambda text: (text,))
    coverage, exact = np.zeros(len(given)), np.zeros(len(given))
    for named, lists in ((by_code, accepted), (by_text, answers)):
        coverage = np.maximum(coverage, named.held(lists, at, named.within(phrases)))
        exact = np.maximum(exact, named.held(lists, at, named.whole(phrases)))
    return OpenScores(coverage, exact, *_rouge(texts.to_pylist(), at, answers))


class _Named:
    """Which of some codes a text names.

    Args:
        codes: that may be named, any number of times.
        names: of a code.
    """

    def __init__(self, codes: pa.Array, names: Callable[[str], Iterable[str]]) -> None:
        self._codes = codes.unique()
        self._meant: dict[str, list[int]] = {}
        for number, code in enumerate(self._codes.to_pylist()):
            for phrase in sorted({normalise_answer(name) for name in names(code)} - {""}):
                self._meant.setdefault(phrase, []).append(number)
        self._longest = max((phrase.count(" ") + 1 for phrase in self._meant), default=0)

    def within(self, phrases: Sequence[str]) -> Ints:
        """Pairs of a phrase and a code whose name stands in it as whole words (see ``_pairs``)."""
        return self._pairs([self._parts(phrase.split()) for phrase in phrases])

    def whole(self, phrases: Sequence[str]) -> Ints:
        """Pairs of a phrase and a code that has it for a name."""
        return self._pairs([{phrase} for phrase in phrases])

    def held(self, lists: pa.Array, at: Ints, pairs: Ints) -> Floats:
        """1 for each answer whose list holds a code that stands in a pair with its phrase."""
        sizes = np.asarray(pc.list_value_length(lists), np.int64)
        codes = places(pc.list_flatten(lists), self._codes)
        of = np.repeat(np.arange(len(sizes)), sizes)
        hit = np.isin(at[of] * len(self._codes) + codes, pairs)
        found = np.zeros(len(sizes))
        found[of[hit]] = 1.0
        return found

    def _parts(self, words: list[str]) -> set[str]:
        return {
            " ".join(words[start : start + length])
            for start in range(len(words))
            for length in range(1, min(self._longest, len(words) - start) + 1)
        }

    def _pairs(self, parts: Sequence[set[str]]) -> Ints:
        """``phrase * number of codes + code`` for each code that one of a phrase's parts means."""
        found = {
            place * len(self._codes) + number
            for place, mine in enumerate(parts)
            for part in mine
            for number in self._meant.get(part, ())
        }
        return np.array(sorted(found), np.int64)


def _rouge(texts: Sequence[str], at: Ints, answers: pa.Array) -> tuple[Floats, Floats]:
    joined = pc.binary_join(answers, "\x1f")
    references = joined.unique()
    keys = at * len(references) + places(joined, references)
    pairs, of = np.unique(keys, return_inverse=True)
    rights = [text.split("\x1f") for text in references.to_pylist()]
    found = np.array(
        [rouge(texts[key // len(rights)], rights[key % len(rights)]) for key in pairs.tolist()]
    ).reshape(-1, 2)
    values = np.round(found, 4)[of.reshape(-1)]
    return values[:, 0], values[:, 1]
