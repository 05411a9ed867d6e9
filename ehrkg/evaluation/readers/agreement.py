"""How far readers agree with each other and with the key, and what they found.

With p_ij the share of things that the first reader puts into class i and the second into class j,
observed agreement is p_a = sum_i p_ii, and both coefficients are (p_a - p_e) / (1 - p_e):

- Cohen's kappa (Cohen 1960, Educational and Psychological Measurement 20:37) takes the agreement by
  chance as p_e = sum_i p_i+ p_+i.
- Gwet's AC1 (Gwet 2008, British Journal of Mathematical and Statistical Psychology 61:29) takes
  p_e = sum_i q_i (1 - q_i) / (k - 1), with q_i = (p_i+ + p_+i) / 2 and k classes. Where nearly all
  things are of one class, as ratings of sound questions are, kappa falls towards 0 though readers
  hardly ever differ, and AC1 does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ehrkg.benchmark.facts.intervals import wilson
from ehrkg.benchmark.opened.reviews import (
    Review,
    Reviews,
    asked,
    questions_of,
    read_marks,
    standing,
)
from ehrkg.foundation.hashing import hash64

Floats = npt.NDArray[np.float64]

FULL = 200
"""Questions that two readers or more must have read for a review to be whole."""

DRAWS = 2000
"""Bootstrap draws of the intervals of coefficients."""

_KEY = ["item_id", "n_options", "distractor_reasons", "answer_index"]


@dataclass(frozen=True)
class Figure:
    """A figure with its 95 % interval and how many things it rests on; nan where undefined."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def share(cls, hits: int, n: int) -> Figure:
        """A share with Wilson's interval.

        >>> Figure.share(8, 10)
        Figure(value=0.8, low=0.49016..., high=0.94331..., n=10)
        """
        low, high = wilson(hits, n)
        return cls(hits / n if n else nan, low, high, n)

    def percent(self) -> str:
        """As a percentage with its interval.

        >>> Figure.share(8, 10).percent()
        '80.0 % (49.0 to 94.3)'
        """
        if isnan(self.value):
            return "not known"
        return f"{self.value:.1%} ({100 * self.low:.1f} to {100 * self.high:.1f})".replace(
            "%", " %"
        )

    def coefficient(self) -> str:
        """As a coefficient with its interval."""
        if isnan(self.value):
            return "undefined"
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Agreement:
    """How far two readers agree on one thing that both were asked.

    Attributes:
        on: ``answer``, or the name of a rating.
        percent: the share on which they say the same, with Wilson's interval.
        kappa, ac1: with percentile intervals of a bootstrap over the questions.
    """

    on: str
    percent: Figure
    kappa: Figure
    ac1: Figure

    def sentence(self) -> str:
        """What is agreed on and how far, in words."""
        return (
            f"{self.on.replace('_', ' ')}: agreement {self.percent.percent()} of "
            f"{self.percent.n:,}, Gwet's AC1 {self.ac1.coefficient()}, Cohen's kappa "
            f"{self.kappa.coefficient()}."
        )


