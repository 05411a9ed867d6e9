"""One ``ReportData``, whether a build's tables are in memory or lie in its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.readers.agreement import ReviewSummary
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.questions import sampled_items
from ehrkg.foundation.ledger import Ledger
from ehrkg.graph import GraphStore
from ehrkg.graph.explain import explain_template
from ehrkg.verify.schema import Verified


def gather_report(
    store: GraphStore,
    manifest: Mapping[str, Any],
    ledger: Ledger,
    hospital: Hospital,
    tables: Mapping[str, pa.Table],
    *,
    checks: Sequence[Mapping[str, Any]] = (),
    review: ReviewSummary | None = None,
) -> ReportData:
    """What a report is made of, with the pictures of the questions that it shows.

    Args:
        store: the build's graph, in which the evidence is looked up.
        manifest: the build's.
        ledger: the build's.
        hospital: its patients, visits, events and codes.
        tables: its final tables by name: relations, evidence, templates, items, pool, scores.
        checks: the rows of ``ehrkg check``.
        review: what clinicians found.
    """
    seed = int(manifest["settings"]["seed"])
    sample = sampled_items(tables["items"], tables["scores"], seed=seed)
    shown = sorted(set(sample["template_id"].to_pylist()))
    return ReportData(
        manifest,
        ledger,
        hospital,
        Verified(tables["relations"], tables["evidence"]),
        tables["templates"],
        tables["items"],
        tables["scores"],
        pool=tables.get("pool"),
        checks=checks,
        pictures={name: explain_template(store, name).svg(f"{name}-") for name in shown},
        review=review,
    )
