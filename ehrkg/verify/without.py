"""What would be left of the verdicts if a source were not there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.foundation.embedding import Embedder
from ehrkg.foundation.errors import UsageError
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.judge import Judge
from ehrkg.verify.policy import Policy
from ehrkg.verify.schema import Verified
from ehrkg.verify.verifier import verify

CHANGED = pa.schema(
    [
        ("id", pa.string()),
        ("head", pa.string()),
        ("predicate", pa.string()),
        ("tail", pa.string()),
        ("verdict", pa.string()),
        ("verdict_without", pa.string()),
        ("score", pa.float64()),
        ("score_without", pa.float64()),
    ]
)
"""Sorted by id."""


@dataclass(frozen=True)
class WhatIf:
    """Verdicts with all sources, and without one.

    Attributes:
        source: the one left out.
        before: with all sources.
        verified: without it; the same relations.
    """

    source: str
    before: Verified
    verified: Verified

    @property
    def changed(self) -> pa.Table:
        """The relations whose verdict or score is another without the source, as ``CHANGED``."""
        before, after = (
            one.relations.sort_by([("id", "ascending")]) for one in (self.before, self.verified)
        )
        table = before.select(["id", "head", "predicate", "tail", "verdict"])
        table = table.append_column("verdict_without", after.column("verdict"))
        table = table.append_column("score", before.column("score"))
        table = table.append_column("score_without", after.column("score"))
        other = pc.or_(
            pc.not_equal(table.column("verdict"), table.column("verdict_without")),
            pc.not_equal(table.column("score"), table.column("score_without")),
        )
        return table.filter(other).cast(CHANGED)


def without_source(knowledge: Knowledge, source: str) -> Knowledge:
    """Knowledge as if one source had said nothing: no edge, name, mapping, definition or passage.

    A concept that it named stays under its name: others may speak of it.

    Args:
        knowledge: all of it.
        source: an infores id.

    Raises:
        UsageError: nothing in the knowledge is of that source; the message lists the others.
    """
    tables = {
        name: getattr(knowledge, name) for name in ("synonyms", "edges", "mappings", "passages")
    }
    concepts = knowledge.concepts
    known = {
        word
        for table in (concepts, *tables.values())
        for word in pc.unique(table.column("source")).to_pylist()
    }
    if source not in known:
        raise UsageError(
            f"nothing is known from {source!r}", todo=f"name one of {', '.join(sorted(known))}"
        )
    own = pc.equal(concepts.column("source"), source)
    silent = pc.if_else(own, "", concepts.column("definition"))
    place = concepts.schema.get_field_index("definition")
    return replace(
        knowledge,
        concepts=concepts.set_column(place, concepts.schema.field(place), silent),
        **{name: _others(table, source) for name, table in tables.items()},
    )


def what_if(
    candidates: pa.Table,
    links: pa.Table,
    knowledge: Knowledge,
    before: Verified,
    *,
    source: str,
    policy: Policy | None = None,
    embedder: Embedder | None = None,
    judge: Judge | None = None,
    cache: Path | None = None,
) -> WhatIf:
    """Verify again without a source: what it states, defines and says. Nothing is written anywhere.

    Args:
        candidates: as ``verify`` took them.
        links: of the candidates' codes, found without that source.
        knowledge: all of it.
        before: what it gave.
        source: an infores id.
        policy: as ``verify`` took it.
        embedder: as ``verify`` took it.
        judge: as ``verify`` took it.
        cache: as ``verify`` took it.

    Raises:
        UsageError: nothing in the knowledge is of that source.
    """
    found = verify(
        candidates,
        links,
        without_source(knowledge, source),
        policy=policy,
        embedder=embedder,
        judge=judge,
        cache=cache,
    )
    return WhatIf(source, before, found)


def _others(table: pa.Table, source: str) -> pa.Table:
    return table.filter(pc.not_equal(pc.fill_null(table.column("source"), ""), source))


__all__ = ["CHANGED", "WhatIf", "what_if", "without_source"]
