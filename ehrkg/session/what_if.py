"""What a graph's verdicts would be without one of its sources."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg import mapping
from ehrkg.mapping import Overrides
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose.schema import CANDIDATES
from ehrkg.verify import Embedder, Policy, resolve_pairs, verify
from ehrkg.verify.schema import Verified
from ehrkg.verify.without import WhatIf, what_if, without_source


def pairs_without(
    table: pa.Table,
    knowledge: Knowledge,
    source: str,
    policy: Policy | None,
    embedder: Embedder,
) -> WhatIf:
    """A user's pairs, verified with all sources and without one."""
    before = verify(*resolve_pairs(table, knowledge), knowledge, policy=policy, embedder=embedder)
    candidates, links = resolve_pairs(table, without_source(knowledge, source))
    return what_if(
        candidates, links, knowledge, before, source=source, policy=policy, embedder=embedder
    )


def relations_without(
    verified: Verified,
    links: pa.Table,
    codes: pa.Table,
    knowledge: Knowledge,
    source: str,
    policy: Policy | None,
    embedder: Embedder,
    overrides: Overrides | None,
) -> WhatIf:
    """A graph's relations, verified again without a source.

    Codes with a link that rests on the source are mapped again without it; the others keep theirs.
    """
    left = without_source(knowledge, source)
    resting = pc.unique(links.filter(pc.equal(links.column("source"), source)).column("code"))
    rests = pc.is_in(links.column("code"), value_set=resting)
    again = mapping.map_codes(
        codes.filter(pc.is_in(codes.column("id"), value_set=resting)),
        left,
        overrides=overrides,
        embedder=embedder,
    ).links
    found = what_if(
        _candidates(verified.relations),
        pa.concat_tables([links.filter(pc.invert(rests)), again.cast(links.schema)]),
        knowledge,
        verified,
        source=source,
        policy=policy,
        embedder=embedder,
    )
    return WhatIf(source, verified, _with_statistics_of(verified, found.verified))


def _candidates(relations: pa.Table) -> pa.Table:
    """The candidates that relations were; how often each end stands alone is not kept."""
    size = len(relations)
    columns = {
        field.name: relations.column(field.name)
        if field.name in relations.column_names
        else pa.nulls(size, field.type)
        for field in CANDIDATES
    }
    return pa.table(columns).cast(CANDIDATES)


def _with_statistics_of(verified: Verified, found: Verified) -> Verified:
    """The hospital's counts as they were told: no source of knowledge has a part in them."""
    told = verified.evidence.filter(pc.equal(verified.evidence.column("kind"), "statistic"))
    other = found.evidence.filter(pc.not_equal(found.evidence.column("kind"), "statistic"))
    order = [(name, "ascending") for name in ("relation", "kind", "id")]
    evidence = pa.concat_tables([other, told.select(other.column_names).cast(other.schema)])
    has = pc.is_in(found.relations.column("id"), value_set=pc.unique(told.column("relation")))
    place = found.relations.schema.get_field_index("n_statistic")
    relations = found.relations.set_column(
        place, found.relations.schema.field(place), has.cast(pa.int32())
    )
    return Verified(relations, evidence.sort_by(order))


__all__ = ["pairs_without", "relations_without"]
