"""The predicates that edges and relations may carry, and the Biolink names they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

import yaml

from ehrkg.foundation.errors import InputError

UNKNOWN = "RELATED_TO"
"""What an unknown predicate becomes; its own name is kept as the edge's ``original_predicate``."""


@dataclass(frozen=True)
class Predicate:
    """One row of predicates.yaml.

    Attributes:
        predicate: UPPER_SNAKE name.
        biolink: the CURIE it stands for.
        group: clinical, hierarchy, mapping, exclusion or coding_rule.
        subject, object: kinds of concept it joins (empty: any).
        words: how a sentence says it.
        contradicted_by: predicates whose presence on the same pair speaks against it.

    >>> treats = PREDICATES["TREATS"]
    >>> treats.biolink, treats.words, "disease" in treats.object
    ('biolink:treats', 'treats', True)
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


@dataclass(frozen=True)
class Reading:
    """How a file's word for a relation is understood.

    Attributes:
        predicate: the predicate it stands for.
        turned: it says it from the object's side (``may_be_treated_by``).
        negated: it says that it does not hold (``NEG_TREATS``).
        known: whether any table lists the word; if not, it is kept beside the edge.
    """

    predicate: str
    turned: bool = False
    negated: bool = False
    known: bool = True


@cache
def aliases() -> Mapping[str, Reading]:
    """Words that files use beside the Biolink name, in lower case (predicate_aliases.yaml)."""
    path = Path(str(files("ehrkg.ontology").joinpath("predicate_aliases.yaml")))
    rows = read_aliases(path)
    return MappingProxyType({word.lower(): _alias(word, row) for word, row in rows.items()})


def read_aliases(path: Path) -> dict[str, object]:
    """The rows of a file like predicate_aliases.yaml: a table a vocabulary, or one without.

    Raises:
        InputError: it is no YAML, or no such table.
    """
    try:
        tables = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError("not YAML", file=path, found=str(error).splitlines()[0]) from error
    if not isinstance(tables, dict):
        raise InputError("no table of predicates", file=path, expected="word: PREDICATE")
    rows: dict[str, object] = {}
    for word, row in tables.items():
        inner = isinstance(row, dict) and "predicate" not in row
        rows |= {str(key): value for key, value in row.items()} if inner else {str(word): row}
    return rows


def _alias(word: str, row: object) -> Reading:
    """One row: the name of a predicate, or it with ``turned`` or ``negated``.

    Raises:
        InputError: it names no predicate.
    """
    spec = row if isinstance(row, Mapping) else {"predicate": row}
    name = str(spec.get("predicate", ""))
    if name not in PREDICATES:
        raise InputError(
            "no such predicate",
            column=word,
            found=name,
            expected=", ".join(PREDICATES),
            todo="mend the table of predicates",
        )
    marks = {key: str(spec.get(key, "")).lower() == "true" for key in ("turned", "negated")}
    return Reading(name, **marks)


_MORE: ContextVar[Mapping[str, Reading]] = ContextVar("more", default=MappingProxyType({}))


@contextmanager
def extended(rows: Mapping[str, object]) -> Iterator[None]:
    """Read further words for predicates, or read words otherwise, while this lasts.

    Args:
        rows: as in predicate_aliases.yaml: a word and its predicate, or ``{predicate: ...,
            turned: true, negated: true}``.

    Raises:
        InputError: a row names no predicate.

    >>> with extended({"heals": "TREATS", "healed by": {"predicate": "TREATS", "turned": True}}):
    ...     from_biolink("heals"), reading("healed by")
    ('TREATS', Reading(predicate='TREATS', turned=True, negated=False, known=True))
    >>> from_biolink("heals") is None
    True
    """
    own = {str(word).lower(): _alias(str(word), row) for word, row in rows.items()}
    token = _MORE.set({**_MORE.get(), **own})
    try:
        yield
    finally:
        _MORE.reset(token)


def reading(name: str) -> Reading | None:
    """How a Biolink CURIE, an alias or an UPPER_SNAKE name is understood; None where unknown.

    >>> reading("RO:0002606"), reading("may_be_treated_by").turned, reading("NEG_TREATS").negated
    (Reading(predicate='TREATS', turned=False, negated=False, known=True), True, True)
    """
    word = name.strip()
    more = _MORE.get()
    return (more.get(word.lower()) if more else None) or _listed(word)


@cache
def _listed(word: str) -> Reading | None:
    if word.upper() in PREDICATES:
        return Reading(word.upper())
    for predicate in PREDICATES.values():
        if predicate.biolink == word and predicate.group != "coding_rule":
            return Reading(predicate.predicate)
    found = aliases().get(word.lower())
    if found is None and word.startswith(("http://", "https://")):
        from ehrkg.ontology.curies import contract

        found = aliases().get(contract(word).lower())
    return found


def from_biolink(name: str) -> str | None:
    """The predicate for a Biolink CURIE, an alias, or an UPPER_SNAKE name; None where unknown.

    A word that turns subject and object round, or negates, is None here: ``reading`` tells more.

    >>> from_biolink("biolink:treats"), from_biolink("TREATS"), from_biolink("RO:0002606")
    ('TREATS', 'TREATS', 'TREATS')
    >>> from_biolink("biolink:regulates") is from_biolink("may_be_treated_by") is None
    True
    """
    found = reading(name)
    return None if found is None or found.turned or found.negated else found.predicate


def to_biolink(predicate: str) -> str:
    """The Biolink CURIE of a predicate.

    >>> to_biolink("CONTRAINDICATED_IN")
    'biolink:contraindicated_in'
    """
    return PREDICATES[predicate].biolink
