"""The datasheet of a benchmark: what it is made of, what was selected, what it may claim."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ehrkg.benchmark.exports.contributions import contributions
from ehrkg.benchmark.exports.writing import rendered
from ehrkg.benchmark.opened.describe import Counts
from ehrkg.benchmark.opened.recipes import in_words
from ehrkg.foundation.ledger import Ledger

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

DATASHEET = "DATASHEET.md"
"""The file that holds it."""

AGREEMENT = "ehrkg.evaluation.readers.agreement"
"""The module that says how readers agree."""

LEDGER = "ledger.json"
STAGES = ("read", "map", "propose", "verify", "instantiate", "items")
"""The stages of the ledger that select what is asked."""

_REASONS = 3
"""Reasons that are named a row."""


@cache
def words() -> dict[str, Any]:
    """What datasheets say, as data: claims, terms by format."""
    path = Path(__file__).with_name("datasheet.yaml")
    said: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return said


def datasheet(bench: Benchmark) -> str:
    """A datasheet as Markdown, after Gebru et al., Datasheets for Datasets (2021).

    Args:
        bench: with the manifest and ledger of its build beside it, where it has such; what is not
            known is said to be so.

    >>> from ehrkg.benchmark import Benchmark, ITEMS, TEMPLATES
    >>> text = datasheet(Benchmark(ITEMS.empty_table(), TEMPLATES.empty_table()))
    >>> text.splitlines()[0], "Any use in the care of patients" in text
    ('# Datasheet', True)
    """
    described, manifest = bench.describe(), bench.manifest
    settings = manifest.get("settings", {})
    return rendered(
        "datasheet.md.j2",
        version=bench.version,
        fingerprint=bench.fingerprint,
        cluster=bench.cluster_column,
        counts=_shown(described.total),
        tasks=[_shown(row) for row in described.by_task],
        formats=", ".join(f"{name} {count:,}" for name, count in described.formats) or "none",
        splits=_by(bench, "split"),
        timings=_by(bench, "timing"),
        sexes=_by_template(bench, "sex"),
        ages=_by_template(bench, "age_band"),
        eras=_by_template(bench, "icd_version"),
        steps=[in_words(step) for step in bench.recipe.steps],
        origin=_origin(manifest),
        proposer=_proposer(settings),
        consent=f"Of models: {manifest['consent']}." if "consent" in manifest else "",
        funnel=_funnel(bench.folder),
        sources=contributions(bench),
        intended=words()["intended"],
        unintended=words()["unintended"],
        review=_review(bench.folder),
        terms=terms(manifest),
    )


def terms(manifest: dict[str, Any]) -> str:
    """The terms under which what was made of tables may be passed on; the strictest if unknown."""
    said: dict[str, str] = words()["terms"]
    named = str(manifest.get("format") or "")
    known = said.get(named, said["tables"])
    return known if named else f"{said['tables']} If they were made of MIMIC: {said['mimic4']}"


def _review(folder: Path | None) -> str:
    """What readers found of the build's questions, or that nobody read them."""
    # Asked for by name: what works out agreement is built on benchmarks, not they on it.
    summary = import_module(AGREEMENT).review_summary(folder) if folder is not None else None
    if summary is None:
        return str(words()["not_reviewed"])
    return "\n".join(f"- {line}" for line in [words()["reviewed"], *summary.sentences()])


def _shown(counts: Counts) -> dict[str, str]:
    return {
        "task": counts.task,
        "effective": f"{counts.effective:,.1f}",
        **{name: f"{getattr(counts, name):,}" for name in ("templates", "relations", "patients")},
        "questions": f"{counts.items:,}",
    }


def _by(bench: Benchmark, name: str) -> str:
    rows = bench.count(name).to_pylist()
    return ", ".join(f"{row[name] or 'not known'} {row['items']:,}" for row in rows) or "none"


def _by_template(bench: Benchmark, name: str) -> str:
    counted = bench.templates().group_by(name).aggregate([("id", "count")]).sort_by(name)
    total = sum(counted["id_count"].to_pylist())
    shares = [
        f"{row[name] or 'not known'} {row['id_count']:,} ({row['id_count'] / total:.1%})"
        for row in counted.to_pylist()
    ]
    return ", ".join(shares) or "none"


def _origin(manifest: dict[str, Any]) -> str:
    if not manifest:
        return "The manifest of the build does not lie beside these questions."
    tables = [name for name in manifest["inputs"] if name.startswith("tables/")]
    beside = [name for name in manifest["inputs"] if not name.startswith("tables/")]
    form = manifest.get("format")
    text = f"{len(tables)} hospital tables" + (f" of the format {form}" if form else "")
    more = f", and the user's own {', '.join(beside)}" if beside else ""
    return f"{text}{more}; their SHA-256 stand in manifest.json."


def _proposer(settings: dict[str, Any]) -> str:
    said = settings.get("proposer", {}).get("proposer")
    return f"Candidate relations were proposed by {said}, and verified afterwards." if said else ""


def _funnel(folder: Path | None) -> list[dict[str, str]]:
    if folder is None or not (folder / LEDGER).is_file():
        return []
    return [
        {
            "stage": entry.stage,
            "unit": entry.unit,
            "came": f"{entry.rows_in:,}",
            "went": f"{entry.rows_out:,}",
            "reasons": ", ".join(
                f"{reason} {count:,}"
                for reason, count in sorted(
                    entry.dropped.items(), key=lambda pair: (-pair[1], pair[0])
                )[:_REASONS]
            ),
        }
        for entry in Ledger.read(folder / LEDGER)
        if entry.stage in STAGES
    ]
