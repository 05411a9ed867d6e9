"""Put a whole build into one graph."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.progress import Progress
from ehrkg.graph import open_store, writers
from ehrkg.mapping.schema import Mapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.schema import Verified

GRAPH = "graph.lbug"


def store_graph(
    out: Path,
    work: Path,
    hospital: Hospital,
    knowledge: Knowledge,
    mapping: Mapping,
    verified: Verified,
    templates: pa.Table,
    *,
    progress: Progress,
) -> dict[str, object]:
    """Write ``out/graph.lbug``: filled beside its place, then renamed into it.

    A graph that a killed build left half-filled is thrown away; the tables it is made of are kept,
    so filling it again costs seconds.

    Returns:
        The graph's content hash and its counts, for the manifest.
    """
    part = work / GRAPH
    for leftover in work.glob(f"{GRAPH}*"):
        leftover.unlink()
    progress.start("filling the graph", 5)
    with open_store(part) as store:
        writers.write_hospital(store, hospital)
        progress.advance()
        writers.write_knowledge(store, knowledge)
        progress.advance()
        writers.write_links(store, mapping.links)
        progress.advance()
        writers.write_relations(store, verified.relations, verified.evidence)
        progress.advance()
        writers.write_templates(store, templates)
        progress.advance()
        facts: dict[str, object] = {"content": store.content_hash(), "counts": store.counts()}
    part.replace(out / GRAPH)
    for leftover in work.glob(f"{GRAPH}*"):
        leftover.unlink()
    return facts
