"""How large and how crowded synthetic tables are (shapes.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml

from ehrkg.foundation.errors import UsageError

RELEASE, DEMO = "release", "demo"


@dataclass(frozen=True)
class Beyond:
    """How many codes of a kind a visit has beyond the process, and how rare each is.

    Attributes:
        mean: their mean number in a visit, before it is cut.
        most: no visit has more.
        standing: the share that the patient brings to every visit.
        codes: how many codes there are.
        shift, exponent: the r-th code's weight is ``(r + shift) ** -exponent`` (Mandelbrot's form
            of Zipf's law).
    """

    mean: float
    most: int
    standing: float
    codes: int
    shift: float
    exponent: float


@dataclass(frozen=True)
class Shape:
    """One row of shapes.yaml.

    Attributes:
        shape: its name.
        admitted: the share of patients with any admission.
        readmitted: the chances of a second visit, and of each later one.
        most_visits: no patient has more.
        reordered: the chances that a drug is ordered a second time, a third time, and so on.
        adds: the folders whose conditions, relations and drugs add to the process.
        beyond: what there is beyond the process, by kind of code.
    """

    shape: str
    admitted: float
    readmitted: tuple[float, float]
    most_visits: int
    reordered: tuple[float, ...]
    adds: tuple[str, ...]
    beyond: Mapping[str, Beyond]


@cache
def shapes() -> Mapping[str, Shape]:
    """Every shape by name.

    >>> list(shapes())
    ['release', 'demo', 'broad']
    """
    rows = yaml.safe_load(Path(__file__).with_name("shapes.yaml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            row["shape"]: Shape(
                **row
                | {
                    "readmitted": tuple(row["readmitted"]),
                    "reordered": tuple(row["reordered"]),
                    "adds": tuple(row["adds"]),
                    "beyond": {kind: Beyond(**each) for kind, each in row["beyond"].items()},
                }
            )
            for row in rows
        }
    )


def shape_named(name: str) -> Shape:
    """The shape of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if name not in shapes():
        raise UsageError(f"unknown shape: {name!r}", todo="use one of " + ", ".join(shapes()))
    return shapes()[name]
