"""A logistic model on codes: what can be read off context, age and sex without any knowledge."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ehrkg.benchmark.facts.intervals import Floats
from ehrkg.evaluation.asking.asked import LEARNT_FROM, Asked, Ints, Told, places
from ehrkg.evaluation.baselines.contexts import OPEN_ROWS, best_answers, by_context, context_matrix
from ehrkg.evaluation.baselines.protocol import against_cut
from ehrkg.foundation.hashing import hash_strings

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST_LEARNT = 5_000
"""Templates a task that a model learns from, drawn by a hash: more cost time and teach little."""

PENALTY = 1.0
"""Inverse strength of the ridge penalty (scikit-learn's C)."""

STEPS = 50
"""Of the optimiser, at most."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model of one task and fold: log-odds of each answer, up to a constant of the stem.

    Attributes:
        answers: codes that it knows as answers, as places in ``Logistic.codes``, rising.
        bias: of each answer; one more entry at the end, for any other code: as if half a training
            question had it.
        of_codes: codes by answers (and the other).
        of_groups: groups (age bands, sexes) by answers (and the other).
    """

    answers: Ints
    bias: Floats
    of_codes: Floats
    of_groups: Floats


@dataclass(frozen=True, eq=False)
class Logistic:
    """The answer that a multinomial logistic model finds likeliest.

    One model a task, learnt from the templates of the training split with scikit-learn's
    ``LogisticRegression`` (lbfgs, ridge penalty, from zero: the same each time). Features: one for
    each code of the context, one for each age band, one for each sex. Classes: the answer codes. An
    option's utility is the log-probability of its code. For the training patients there are two
    more models a task, each of one half of them, which answer for the other half.

    Args:
        codes: ids of codes, sorted.
        groups: "age 40-64", "sex F", sorted.
        models: task and fold to the model.
        names: code to the text of an answer.
    """

    codes: pa.Array
    groups: pa.Array
    models: Mapping[tuple[str, int], Fitted]
    names: Mapping[str, str]
    name: str = "logistic model on codes"
    key_source: bool = False

    @classmethod
    def learn(cls, told: Told, names: Mapping[str, str], *, seed: int = 7) -> Logistic:
        """Fit the models.

        Args:
            told: the templates, of all splits.
            names: code to the text of an answer.
            seed: draws from which templates is learnt where there are very many.
        """
        # Limits hold for libraries that are loaded by then.
        import sklearn.linear_model  # noqa: F401
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        models = {}
        drawn = _Drawn(told, seed)
        with threadpool_limits(limits=1):
            for task in sorted(set(told.task.tolist())):
                for fold, halves in enumerate(LEARNT_FROM):
                    mine = (told.task == task) & np.isin(told.fold, halves) & (told.answer >= 0)
                    rows = drawn.at_most(np.flatnonzero(mine))
                    if len(rows):
                        models[task, fold] = _fit(told, rows)
        return cls(told.codes, told.groups, models, names)

    def utilities(self, questions: Asked) -> Floats:
        """See ``Baseline.utilities``."""
        found = np.zeros(len(questions.option))
        for model, rows in self._parts(questions):
            mine = np.zeros(len(questions), bool)
            mine[rows] = True
            options = np.flatnonzero(mine[questions.of])
            found[options] = self._log_odds(questions, options, model)
            said = rows[questions.is_form("yesno")[rows]]
            for part in _pieces(said):
                log_odds = self._all_log_odds(questions, part, model)
                most = log_odds.max(axis=1)
                total = most + np.log(np.exp(log_odds - most[:, None]).sum(axis=1))
                for place in (0, 1):
                    found[questions.starts[part] + place] -= total
        return against_cut(questions, found)

    def texts(self, questions: Asked) -> Sequence[str]:
        """See ``Baseline.texts``."""
        names = [self.names.get(code, "") for code in self.codes.to_pylist()]
        said = [""] * len(questions)
        for model, rows in self._parts(questions):
            here = places(self.codes.take(pa.array(model.answers)), questions.codes)

            def score(part: Ints, model: Fitted = model) -> Floats:
                return self._all_log_odds(questions, part, model)[:, :-1]

            best = best_answers(questions, rows, here, score)
            for row, place in zip(rows.tolist(), best.tolist(), strict=True):
                said[row] = names[model.answers[place]] if place >= 0 else ""
        return said

    def _parts(self, questions: Asked) -> Iterator[tuple[Fitted, Ints]]:
        """Each model with the questions that it answers."""
        for number, task in enumerate(questions.tasks):
            for fold in range(len(LEARNT_FROM)):
                rows = np.flatnonzero((questions.task == number) & (questions.fold == fold))
                if len(rows) and (task, fold) in self.models:
                    yield self.models[task, fold], rows

    def _log_odds(self, questions: Asked, options: Ints, model: Fitted) -> Floats:
        """Of each option's code, given its stem."""
        at = places(questions.codes, self.codes)
        column = np.full(len(self.codes) + 1, len(model.answers), np.int64)
        column[model.answers] = np.arange(len(model.answers))
        answer = column[at][questions.option]

        def score(mine: Ints, context: Ints) -> Floats:
            found: Floats = model.of_codes[at[context], answer[mine]]
            return found

        total = by_context(questions, options, score, np.add) + model.bias[answer[options]]
        groups = self._groups(questions)[questions.of[options]]
        for side in range(groups.shape[1]):
            total += model.of_groups[groups[:, side], answer[options]]
        return total

    def _all_log_odds(self, questions: Asked, rows: Ints, model: Fitted) -> Floats:
        """Of every answer and of any other code, given the stems of some questions."""
        at = places(questions.codes, self.codes)
        contexts = context_matrix(questions, rows, at, len(self.codes))
        total: Floats = contexts @ model.of_codes[:-1] + model.bias
        groups = self._groups(questions)[rows]
        for side in range(groups.shape[1]):
            total += model.of_groups[groups[:, side]]
        return total

    def _groups(self, questions: Asked) -> Ints:
        """Age band and sex that each stem tells, as rows of ``Fitted.of_groups`` (-1: none)."""
        at = np.append(places(questions.told.groups, self.groups), -1)
        shown = np.vstack([questions.told.group, np.full((1, 2), -1)])[questions.stem_template]
        found: Ints = at[shown]
        return found


class _Drawn:
    """Templates in an order that a hash of their ids decides; hashed once, and only if need be."""

    def __init__(self, told: Told, seed: int) -> None:
        self._told, self._seed = told, seed

    def at_most(self, rows: Ints) -> Ints:
        """At most ``MOST_LEARNT`` of the rows."""
        if len(rows) <= MOST_LEARNT:
            return rows
        return np.sort(rows[np.argsort(self._places[rows])[:MOST_LEARNT]])

    @cached_property
    def _places(self) -> Ints:
        ids = self._told.ids.to_pylist()
        order = np.lexsort((np.arange(len(ids)), hash_strings(self._seed, ids)))
        places = np.empty(len(ids), np.int64)
        places[order] = np.arange(len(ids))
        return places


def _fit(told: Told, rows: Ints) -> Fitted:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    answers, which = np.unique(told.answer[rows], return_inverse=True)
    n_codes, n_groups = len(told.codes), len(told.groups)
    if len(answers) == 1:
        weights, bias = np.zeros((1, n_codes + n_groups)), np.zeros(1)
    else:
        model = LogisticRegression(C=PENALTY, max_iter=STEPS, tol=1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a few steps are as good
            warnings.filterwarnings("ignore", "The number of unique classes")  # so it is with codes
            model.fit(_features(told, rows), which)
        weights, bias = model.coef_, model.intercept_
        if len(answers) == 2:  # scikit-learn gives the log-odds of the second alone
            weights, bias = np.vstack([-weights, weights]) / 2, np.append(-bias, bias) / 2
    level = float(np.mean(bias - np.log(np.bincount(which))))
    table = np.zeros((n_codes + n_groups, len(answers) + 1))
    table[:, :-1] = np.round(weights.T, 6)
    none = np.zeros((1, len(answers) + 1))
    return Fitted(
        answers=answers,
        bias=np.round(np.append(bias, level + np.log(0.5)), 6),
        of_codes=np.vstack([table[:n_codes], none]),
        of_groups=np.vstack([table[n_codes:], none]),
    )


def _features(told: Told, rows: Ints) -> csr_matrix:
    """Context codes, age band and sex of templates, 1 where they are told."""
    from scipy.sparse import csr_matrix

    sizes = np.diff(told.offsets)[rows]
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    code = told.code[np.repeat(told.offsets[rows], sizes) + within]
    row = np.concatenate([np.repeat(np.arange(len(rows)), sizes), *[np.arange(len(rows))] * 2])
    column = np.concatenate([code, *(len(told.codes) + told.group[rows]).T])
    shape = (len(rows), len(told.codes) + len(told.groups))
    return csr_matrix((np.ones(len(row)), (row, column)), shape=shape)


def _pieces(rows: Ints) -> Iterator[Ints]:
    for start in range(0, len(rows), OPEN_ROWS):
        yield rows[start : start + OPEN_ROWS]
