"""Questions out of a graph: of all that is supported, or of what a query selects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg import benchmark
from ehrkg.benchmark import Benchmark
from ehrkg.benchmark.opened.selection import RETURN, Selection, rows_of, select
from ehrkg.benchmark.templates.places import read_places
from ehrkg.foundation.errors import UsageError
from ehrkg.graph import writers

if TYPE_CHECKING:
    from ehrkg.session.kg import KnowledgeGraph


def instantiate(
    kg: KnowledgeGraph,
    *,
    query: str | Path | None,
    tasks: Iterable[str] | None,
    formats: Sequence[str],
    strategies: Sequence[str],
    history: int,
    seed: int,
    parameters: Mapping[str, Any],
) -> Benchmark:
    """Make a benchmark; see ``KnowledgeGraph.instantiate``."""
    if query is None and parameters:
        raise UsageError(
            f"no such argument: {', '.join(sorted(parameters))}",
            todo="parameters are a query's: pass query= with them",
        )
    selected = None if query is None else select(query, kg.store, parameters)
    templates = _templates(kg, selected, tasks, seed)
    made = benchmark.make_questions(
        templates,
        kg.hospital,
        kg.knowledge,
        kg.mapping,
        kg.verified,
        formats=formats,
        strategies=strategies,
        history=history,
        seed=seed,
        ledger=kg.ledger,
    )
    _write(kg, templates, whole=selected is None)
    chosen: dict[str, Any] = {
        "formats": list(formats),
        "strategies": list(strategies),
        "history": history,
        "seed": seed,
    }
    if tasks is not None:
        chosen["tasks"] = sorted({tasks} if isinstance(tasks, str) else tasks)
    if selected is not None:
        chosen |= {"query": selected.recipe["query"], **selected.recipe["parameters"]}
    return Benchmark.from_tables(
        templates=templates,
        items=made.items,
        relations=kg.verified.relations,
        evidence=kg.verified.evidence,
        events=kg.hospital.events,
        pool=made.pool,
        store=kg.store,
        made_by=chosen,
    )


def _templates(
    kg: KnowledgeGraph, selected: Selection | None, tasks: Iterable[str] | None, seed: int
) -> pa.Table:
    """The templates of everything, of the relations or places that a query names, or its own."""
    settings: dict[str, Any] = {"tasks": tasks, "seed": seed, "ledger": kg.ledger}
    parts = (kg.hospital, kg.knowledge, kg.mapping, kg.verified)
    if selected is None:
        return benchmark.make_templates(*parts, **settings)
    if selected.places is not None:
        places = read_places(selected.places)
        if not places:
            raise UsageError("the query gives no row", todo="ask it by kg.query(...) and widen it")
        return benchmark.make_templates(*parts, places=places, **settings)
    if not len(selected.ids):
        raise UsageError("the query gives no id", todo=f"widen it; it must {RETURN}")
    known = kg.verified.relations["id"]
    if pc.all(pc.is_in(selected.ids, value_set=known.combine_chunks())).as_py():
        return benchmark.make_templates(*parts, relations=selected.ids.to_pylist(), **settings)
    templates = benchmark.make_templates(*parts, **settings)
    new = selected.ids.filter(pc.invert(pc.is_in(selected.ids, value_set=templates["id"].unique())))
    earlier = kg.store.query(_AT_PLACES, ids=new.to_pylist()) if len(new) else None
    if earlier is not None and earlier.num_rows:
        # Made of places that an earlier query named: they stand in the graph, and are made again.
        again = benchmark.make_templates(*parts, places=read_places(earlier), **settings)
        templates = pa.concat_tables([templates, again]).sort_by("id")
    wanted = rows_of(selected.ids, [templates["id"], templates["relation"]], also_known=[known])
    return templates.filter(pa.array(wanted))


_AT_PLACES = (
    "MATCH (t:Template)-[:AT]->(v:Visit), (t)-[:ANSWER]->(a:Code), (t)-[:ASSERTS]->(r:Relation), "
    "(t)-[:GIVEN]->(c:Code) WHERE t.id IN $ids RETURN t.id AS template, v.id AS visit, "
    "collect(DISTINCT c.id) AS context, a.id AS answer, r.predicate AS predicate, r.route AS route "
    "ORDER BY template"
)
"""Where templates of the graph ask."""


def _write(kg: KnowledgeGraph, templates: pa.Table, *, whole: bool) -> None:
    """Into the graph: in place of what was there, or, of a part, what is not there yet."""
    earlier = kg.store.read_nodes("Template")["id"]
    if whole:
        gone = set(earlier.to_pylist()) - set(templates["id"].to_pylist())
        kg.store.delete_nodes("Template", sorted(gone))
    else:
        there = pc.is_in(templates["id"], value_set=earlier.combine_chunks())
        templates = templates.filter(pc.invert(there))
    if templates.num_rows:
        writers.write_templates(kg.store, templates)
