"""What kind of concept a Biolink category or an identifier's prefix makes."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

OTHER = "grouping"
"""The kind of a concept about which neither category nor prefix says anything."""


def read_yaml(name: str) -> Any:
    """A data file of this package."""
    return yaml.safe_load(files("ehrkg.ontology").joinpath(name).read_text(encoding="utf-8"))


@cache
def _ranked() -> tuple[tuple[str, str], ...]:
    return tuple((row["category"].lower(), row["kind"]) for row in read_yaml("categories.yaml"))


@cache
def _by_prefix() -> dict[str, str]:
    return {str(key): str(value) for key, value in read_yaml("concept_kinds.yaml").items()}


@cache
def kind_of(categories: str) -> str:
    """The kind for a cell of KGX categories ("|" between several).

    >>> kind_of("biolink:NamedThing|biolink:Disease"), kind_of("biolink:Gene")
    ('disease', 'grouping')
    """
    present = {part.strip().lower() for part in categories.split("|")}
    return next((kind for category, kind in _ranked() if category in present), OTHER)


def kind_of_curie(curie: str) -> str:
    """The kind that the prefix alone says.

    >>> kind_of_curie("HP:0001297"), kind_of_curie("X:1")
    ('finding', 'grouping')
    """
    return _by_prefix().get(curie.partition(":")[0], OTHER)
