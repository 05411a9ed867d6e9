"""Questions under perturbations, as models meet them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from ehrkg.benchmark import Benchmark
from ehrkg.evaluation.asking.questions import Question, questions_of
from ehrkg.evaluation.perturbations import Perturbed, perturb
from ehrkg.evaluation.settings import Setting


class PerturbedQuestions:
    """The questions of a benchmark under the perturbations of some settings, made when asked for.

    Args:
        benchmark: the questions as they are.
        settings: whose perturbations are meant.
        seed: of every draw.

    >>> from ehrkg.benchmark import example
    >>> made = PerturbedQuestions(example(), [Setting(perturbation="option_order"), Setting()])
    >>> sorted(made.by_name), made.missing("option_order")
    (['option_order'], {'no_options': 12})
    """

    def __init__(self, benchmark: Benchmark, settings: Iterable[Setting], *, seed: int = 7) -> None:
        self._benchmark, self._seed = benchmark, seed
        self.names = tuple(dict.fromkeys(one.perturbation for one in settings if one.perturbation))

    @cached_property
    def _perturbed(self) -> Mapping[str, Perturbed]:
        found = perturb(self._benchmark, self.names, seed=self._seed) if self.names else ()
        return {one.name: one for one in found}

    @cached_property
    def by_name(self) -> Mapping[str, Mapping[str, Question]]:
        """By perturbation: each question that can be put so, by its item's id."""
        return {
            name: {one.item_id: one for one in questions_of(made.benchmark.to_arrow())}
            for name, made in self._perturbed.items()
        }

    def missing(self, name: str) -> Mapping[str, int]:
        """How many questions can't be put so, by reason; none for "", the question as it is."""
        return self._perturbed[name].missing if name else {}

    def of(self, setting: Setting, plain: Iterable[Question]) -> list[Question]:
        """The questions that a setting asks, under its perturbation; what can't be put is left out.

        Args:
            setting: how it is asked; its control comes after this, by ``in_setting``.
            plain: the questions as they are.
        """
        if not setting.perturbation:
            return list(plain)
        held = self.by_name[setting.perturbation]
        return [held[one.item_id] for one in plain if one.item_id in held]


def under_perturbations(
    settings: Iterable[Setting | str], names: Iterable[str]
) -> tuple[Setting, ...]:
    """Settings, each followed by itself under perturbations, so that answers pair up.

    Args:
        settings: by value or by name.
        names: of perturbations.

    >>> [one.name for one in under_perturbations(["few_shot5"], ["typos"])]
    ['few_shot5', 'perturbed:typos+few_shot5']
    """
    chosen = [one if isinstance(one, Setting) else Setting.parse(one) for one in settings]
    wanted = tuple(names)
    every = [
        two
        for one in chosen
        for two in (one, *(replace(one, perturbation=name) for name in wanted))
    ]
    return tuple(dict.fromkeys(every))
