"""Names of options, for many questions at once.

Every (code, route) has its names worked out once; which of them a question shows follows from all
of its options together, by the rules of ``names.option_names``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ehrkg.benchmark.facts.codes import CodeFacts
from ehrkg.benchmark.facts.names import name_axes, name_forms

Ints = npt.NDArray[np.int64]


@dataclass
class OptionTexts:
    """Names by number: what is shown, and what it is compared by.

    Attributes:
        texts: every name that may be shown, by number.
    """

    texts: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _folds: dict[str, int] = field(default_factory=dict)
    _fold_of: list[int] = field(default_factory=list)
    _at: dict[tuple[str, str], int] = field(default_factory=dict)
    _forms: list[list[int]] = field(default_factory=list)
    _has: list[int] = field(default_factory=list)

    def entry(self, facts: CodeFacts, route: str) -> int:
        """The number of a code by a route, for ``choose``."""
        key = (facts.id, route)
        if key not in self._at:
            self._at[key] = len(self._forms)
            self._forms.append([self._number(name) for name in name_forms(facts, route)])
            self._has.append(name_axes(facts))
        return self._at[key]

    def choose(self, entries: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """The names of the options of many questions.

        Args:
            entries: numbers of ``entry``, a row a question.

        Returns:
            Numbers of ``texts``, and which questions have options that no name tells apart.
        """
        if not entries.size:
            return entries, np.zeros(len(entries), dtype=bool)
        forms, folds = np.array(self._forms, dtype=np.int64), np.array(self._fold_of, np.int64)
        shared = np.bitwise_and.reduce(np.array(self._has, dtype=np.int64)[entries], axis=1)
        plain = forms.shape[1] - 2
        chosen = np.take_along_axis(
            forms[entries], np.repeat(shared[:, None], entries.shape[1], axis=1)[..., None], axis=2
        )[..., 0]
        alike = _alike(folds[chosen])
        for form in (plain, plain + 1):
            if alike.any():
                chosen[alike] = forms[entries[alike], form]
                alike = _alike(folds[chosen])
        return chosen, alike

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self.texts)
            self.texts.append(name)
            fold = name.casefold()
            self._fold_of.append(self._folds.setdefault(fold, len(self._folds)))
        return self._numbers[name]


def _alike(folds: Ints) -> npt.NDArray[np.bool_]:
    """Which rows hold a number twice."""
    ordered = np.sort(folds, axis=1)
    found: npt.NDArray[np.bool_] = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    return found
