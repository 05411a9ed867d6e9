"""What may be passed on of credentialed data: how to make the same questions of one's own copy.

Recipe, hashes, and verdicts of pairs that stand in the records of enough patients: no rows of
visits, no stems, no ids of templates, and no count of fewer than ``LEAST`` patients.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.writing import rendered, write_text
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.storage import write_parquet
from ehrkg.foundation.workspace import write_json

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark
    from ehrkg.benchmark.opened.recipes import Recipe

LEAST = 11
"""Patients behind whatever is counted or named."""

BUILD, RECIPE, VERDICTS = "build.json", "recipe.json", "verdicts.parquet"

VERDICT_COLUMNS = (
    "id",
    "head",
    "route",
    "predicate",
    "tail",
    "verdict",
    "score",
    "reasons",
    "sources",
)
"""Columns of relations.parquet that hold no count of patients or visits."""

SHAREABLE = frozenset(
    {
        "accepted_codes",
        "age",
        "age_band",
        "answer",
        "answer_concept",
        "answer_route",
        "flags",
        "format",
        "gap_days",
        "head",
        "icd_version",
        "n_context",
        "n_options",
        "n_related",
        "option_codes",
        "options",
        "phrasing",
        "predicate",
        "relation",
        "relation_id",
        "score",
        "seed",
        "sex",
        "sole_indication",
        "split",
        "strategy",
        "tail",
        "task",
        "timing",
        "verdict",
        "visit_kind",
    }
)
"""Columns whose values name neither a patient nor a visit, so that a recipe may filter by them."""


def write(bench: Benchmark, folder: Path) -> None:
    """Write build.json, recipe.json and verdicts.parquet.

    Raises:
        UsageError: the benchmark is of no build, too few patients are in it, or the recipe names
            visits.
    """
    manifest = bench.manifest
    if "settings" not in manifest or bench.folder is None:
        raise UsageError(
            "only the benchmark of a build can be made again",
            todo="open its folder: Benchmark.open(DIR)",
        )
    patients = bench.describe().total.patients
    if patients < LEAST:
        raise UsageError(
            f"these questions are of fewer than {LEAST} patients: whoever has them would know whom",
            todo="share a larger cut",
        )
    if manifest["settings"]["pseudonymise"]:
        raise UsageError(
            "the build's patients go under names made with a secret key, which nobody else has",
            todo="build once more without --pseudonymise, and share that",
        )
    recipe = bench.recipe
    refuse_private(recipe)
    write_json(_build(manifest), folder / BUILD)
    recipe.write(folder / RECIPE)
    verdicts = shareable_verdicts(bench)
    write_parquet(verdicts, folder / VERDICTS)
    text = rendered(
        "formats/rehydrate_readme.md.j2",
        version=bench.version,
        fingerprint=bench.fingerprint,
        recipe=str(recipe),
        verdicts=f"{verdicts.num_rows:,}",
        least=LEAST,
    )
    write_text(text, folder / "README.md")


def refuse_private(recipe: Recipe) -> None:
    """Raise where the steps of a recipe name patients, visits or single questions.

    Raises:
        UsageError: they do.
    """
    for step in recipe.steps:
        private = {
            "filter": [name for name in step if name != "do" and not _shareable(name)],
            "subset": ["ids"] if "ids" in step else [],
            "join": ["rows"] if "rows" in step else [],
            "concat": ["others"],
        }.get(step["do"], [])
        if private:
            raise UsageError(
                f"the step {step['do']!r} names what can't be passed on: {', '.join(private)}",
                todo="cut by a query, by filters on what names nobody, by samples and splits",
            )


def _shareable(name: str) -> bool:
    return name in SHAREABLE or name.partition("_")[2] in SHAREABLE


def shareable_verdicts(bench: Benchmark) -> pa.Table:
    """The verdicts on pairs that at least ``LEAST`` patients have, without any count."""
    relations = bench.beside("relations")
    if relations is None:
        raise UsageError("no relations lie beside these questions", todo="open a build's folder")
    seen = pc.greater_equal(relations["n_patients"], LEAST)
    return relations.filter(pc.fill_null(seen, False)).select(list(VERDICT_COLUMNS))


def _build(manifest: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": manifest.get("format"),
        "settings": manifest["settings"] | {"graph": None},
        "inputs": manifest["inputs"],
        "program": manifest["program"],
        "versions": manifest["versions"],
        "content": {
            name: manifest["outputs"][name]["content"]
            for name in ("templates.parquet", "items.parquet")
        },
    }


EXPORT = Export(
    "rehydrate",
    "recipe and hashes, from which others make the same of the same tables",
    "ehrkg rehydrate FOLDER TABLES --out OUT",
    write,
    datasheet=False,
)
