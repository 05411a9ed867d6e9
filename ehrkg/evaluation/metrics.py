"""The figures of an evaluation, each with its formula and source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ehrkg.benchmark.facts.intervals import wilson as wilson
from ehrkg.evaluation.measures.clusters import DRAWS, Groups, clustered_means


@dataclass(frozen=True)
class Interval:
    """A mean with its interval and what it rests on."""

    mean: float
    low: float
    high: float
    n: int
    clusters: int


def clustered_mean(
    values: Sequence[float] | npt.NDArray[np.float64],
    clusters: Sequence[str],
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 7,
) -> Interval:
    """A mean with a percentile bootstrap interval that resamples whole clusters.

    Several questions of one patient are not independent; resampling patients, not questions, keeps
    the interval honest (Field and Welsh 2007, JRSS B 69:369). Where all values agree the bootstrap
    has nothing to say, and the Wilson interval over the clusters is given instead.

    Args:
        values: one a question, in [0, 1].
        clusters: the patient's key of each.
        level: coverage.
        draws: bootstrap draws.
        seed: of the draws; they depend on nothing else.

    >>> clustered_mean([1, 0, 1, 1], ["a", "a", "b", "c"]).mean
    0.75
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        return Interval(float("nan"), 0.0, 1.0, 0, 0)
    _, patients = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    every = Groups(pa.table({}), np.zeros(array.size, dtype=np.int64), 1)
    found = clustered_means(
        array, every, patients.astype(np.int64), level=level, draws=draws, seed=seed
    )
    mean, low, high = (float(each[0]) for each in (found.mean, found.low, found.high))
    return Interval(mean, low, high, array.size, int(found.clusters[0]))


def effective_size(clusters: Sequence[str]) -> float:
    """Kish's effective sample size of unequal clusters: ``(sum n)^2 / sum n^2`` (Kish 1965).

    >>> effective_size(["a", "b", "c"]), round(effective_size(["a"] * 9 + ["b"]), 2)
    (3.0, 1.22)
    """
    if not clusters:
        return 0.0
    _, sizes = np.unique(np.asarray(clusters, dtype=object).astype(str), return_counts=True)
    return float(sizes.sum() ** 2 / (sizes.astype(np.float64) ** 2).sum())


def normalise_answer(text: str) -> str:
    """Text as answers are compared: lower case, letters and digits only, single spaces.

    >>> normalise_answer("  Heart-failure, (systolic)! ")
    'heart failure systolic'
    """
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def relation_coverage(text: str, accepted: Iterable[str]) -> float:
    """1 where an accepted name stands in the text as whole words, else 0.

    This is the relation coverage (RC) of EHRBench (arXiv 2605.30637) for one expected relation:
    the answer's names, synonyms and graph descendants all count.

    >>> relation_coverage("Probably acute heart failure.", ["heart failure"])
    1.0
    >>> relation_coverage("heartfailure", ["heart failure"])
    0.0
    """
    said = f" {normalise_answer(text)} "
    names = (normalise_answer(name) for name in accepted)
    return float(any(name and f" {name} " in said for name in names))


def exact_match(text: str, accepted: Iterable[str]) -> float:
    """1 where the whole text is an accepted name, as answers are compared, else 0.

    The exact match (EM) of SQuAD (Rajpurkar et al. 2016, arXiv 1606.05250), by our normalisation.

    >>> exact_match("Heart failure.", ["heart failure"])
    1.0
    >>> exact_match("no heart failure", ["heart failure"])
    0.0
    """
    said = normalise_answer(text)
    return float(bool(said) and said in {normalise_answer(name) for name in accepted})


class _Tokens:
    """Words of a text, stemmed as rouge-score does by default; stemming costs most of a score."""

    def __init__(self) -> None:
        from rouge_score.tokenizers import DefaultTokenizer

        self.tokenize = lru_cache(100_000)(DefaultTokenizer(use_stemmer=True).tokenize)


@cache
def _scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rouge1", "rougeL"], tokenizer=_Tokens())


def rouge(text: str, references: Iterable[str]) -> tuple[float, float]:
    """ROUGE-1 and ROUGE-L F-measures, each the best over the references (Lin 2004).

    >>> rouge("acute kidney failure", ["acute kidney failure"])
    (1.0, 1.0)
    """
    best = [0.0, 0.0]
    for reference in references:
        scores = _scorer().score(reference, text)
        best[0] = max(best[0], scores["rouge1"].fmeasure)
        best[1] = max(best[1], scores["rougeL"].fmeasure)
    return best[0], best[1]
