"""Tiny knowledge, links and candidates, written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from ehrkg.foundation.hashing import short_id
from ehrkg.mapping.schema import LINKS
from ehrkg.ontology.schema import (
    CODE_ATTRIBUTES,
    CONCEPTS,
    EDGES,
    MAPPINGS,
    PASSAGES,
    SYNONYMS,
    Knowledge,
)
from ehrkg.propose.schema import CANDIDATES
from ehrkg.verify import Policy

Edge = tuple[str, ...]

QUIET = Policy(definition_bonus=0.0, default_reliability=0.8)
"""Paths alone decide, and the sources written by hand here are as good as most that ship."""


def rows(schema: pa.Schema, values: Iterable[Sequence[object]]) -> pa.Table:
    """Rows as tuples, in the schema's order."""
    return pa.Table.from_pylist(
        [dict(zip(schema.names, value, strict=True)) for value in values], schema=schema
    )


def edge(
    subject: str,
    predicate: str,
    target: str,
    *,
    source: str = "infores:one",
    origin: str = "",
    route: str = "",
) -> tuple[object, ...]:
    """One edge; a predicate with a leading ! is negated."""
    negated = predicate.startswith("!")
    name = predicate.lstrip("!")
    origin = origin or source
    key = short_id("e", subject, predicate, target, source, origin, route)
    return (key, subject, name, target, negated, route, source, origin, "CC0-1.0", "", "")


def knowledge(
    edges: Iterable[tuple[object, ...]],
    concepts: Iterable[tuple[str, str, str, str]] = (),
    synonyms: Iterable[tuple[str, str]] = (),
    mappings: Iterable[tuple[str, str, str]] = (),
    passages: Iterable[tuple[str, str, str]] = (),
) -> Knowledge:
    """Knowledge of edges; concepts as (id, name, kind, definition), others get a plain row.

    Passages as (concept, title, text).
    """
    stated = list(edges)
    given = {row[0]: (*row, "infores:one") for row in concepts}
    for row in stated:
        for end in (str(row[1]), str(row[3])):
            given.setdefault(end, (end, end.split(":")[-1], "disease", "", "infores:one"))
    return Knowledge(
        rows(CONCEPTS, (given[key] for key in sorted(given))),
        rows(SYNONYMS, ((c, text, "exact", "infores:one") for c, text in sorted(synonyms))),
        rows(EDGES, stated).sort_by(
            [(name, "ascending") for name in ("predicate", "subject", "object", "source", "id")]
        ),
        rows(MAPPINGS, ((s, p, o, 1.0, "infores:one") for s, p, o in mappings)),
        CODE_ATTRIBUTES.empty_table(),
        rows(
            PASSAGES,
            (
                (short_id("p", *row), row[0], "", *row[1:], "infores:texts", "texts", "", "", "")
                for row in sorted(passages)
            ),
        ),
    )


def link(
    code: str,
    concept: str,
    levels: int = 0,
    confidence: float = 1.0,
    predicate: str = "skos:exactMatch",
) -> tuple[object, ...]:
    """One link."""
    return (code, concept, predicate, "xref", levels, confidence, "infores:one", "")


def links(values: Iterable[tuple[object, ...]]) -> pa.Table:
    """Links in their order."""
    return rows(LINKS, values).sort_by(
        [(name, "ascending") for name in ("code", "levels", "concept", "method")]
    )


def same(concepts: Iterable[str]) -> pa.Table:
    """Each concept linked to itself, as when a user's pairs are CURIEs."""
    return links(link(concept, concept) for concept in sorted(set(concepts)))


def candidate(
    head: str,
    predicate: str,
    tail: str,
    *,
    route: str = "",
    within: int = 0,
    across: int = 0,
) -> tuple[object, ...]:
    """One candidate."""
    key = short_id("r", head, route, predicate, tail)
    return (
        key,
        head,
        route,
        predicate,
        tail,
        [],
        ["test"],
        within,
        across,
        within + across,
        within + across,
        within + across,
        2.0 if within + across else None,
        0.01 if within + across else None,
    )


def candidates(values: Iterable[tuple[object, ...]]) -> pa.Table:
    """Candidates sorted by id, each once."""
    distinct = {str(value[0]): value for value in values}
    return rows(CANDIDATES, (distinct[key] for key in sorted(distinct)))


def verdicts(relations: pa.Table) -> dict[tuple[str, str, str], str]:
    """(head, predicate, tail) to verdict."""
    return {
        (row["head"], row["predicate"], row["tail"]): row["verdict"]
        for row in relations.to_pylist()
    }
