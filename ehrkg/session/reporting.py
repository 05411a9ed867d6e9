"""The report of a finished build, out of its files and its graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg.evaluation.readers.agreement import review_summary
from ehrkg.evaluation.report import ReportData, gather_report
from ehrkg.evaluation.schema import complete_scores
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.replacing import WORK
from ehrkg.foundation.workspace import LEDGER, load_result, read_final, read_manifest
from ehrkg.graph import GraphStore, open_store, readers
from ehrkg.session.storing import GRAPH

REPORT = "report.html"

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
    graph = manifest["graph"]
    target = f"{graph['address']}#{graph['build']}" if "address" in graph else out / GRAPH
    with open_store(target, read_only=True, auth=auth if "address" in graph else None) as store:
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
    return gather_report(
        store,
        manifest,
        Ledger.read(out / LEDGER),
        replace(hospital, format=manifest.get("format", hospital.format)),
        tables | {"scores": scores},
        checks=kept_checks(out),
        review=review_summary(out),
    )


def kept_checks(out: Path) -> list[dict[str, Any]]:
    """The rows of the check that the build made; none where its work is no longer there."""
    folder = out / WORK / "check"
    if not folder.is_dir():
        return []
    rows: list[dict[str, Any]] = load_result(folder).to_pylist()
    return rows
