"""The predicates that edges and relations may carry, and the Biolink names they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import yaml

UNKNOWN = "RELATED_TO"
"""What an unknown predicate becomes; its own name is kept in the edge's provenance."""


@dataclass(frozen=True)
class Predicate:
    """One row of predicates.yaml.

    Attributes:
        predicate: UPPER_SNAKE name.
        biolink: the CURIE it stands for.
        group: clinical, hierarchy, mapping or coding_rule.
        subject, object: kinds of concept it joins (empty: any).
        words: how a sentence says it.
        contradicted_by: predicates whose presence on the same pair speaks against it.
    """

    predicate: str
    biolink: str
    group: str
    subject: tuple[str, ...]
    object: tuple[str, ...]
    words: str
    contradicted_by: tuple[str, ...]


@cache
def _load() -> Mapping[str, Predicate]:
    text = files("ehrkg.ontology").joinpath("predicates.yaml").read_text(encoding="utf-8")
    rows = yaml.safe_load(text)
    return MappingProxyType(
        {
            row["predicate"]: Predicate(
                row["predicate"],
                row["biolink"],
                row["group"],
                tuple(row["subject"]),
                tuple(row["object"]),
                row["words"],
                tuple(row["contradicted_by"]),
            )
            for row in rows
        }
    )


PREDICATES: Mapping[str, Predicate] = _load()
"""Every predicate, by its UPPER_SNAKE name."""


@cache
def aliases() -> Mapping[str, str]:
    """Spellings that files use beside the Biolink name (predicate_aliases.yaml)."""
    text = files("ehrkg.ontology").joinpath("predicate_aliases.yaml").read_text(encoding="utf-8")
    return {str(key).lower(): str(value) for key, value in yaml.safe_load(text).items()}


@cache
def from_biolink(name: str) -> str | None:
    """The predicate for a Biolink CURIE, an alias, or an UPPER_SNAKE name; None where unknown.

    >>> from_biolink("biolink:treats"), from_biolink("TREATS"), from_biolink("RO:0002606")
    ('TREATS', 'TREATS', 'TREATS')
    >>> from_biolink("biolink:regulates") is None
    True
    """
    word = name.strip()
    if word.upper() in PREDICATES:
        return word.upper()
    for predicate in PREDICATES.values():
        if predicate.biolink == word and predicate.group != "coding_rule":
            return predicate.predicate
    return aliases().get(word.lower())


def to_biolink(predicate: str) -> str:
    """The Biolink CURIE of a predicate.

    >>> to_biolink("CONTRAINDICATED_IN")
    'biolink:contraindicated_in'
    """
    return PREDICATES[predicate].biolink
