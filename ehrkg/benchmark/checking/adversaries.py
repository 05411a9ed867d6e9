"""Adversaries: ways to guess the answer without medicine. A sound benchmark beats them all.

Each gives every option a score and takes the highest; a tie counts its share. Those that learn are
fitted on questions that share neither a patient nor an answer, and so no answer's relation, with
the ones they guess.

That alone would mislead: if half of the answers are kept for the test, then whatever was learnt on
the other half has seen them as distractors only, takes them for wrong, and guesses worse than
chance. So a model learns from options of its own half of the codes only, and guesses among options
of the other half only. Where odds are level, they are so within each half.

Of a hundred codes, which fell into which half decides as much as what there is to learn. So codes
and patients are halved in several ways, and a question's result is the mean of theirs (repeated
cross-validation; Kim, Comput. Stat. Data Anal. 53, 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ehrkg.benchmark.checking.adversary_options import STYLE, Options
from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.foundation.hashing import mix

Fit = Callable[[Floats, npt.NDArray[np.bool_], Floats], Floats]
"""(features and answers to learn from, features to guess from) to scores."""

EMBEDDED = 64
"""Dimensions to which an embedding of options is brought before a linear model learns from it."""


class Encoder(Protocol):
    """What turns texts into vectors (an ``Embedder`` of the verify package fits)."""

    def encode(self, texts: list[str]) -> Any:
        """One row of numbers a text."""


class Guesser:
    """All adversaries over the options of one task.

    Args:
        options: what they see.
        encoder: embeds option texts; ``None``: character n-grams, hashed.
        least_training: with fewer questions to learn from, a fitted adversary guesses at random.
        most_training: of more questions it learns from so many.
        ways: in how many ways patients and codes are halved.
    """

    def __init__(
        self,
        options: Options,
        *,
        encoder: Encoder | None,
        least_training: int,
        most_training: int,
        ways: int,
    ) -> None:
        self._options = options
        self._encoder = encoder
        self._least = least_training
        self._most = most_training
        self._ways = ways

    def all(self) -> list[tuple[str, str, Floats | None]]:
        """Name, what it does, and accuracy over chance a question (``Options.over_chance``).

        ``None``: it has nothing to go by. Models are small: one thread each is fastest, and gives
        the same numbers on every machine.
        """
        # Limits hold for libraries that are loaded by then.
        import sklearn.ensemble
        import sklearn.linear_model  # noqa: F401
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        with threadpool_limits(limits=1):
            return list(self._all())

    def _all(self) -> Iterator[tuple[str, str, Floats | None]]:
        options = self._options
        for name, feature, sign, text in SIMPLE:
            values = options.features.get(feature)
            yield name, text, None if values is None else options.over_chance(sign * values)
        yield "position", "the place that was right most often", self._position()
        yield (
            "name style",
            "length, words, digits, capitals, commas, 'unspecified', fitted",
            self.styled(),
        )
        yield (
            "options-only embedding",
            "a linear model on the options' embeddings",
            self._fitted(self._embedded(), _linear),
        )
        seen = tuple(name for name in sorted(options.features) if name not in NOT_TOGETHER)
        yield (
            "boosted trees",
            f"all option features together: {', '.join(seen)}",
            self._fitted(options.matrix(seen), _boosted),
        )

    def styled(self) -> Floats | None:
        """Of boosted trees that look at how names are written, and at nothing else."""
        return self._fitted(self._options.matrix(STYLE), _boosted)

    def _fitted(self, features: Floats, fit: Fit) -> Floats | None:
        """The mean of ``_halved`` over the ways to halve, for each question guessed at in any."""
        found = np.stack([self._halved(features, fit, way) for way in range(self._ways)])
        there = np.isfinite(found)
        often = there.sum(axis=0)
        total = np.where(there, found, 0.0).sum(axis=0)
        times: Floats = np.divide(total, often, out=np.full(len(often), np.nan), where=often > 0)
        return times if often.any() else None

    def _halved(self, features: Floats, fit: Fit, way: int) -> Floats:
        """Cross-fitted over two halves of the patients and two halves of the codes."""
        options = self._options
        patients, things, answers = (
            mix(way, hashes) % 2
            for hashes in (options.cluster, options.thing, options.answer_thing)
        )
        scores = np.zeros(len(options.item))
        among = np.zeros(len(options.item), dtype=bool)
        for patient in (0, 1):
            for thing in (0, 1):
                learn = (patients != patient) & (answers != thing)
                guess = (patients == patient) & (answers == thing)
                if learn.sum() < self._least or not guess.any():
                    continue
                at = _at_most(learn, self._most)[options.item] & (things != thing)
                on = guess[options.item] & (things == thing)
                scores[on] = fit(features[at], options.is_answer[at], features[on])
                among |= on
        return options.over_chance(np.round(scores, 6), among)

    def _position(self) -> Floats | None:
        """Learns from half of the patients which place is right most often."""
        options = self._options
        scores = np.zeros(len(options.item))
        for patient in (0, 1):
            learn = (options.cluster % 2 != patient)[options.item]
            for k in np.unique(options.n_options):
                alike = (options.n_options == k)[options.item]
                right = np.bincount(options.place[learn & alike & options.is_answer], minlength=k)
                on = ~learn & alike
                scores[on] = right[options.place[on]]
        return options.over_chance(scores)

    def _embedded(self) -> Floats:
        """Each option's vector, less the mean of its question: how it differs from the others."""
        options = self._options
        names = sorted(set(options.text))
        if not names:
            return np.zeros((0, 1))
        at = {name: position for position, name in enumerate(names)}
        vectors = _reduced(_vectors(names, self._encoder))[[at[name] for name in options.text]]
        mean = np.add.reduceat(vectors, options.starts, axis=0)[options.item]
        return np.round(vectors - mean / options.n_options[options.item][:, None], 5)


