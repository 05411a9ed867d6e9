"""One ``ReportData``, whether a build's tables are in memory or lie in its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.readers.agreement import ReviewSummary, review_summary
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections.questions import sampled_items
from ehrkg.evaluation.schema import complete_scores
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.replacing import WORK
from ehrkg.foundation.storage import read_parquet
from ehrkg.foundation.workspace import LEDGER, load_result, read_final, read_manifest
from ehrkg.graph import GraphStore, open_store, readers
from ehrkg.graph.explain import explain_template
from ehrkg.graph.place import place_of
from ehrkg.verify.schema import Verified

REPORT = "report.html"

CHECKS = "checks.parquet"
"""What ``ehrkg check`` found; see ``session.soundness.CHECKS``."""

TABLES = ("relations", "evidence", "templates", "items", "pool", "scores")
"""The final tables that a report is made of, beside events."""


def report_of_build(out: Path, *, auth: tuple[str, str] | None = None) -> ReportData:
    """Read what a report is made of out of a finished build.

    Args:
        out: the build's folder.
        auth: user and password of the server that holds its graph; from the environment for
            ``None``.

    Raises:
        InputError: the folder holds no finished build.
        ServiceError: its graph is on a server that is not there.
    """
    manifest = read_manifest(out)
    place = place_of(out, manifest)
    with open_store(place, read_only=True, auth=auth if isinstance(place, str) else None) as store:
        return report_from(
            store, out, manifest, {name: read_final(out, name) for name in (*TABLES, "events")}
        )


def report_from(
    store: GraphStore, out: Path, manifest: dict[str, Any], tables: dict[str, pa.Table]
) -> ReportData:
    """What a report is made of, from a build's tables and its open graph.

    Args:
        store: the graph.
        out: the folder, for the ledger and what ``ehrkg check`` found.
        manifest: the build's.
        tables: its final tables by name, events among them.
    """
    hospital = replace(readers.read_hospital(store), events=tables["events"])
    scores = complete_scores(tables["scores"])
    checks = kept_checks(out, manifest)
    return gather_report(
        store,
        manifest,
        Ledger.read(out / LEDGER),
        replace(hospital, format=manifest.get("format", hospital.format)),
        tables | {"scores": scores},
        checks=[] if checks is None else checks.to_pylist(),
        review=review_summary(out),
    )


def kept_checks(out: Path, manifest: Mapping[str, Any]) -> pa.Table | None:
    """The rows of the last check of a build; ``None`` where no result of one lies with it.

    ``ehrkg check`` leaves its result as a final file; before that, what the build checked itself
    lies with its work.

    Args:
        out: the build's folder.
        manifest: the build's.
    """
    if CHECKS in manifest["outputs"] and (out / CHECKS).is_file():
        return read_parquet(out / CHECKS)
    folder = out / WORK / "check"
    return load_result(folder) if folder.is_dir() else None


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