def coefficients(cells: Floats) -> tuple[Floats, Floats, Floats]:
    """Observed agreement, Cohen's kappa and Gwet's AC1 of tables of counts.

    Args:
        cells: the last two axes are the classes of the first and of the second reader.

    Returns:
        Three arrays of the other axes; kappa is nan where both use one class alone.

    Of 125 subjects, 118 are put into the first class by both and 7 by one reader only: by hand
    p_a = 118/125, Cohen's p_e = (123*120 + 2*5)/125^2, Gwet's p_e = 2 * 0.972 * 0.028.

    >>> [round(float(one), 4) for one in coefficients(np.array([[118., 5.], [2., 0.]]))]
    [0.944, -0.0234, 0.9408]
    """
    shares = cells / cells.sum(axis=(-2, -1), keepdims=True)
    first, second = shares.sum(axis=-1), shares.sum(axis=-2)
    observed = np.trace(shares, axis1=-2, axis2=-1)
    used = (first + second) / 2
    by_chance = (first * second).sum(axis=-1)
    by_guess = (used * (1 - used)).sum(axis=-1) / (cells.shape[-1] - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = np.where(by_chance < 1, (observed - by_chance) / (1 - by_chance), nan)
    return observed, kappa, (observed - by_guess) / (1 - by_guess)


def agreement(
    on: str, first: Sequence[Any], second: Sequence[Any], classes: Sequence[Any], *, seed: int = 7
) -> Agreement:
    """How far two readers agree.

    Args:
        on: what they were asked.
        first: what one reader said, one a thing.
        second: what the other said of the same things, in the same order.
        classes: everything that could be said, two things or more.
        seed: of the bootstrap.

    >>> agreement("harmful", [0, 0, 1, 0], [0, 0, 1, 1], [0, 1]).percent.value
    0.75
    """
    n, k = len(first), len(classes)
    if not n:
        none = Figure(nan, nan, nan, 0)
        return Agreement(on, none, none, none)
    place = {value: at for at, value in enumerate(classes)}
    cell = np.array([place[a] * k + place[b] for a, b in zip(first, second, strict=True)])
    counts = np.bincount(cell, minlength=k * k).astype(np.float64)
    observed, kappa, ac1 = coefficients(counts.reshape(k, k))
    generator = np.random.Generator(np.random.PCG64(hash64("agreement", seed)))
    drawn = generator.multinomial(n, counts / n, size=DRAWS).astype(np.float64)
    _, kappas, ac1s = coefficients(drawn.reshape(DRAWS, k, k))
    hits = round(float(observed) * n)
    return Agreement(on, Figure.share(hits, n), _bounded(kappa, kappas, n), _bounded(ac1, ac1s, n))


def _bounded(value: Floats, draws: Floats, n: int) -> Figure:
    known = draws[~np.isnan(draws)]
    low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (nan, nan)
    return Figure(float(value), float(low), float(high), n)


@dataclass(frozen=True)
class ReaderFigures:
    """What one reader did.

    Attributes:
        reader: a number from 1; names stay in marks.jsonl.
        accuracy: the share of questions answered as the key says.
        bad: the share found unanswerable, of several answers, of implausible options or harmful.
        ratings: by name, the share found so.
    """

    reader: int
    accuracy: Figure
    bad: Figure
    ratings: dict[str, Figure]

    def sentence(self) -> str:
        """What the reader did, in words."""
        return (
            f"Reader {self.reader} answered as the key says: {self.accuracy.percent()} of "
            f"{self.accuracy.n:,}; found bad: {self.bad.percent()}."
        )


@dataclass(frozen=True)
class ReviewSummary:
    """What readers found of a benchmark, for report, card and datasheet.

    Attributes:
        questions: how many were answered and rated by one reader or more.
        twice: how many by two or more.
        readers: by their numbers.
        agreements: by pair of readers, what they agree on: answer, then the ratings.
        bad: of the questions that were read, the share that a reader found bad.
        bad_for_all: of those read twice or more, the share that all their readers found bad.
        other_words: reviews that do not count, as their questions are gone or read otherwise now.
        torn: lines of marks.jsonl that a kill cut off.
    """

    questions: int
    twice: int
    readers: tuple[ReaderFigures, ...]
    agreements: dict[tuple[int, int], tuple[Agreement, ...]]
    bad: Figure
    bad_for_all: Figure
    other_words: int
    torn: int

    @property
    def is_full(self) -> bool:
        """Whether enough questions were read by two readers to speak of a review."""
        return self.twice >= FULL

    def sentences(self) -> list[str]:
        """What there is to say, a sentence a line."""
        many = f"{len(self.readers)} reader{'s' * (len(self.readers) != 1)}"
        lines = [
            f"Read blind by {many}: {self.questions:,} questions, {self.twice:,} of them by two or "
            "more.",
            f"Found unanswerable, without a clear answer, with implausible options or harmful by "
            f"somebody: {self.bad.percent()} of {self.bad.n:,}.",
        ]
        if self.twice:
            lines.append(f"By all who read them: {self.bad_for_all.percent()} of {self.twice:,}.")
        if not self.is_full:
            lines.append(
                f"This is part of a review: a whole one is {FULL} questions or more, each "
                "read by two."
            )
        lines += [one.sentence() for one in self.readers]
        lines += [
            f"Readers {first} and {second} on {one.sentence()}"
            for (first, second), found in self.agreements.items()
            for one in found
        ]
        if self.other_words:
            lines.append(
                f"{self.other_words:,} reviews do not count: their questions are gone or have "
                "other words now."
            )
        return lines

    def as_json(self) -> dict[str, Any]:
        """The figures as plain values; pairs of readers as "1-2"."""
        said = asdict(self) | {"is_full": self.is_full}
        said["agreements"] = {
            f"{first}-{second}": [asdict(one) for one in found]
            for (first, second), found in self.agreements.items()
        }
        return said


def review_summary(out: Path) -> ReviewSummary | None:
    """What readers found of a build's questions; ``None`` where none was read to the end.

    Args:
        out: the build's folder.

    Raises:
        InputError: a line of marks.jsonl is no mark.
    """
    marks = read_marks(out)
    whole = standing(marks, out / "items.parquet")
    reviews = {
        key: one
        for key, one in whole.items()
        if one.answered is not None and one.ratings is not None
    }
    if not reviews:
        return None
    ids = sorted({name for _, name in reviews})
    keys = {row["item_id"]: row for row in questions_of(out / "items.parquet", ids, _KEY)}
    names = [one for one in marks.readers if any(reader == one for reader, _ in reviews)]
    numbers = {name: number for number, name in enumerate(marks.readers, 1)}
    by_item = [[one for one in reviews.values() if one.id == name] for name in ids]
    read_twice = [said for said in by_item if len(said) > 1]
    return ReviewSummary(
        len(ids),
        len(read_twice),
        tuple(_reader(numbers[name], name, reviews, keys) for name in names),
        {
            (numbers[first], numbers[second]): found
            for first, second in combinations(names, 2)
            if (found := _between(first, second, reviews, keys))
        },
        Figure.share(sum(any(one.bad for one in said) for said in by_item), len(ids)),
        Figure.share(sum(all(one.bad for one in said) for said in read_twice), len(read_twice)),
        len(marks.reviews("question")) - len(whole),
        marks.torn,
    )


def is_right(review: Review, key: dict[str, Any]) -> bool:
    """Whether a reader chose exactly the options that the key calls right."""
    right = {at for at, why in enumerate(key["distractor_reasons"]) if why == "answer"}
    return set(review.answered or ()) == (right or {key["answer_index"]})


def _reader(
    number: int, name: str, reviews: Reviews, keys: dict[str, dict[str, Any]]
) -> ReaderFigures:
    own = [one for (reader, _), one in reviews.items() if reader == name]
    found = {
        row["name"]: Figure.share(sum((one.ratings or {})[row["name"]] for one in own), len(own))
        for row in asked()["ratings"]
    }
    return ReaderFigures(
        number,
        Figure.share(sum(is_right(one, keys[one.id]) for one in own), len(own)),
        Figure.share(sum(one.bad for one in own), len(own)),
        found,
    )


def _between(
    first: str, second: str, reviews: Reviews, keys: dict[str, dict[str, Any]]
) -> tuple[Agreement, ...]:
    """What two readers agree on, over the questions that both read; none where there are none."""
    both = sorted(name for reader, name in reviews if reader == first and (second, name) in reviews)
    if not both:
        return ()
    pairs = [(reviews[first, name], reviews[second, name]) for name in both]
    letters = list(range(max(max(keys[name]["n_options"] for name in both), 2)))
    single = [
        tuple((one.answered or (-1,))[0] for one in pair)
        for pair in pairs
        if all(len(one.answered or ()) < 2 for one in pair)
    ]
    return (
        agreement("answer", *_apart(single), [-1, *letters]),
        *(
            agreement(
                row["name"],
                *_apart(
                    [tuple((one.ratings or {})[row["name"]] for one in pair) for pair in pairs]
                ),
                [True, False],
            )
            for row in asked()["ratings"]
        ),
    )


def _apart(pairs: Sequence[tuple[Any, ...]]) -> tuple[list[Any], list[Any]]:
    return [one for one, _ in pairs], [one for _, one in pairs]