NOT_TOGETHER = ("overlap", "asked")
"""Features that are not the option's own. An answer that is asked for once is asked for by nobody
else: that would tell it by what was left out, and by nothing that could be learnt."""

SIMPLE: tuple[tuple[str, str, float, str], ...] = (
    ("most frequent option", "frequency", 1.0, "the option in most visits"),
    ("least frequent option", "frequency", -1.0, "the option in fewest visits"),
    ("longest option", "length", 1.0, "the longest option"),
    ("shortest option", "length", -1.0, "the shortest option"),
    ("highest degree", "degree", 1.0, "the option with most knowledge edges"),
    ("lowest degree", "degree", -1.0, "the option with fewest knowledge edges"),
    ("mapping confidence", "confidence", 1.0, "the option linked most surely"),
    ("lexical overlap", "overlap", 1.0, "the option that shares most words with the stem"),
    ("seen in history", "seen", 1.0, "the option that stands in the history"),
    ("not in history", "seen", -1.0, "the option that does not stand in the history"),
    ("asked for elsewhere", "asked", 1.0, "an option that another patient's question asks for"),
)
"""Name, feature, direction, and what it does in words."""


def _at_most(rows: npt.NDArray[np.bool_], most: int) -> npt.NDArray[np.bool_]:
    """At most so many of the rows, evenly spread (items are sorted by their hashed ids)."""
    at = np.flatnonzero(rows)
    if len(at) <= most:
        return rows
    kept = np.zeros_like(rows)
    kept[at[:: -(-len(at) // most)]] = True
    return kept


def _boosted(known: Floats, answers: npt.NDArray[np.bool_], asked: Floats) -> Floats:
    if answers.all() or not answers.any():
        return np.zeros(len(asked))
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=40, max_depth=4, min_samples_leaf=10, early_stopping=False, random_state=0
    )
    model.fit(known, answers)
    guess: Floats = model.predict_proba(asked)[:, 1]
    return guess


def _linear(known: Floats, answers: npt.NDArray[np.bool_], asked: Floats) -> Floats:
    if answers.all() or not answers.any():
        return np.zeros(len(asked))
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=0.3, max_iter=200, random_state=0)
    model.fit(known, answers)
    guess: Floats = model.predict_proba(asked)[:, 1]
    return guess


def _vectors(names: list[str], encoder: Encoder | None) -> Any:
    if encoder is not None:
        return np.asarray(encoder.encode(names), dtype=float)
    from sklearn.feature_extraction.text import HashingVectorizer

    hashed = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_features=4096)
    return hashed.transform(names)


def _reduced(vectors: Any) -> Floats:
    """Principal directions of the vectors, from a fixed start."""
    from sklearn.decomposition import TruncatedSVD

    n = min(EMBEDDED, min(vectors.shape) - 1)
    if n < 1:
        return np.zeros((vectors.shape[0], 1))
    found: Floats = TruncatedSVD(n_components=n, random_state=0).fit_transform(vectors)
    return found
