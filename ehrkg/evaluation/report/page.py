"""Put the report together and write it.

A section is a function from ``ReportData`` to plain values and a template of the same name. It
gives ``None`` where it has nothing to say, and a text where it should say why it has not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ehrkg.evaluation.report import charts, shareable
from ehrkg.evaluation.report.data import ReportData
from ehrkg.evaluation.report.sections import (
    checks,
    claims,
    difficulty,
    failures,
    funnel,
    leaderboard,
    measures,
    overview,
    provenance,
    questions,
    review,
    robust,
    selection,
    tasks,
    verdicts,
)
from ehrkg.foundation.storage import write_atomically

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Section:
    """A part of the report.

    Attributes:
        anchor: its id, and its template's name.
        short: its name among the links at the top.
        title: over it.
        collect: what it shows; ``None`` for nothing, a text for why there is nothing.
        private: it stands only in a report that is not passed on.
        private_keys: keys of what it shows whose values are emptied in a report that is.
    """

    anchor: str
    short: str
    title: str
    collect: Callable[[ReportData], Mapping[str, Any] | str | None]
    private: bool = False
    private_keys: frozenset[str] = frozenset()


SECTIONS = (
    Section("overview", "Overview", "How much there is", overview.collect),
    Section(
        "claims", "Claims", "What these questions support, and what they do not", claims.collect
    ),
    Section("leaderboard", "Leaderboard", "Models and baselines", leaderboard.collect),
    Section("tasks", "Tasks", "Task by model", tasks.collect),
    Section("difficulty", "Difficulty", "What makes questions hard", difficulty.collect),
    Section("robustness", "Robustness", "The same questions put otherwise", robust.collect),
    Section("calibration", "Calibration", "Do models know what they know?", measures.calibration),
    Section("cost", "Cost", "Cost against accuracy", measures.cost),
    Section("checks", "Checks", "Is it sound?", checks.collect, private_keys=frozenset({"text"})),
    Section("review", "Review", "Review by clinicians", review.collect),
    Section(
        "questions",
        "Questions",
        "A sample of questions, with their evidence",
        questions.collect,
        private=True,
    ),
    Section(
        "funnel",
        "Funnel",
        "From rows to questions",
        funnel.collect,
        private_keys=frozenset({"example"}),
    ),
    Section("selection", "Who is left", "Who and what is left at each stage", selection.collect),
    Section(
        "verdicts",
        "Verdicts",
        "What was proposed, and what held",
        verdicts.collect,
        private_keys=frozenset({"found"}),
    ),
    Section(
        "failures",
        "Failures",
        "What failed, and why",
        failures.collect,
        private_keys=frozenset({"text"}),
    ),
    Section("provenance", "Provenance", "Settings, versions, hashes", provenance.collect),
    Section(
        "published",
        "Published elsewhere",
        "Appendix: published elsewhere, measured on other data",
        provenance.published,
    ),
)
"""In the order in which they stand."""


def write_report(data: ReportData, path: Path, *, shareable: bool = False) -> None:
    """Write the report as one HTML file that needs nothing else, neither files nor the network.

    Args:
        data: a build's tables.
        path: the file.
        shareable: leave out what may not be passed on; see ``report.shareable``.
    """
    html = render(data, shareable=shareable)
    write_atomically(path, lambda temporary: temporary.write_text(html, encoding="utf-8"))


def render(data: ReportData, *, shareable: bool = False) -> str:
    """The report as HTML; every name from the data is escaped."""
    environment = _environment()
    left_out: list[tuple[str, str]] = []
    shown = list(_sections(data, environment, left_out, to_pass_on=shareable))
    return environment.get_template("page.j2").render(
        style=_own("report.css"),
        script=_own("report.js"),
        version=data.manifest["versions"]["ehrkg"],
        source_format=data.hospital.format,
        seed=data.seed,
        shareable=shareable,
        sections=shown,
        left_out=left_out,
    )


def _sections(
    data: ReportData,
    environment: Environment,
    left_out: list[tuple[str, str]],
    *,
    to_pass_on: bool,
) -> Iterator[dict[str, Any]]:
    """Each section that has something to say, drawn; why others have not goes to ``left_out``."""
    for section in SECTIONS:
        if to_pass_on and section.private:
            left_out.append((section.title, "it may not be passed on"))
            continue
        found = section.collect(data)
        if found is None:
            continue
        if isinstance(found, str):
            left_out.append((section.title, found))
            continue
        if to_pass_on:
            found = shareable.held_back(found, section.private_keys)
        template = environment.get_template(f"{section.anchor}.j2")
        yield {
            "anchor": section.anchor,
            "short": section.short,
            "title": section.title,
            "html": Markup(template.render(found)),  # noqa: S704 - templates escape what they show
        }


def _own(name: str) -> Markup:
    """A file of ours that goes into the page as it is."""
    return Markup((HERE / name).read_text(encoding="utf-8"))  # noqa: S704


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": shareable.count_words,
        "share": shareable.share_of,
        "size": shareable.size_of,
        "percent": shareable.percent_words,
        "figure": charts.figure_words,
        "interval": charts.interval_words,
        "place": charts.place,
        "log_share": charts.log_share,
        "renamed": charts.renamed,
        "tagged": charts.tagged,
        "spread": charts.spread,
        "named": partial(charts.renamed, name="model", value="accuracy"),
    }
    environment.globals["charts"] = environment.get_template("charts.j2").module
    return environment
