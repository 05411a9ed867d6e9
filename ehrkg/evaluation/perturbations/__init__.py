"""Perturbations: the same question put otherwise, its right answer unchanged.

Each is one small class under a name. It gives, for every question, the perturbed one under the
original's ``item_id``, or the reason why there is none; so answers pair up, and nothing is lost in
silence. The tests hold every one of them to the rules that the benchmark itself is held to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ehrkg.benchmark import Benchmark, Facts
from ehrkg.benchmark.checking.made_from import made_from
from ehrkg.evaluation.perturbations.asked import Asked, Perturbation, Perturbed, perturbed
from ehrkg.evaluation.perturbations.naming import Abbreviated, CodesShown, Typos
from ehrkg.evaluation.perturbations.options import FewerOptions, OptionOrder
from ehrkg.evaluation.perturbations.redrawn import MoreOptions, OtherStrategy
from ehrkg.evaluation.perturbations.stems import (
    ContextOrder,
    FewerEvents,
    HistoryLength,
    IrrelevantEvents,
    Phrasing,
)
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.ledger import Ledger

__all__ = ["ALL", "PERTURBATIONS", "Perturbation", "Perturbed", "names_in", "perturb"]

STAGE = "perturb"

ALL = "all"
"""Stands for the names of all perturbations."""

PERTURBATIONS: Mapping[str, Callable[[], Perturbation]] = {
    "option_order": OptionOrder,
    "fewer_options": FewerOptions,
    "more_options": MoreOptions,
    "phrasing": Phrasing,
    "fewer_events": FewerEvents,
    "irrelevant_events": IrrelevantEvents,
    "context_order": ContextOrder,
    "history_length": HistoryLength,
    "codes_shown": CodesShown,
    "abbreviations": Abbreviated,
    "typos": Typos,
    "distractors_random": lambda: OtherStrategy("random"),
    "distractors_cooccurring": lambda: OtherStrategy("cooccurring"),
}
"""Every perturbation by name; a new one is one new row."""


def names_in(wanted: str | Iterable[str]) -> tuple[str, ...]:
    """The names of perturbations that are asked for; all of them for ``all``.

    Args:
        wanted: names, each alone or several with commas between them.

    Raises:
        UsageError: there is none of a name.

    >>> names_in("phrasing"), len(names_in("all")) == len(PERTURBATIONS)
    (('phrasing',), True)
    >>> names_in(["phrasing,typos", "phrasing"])
    ('phrasing', 'typos')
    """
    said = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    names = tuple(dict.fromkeys(name.strip() for one in said for name in one.split(",")))
    if ALL in names:
        return tuple(PERTURBATIONS)
    unknown = sorted(set(names) - set(PERTURBATIONS))
    if unknown:
        raise UsageError(
            f"no such perturbation: {', '.join(unknown)}",
            todo=f"use {ALL}, or {', '.join(PERTURBATIONS)}",
        )
    return names


def perturb(
    benchmark: Benchmark,
    names: str | Iterable[str] = ALL,
    *,
    seed: int = 7,
    facts: Facts | None = None,
    ledger: Ledger | None = None,
) -> list[Perturbed]:
    """The questions of a benchmark under perturbations.

    Args:
        benchmark: the questions.
        names: of perturbations.
        seed: of every draw.
        facts: what the benchmark was made from; read out of its graph by default, and only if a
            perturbation needs them (``option_order`` and ``fewer_options`` do not).
        ledger: gets an entry a perturbation: questions in, perturbed ones out, the rest by reason.

    Returns:
        One a name, in their order, each with what it could not be made for.

    Raises:
        UsageError: there is no such perturbation, or no graph to read.

    >>> from ehrkg.benchmark import example
    >>> print(perturb(example(), "option_order")[0])
    option_order: 12 questions; without: no_options 12
    """
    asked = Asked(benchmark, (lambda: facts) if facts else lambda: made_from(benchmark).facts, seed)
    found = [perturbed(PERTURBATIONS[name](), benchmark, asked) for name in names_in(names)]
    if ledger is not None:
        for one in found:
            n, made = len(benchmark), len(one.benchmark)
            ledger.record(STAGE, one.name, rows_in=n, rows_out=made, dropped=dict(one.missing))
    return found
