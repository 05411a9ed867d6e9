"""Pictures of evidence for the questions that a report shows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from ehrkg.evaluation.report.sections import sampled_items
from ehrkg.graph import GraphStore, open_store
from ehrkg.graph.explain import explain_template
from ehrkg.session.storing import GRAPH, GraphTarget


def evidence_pictures(
    target: GraphTarget, out: Path, items: pa.Table, *, seed: int
) -> dict[str, str]:
    """The chain of evidence behind each sampled question, drawn.

    Args:
        target: where the build's graph went.
        out: the build's folder.
        items: its items.
        seed: names the draw of the sample.

    Returns:
        Template id to an HTML frame that needs nothing from outside.
    """
    with target.open() if target.address else open_store(out / GRAPH, read_only=True) as store:
        return pictures_of(store, items, seed=seed)


def pictures_of(store: GraphStore, items: pa.Table, *, seed: int) -> dict[str, str]:
    """``evidence_pictures`` out of a graph that is open."""
    templates = sorted(set(sampled_items(items, seed=seed)["template_id"].to_pylist()))
    return {template: explain_template(store, template).frame() for template in templates}
