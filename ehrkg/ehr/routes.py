"""Routes of administration: the words that tables write, and the classes they belong to."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import yaml

from ehrkg.ehr.codes import WHITE_SPACE

if TYPE_CHECKING:
    from ibis.expr.types import StringValue

UNKNOWN = "unknown"
"""The class of a word that stands in no row of routes.yaml, and of no word at all."""

_SPACES = re.compile(f"[{WHITE_SPACE}]+")


@dataclass(frozen=True)
class Route:
    """A class of routes.

    Attributes:
        route: its name.
        words: what tables write for it, in upper case.
        apart: given there, a drug is not the systemic drug.
    """

    route: str
    words: tuple[str, ...]
    apart: bool


@cache
def _routes() -> Mapping[str, Route]:
    text = Path(__file__).with_name("routes.yaml").read_text(encoding="utf-8")
    return MappingProxyType(
        {
            row["route"]: Route(row["route"], tuple(map(str, row["words"])), row["apart"])
            for row in yaml.safe_load(text)
        }
    )


ROUTES: Mapping[str, Route] = _routes()
"""Every route class by name, in the order of routes.yaml."""

APART: frozenset[str] = frozenset(route.route for route in ROUTES.values() if route.apart)
"""The classes in which a drug is not the systemic drug."""

WORDS: Mapping[str, str] = MappingProxyType(
    {word: route.route for route in ROUTES.values() for word in route.words}
)
"""The class of each word."""


def route_class(word: str) -> str:
    """The class of a word for a route, ``"unknown"`` where it is in no table.

    >>> route_class("PO/NG"), route_class(" iv drip"), route_class(""), route_class("by owl")
    ('oral', 'intravenous', 'unknown', 'unknown')
    """
    return WORDS.get(_SPACES.sub(" ", word.strip(WHITE_SPACE)).upper(), UNKNOWN)


def fold_column(word: StringValue) -> StringValue:
    """Words for routes in the form in which they are compared, as an Ibis expression."""
    return word.re_replace(f"[{WHITE_SPACE}]+", " ").strip().upper()


def route_column(folded: StringValue, words: Collection[str] = WORDS.keys()) -> StringValue:
    """``route_class`` for a column of folded words, as an Ibis expression.

    Args:
        folded: the column, as ``fold_column`` gives it.
        words: those that occur in it; all known ones by default. Fewer make a shorter query.
    """
    import ibis

    cases = [
        (folded.isin(present), route.route)
        for route in ROUTES.values()
        if (present := [word for word in route.words if word in words])
    ]
    return ibis.cases(*cases, else_=UNKNOWN) if cases else ibis.literal(UNKNOWN)
