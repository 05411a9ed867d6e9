"""Figures that others published, as data with their source; measured on other data than ours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

LABEL = "measured on other data"
"""What stands over published figures wherever they are shown."""

_WORDS = {"percent": "{:.2f} %", "rank": "{:.2f}", "share": "{:.3f}"}


@dataclass(frozen=True)
class Figure:
    """One published figure.

    Attributes:
        measure: ``accuracy``, ``average_rank`` or ``kendalls_w``.
        group: what it is of, in words.
        value: in ``unit``.
        unit: ``percent`` (0 to 100), ``rank`` (1 is the best) or ``share`` (0 to 1).
    """

    measure: str
    group: str
    value: float
    unit: str

    @property
    def words(self) -> str:
        """The value as it is shown, to as many places as were published.

        >>> Figure("accuracy", "task: diagnosis, mean", 55.02, "percent").words
        '55.02 %'
        """
        return _WORDS[self.unit].format(self.value)


@dataclass(frozen=True)
class Publication:
    """A source and its figures.

    Attributes:
        name, title, identifier, url, year: of the source.
        measured_on: what data and whose models.
        figures: in the order of published.yaml.
    """

    name: str
    title: str
    identifier: str
    url: str
    year: int
    measured_on: str
    figures: tuple[Figure, ...]


@cache
def publications() -> tuple[Publication, ...]:
    """Every publication of published.yaml; for an appendix, never for a leaderboard.

    >>> [(each.name, each.identifier, len(each.figures)) for each in publications()]
    [('EHRBench', 'arXiv:2605.30637', 9)]
    """
    rows = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return tuple(
        Publication(**row | {"figures": tuple(Figure(**each) for each in row["figures"])})
        for row in rows
    )
