"""Put the report together and write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.planted import PlantedShare
from ehrkg.evaluation.published import LABEL, publications
from ehrkg.evaluation.report import charts, sections
from ehrkg.evaluation.summary import accuracy_by, open_ended_by
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import write_atomically
from ehrkg.verify.schema import Verified


@dataclass(frozen=True)
class ReportData:
    """What a report is made of.

    Attributes:
        manifest: the build's manifest.
        ledger: its ledger.
        hospital, verified, templates, items, scores: its tables.
        checks: the rows of ``ehrkg check``, as plain values.
        planted: shares of what was planted, on synthetic tables.
        pictures: template id to the frame that draws its chain of evidence.
    """

    manifest: Mapping[str, Any]
    ledger: Ledger
    hospital: Hospital
    verified: Verified
    templates: pa.Table
    items: pa.Table
    scores: pa.Table
    checks: Sequence[Mapping[str, Any]] = ()
    planted: Sequence[PlantedShare] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)


def write_report(data: ReportData, path: Path) -> None:
    """Write the report as one HTML file that needs nothing else, neither files nor the network."""
    html = render(data)
    write_atomically(path, lambda temporary: temporary.write_text(html, encoding="utf-8"))


def render(data: ReportData) -> str:
    """The report as HTML; every name from the data is escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    seed = int(data.manifest["settings"]["seed"])
    accuracy = accuracy_by(data.scores, seed=seed)
    steps = sections.funnel_steps(data.ledger, data.verified.relations, data.templates, data.items)
    verdicts = sections.verdict_counts(data.verified.relations)
    options = sorted(set(accuracy["n_options"].to_pylist()))
    codes = (data.hospital.codes[column].to_pylist() for column in ("id", "name"))
    names = dict(zip(*codes, strict=True))
    return environment.get_template("report.html.j2").render(
        plotly=charts.plotly_script(),
        manifest=data.manifest,
        source_format=data.hospital.format,
        hospital={
            "patients": data.hospital.patients.num_rows,
            "visits": data.hospital.visits.num_rows,
            "events": data.hospital.events.num_rows,
            "codes": data.hospital.codes.num_rows,
        },
        headline=sections.headline(data.templates, data.items),
        by_task=sections.by_task(data.templates, data.items),
        funnel=steps,
        funnel_chart=charts.funnel(steps),
        ledger=sections.ledger_rows(data.ledger),
        verdicts=verdicts,
        verdict_names=list(charts.VERDICT_COLOURS),
        verdict_chart=charts.verdicts(verdicts),
        proposers=sections.proposers(data.verified.relations, names),
        selection=sections.selection(data.hospital.visits, data.hospital.patients, data.templates),
        accuracy=sections.with_controls(accuracy),
        accuracy_chart=charts.accuracies(accuracy, options[0]) if options else "",
        open_ended=open_ended_by(data.scores, seed=seed).to_pylist(),
        checks=data.checks,
        pictures=data.pictures,
        planted=data.planted,
        published=publications(),
        published_label=LABEL,
        questions=sections.sample_questions(
            data.items,
            data.verified.relations,
            data.verified.evidence,
            names,
            seed=seed,
        ),
    )
