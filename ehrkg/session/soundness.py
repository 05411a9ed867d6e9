"""Is a benchmark sound? Every check, on the tables of a build or on its finished files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from ehrkg.benchmark import Benchmark, CheckReport, Cohort, Facts, check, hidden_edges
from ehrkg.benchmark.checking.checks import REQUIRED
from ehrkg.benchmark.checking.made_from import made_from
from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.report.gathering import CHECKS as KEPT
from ehrkg.foundation.embedding import model_name
from ehrkg.foundation.growing import MANIFEST
from ehrkg.foundation.replacing import Replacement
from ehrkg.foundation.storage import content_hash, file_hash, write_parquet
from ehrkg.foundation.workspace import hold, read_manifest, write_json
from ehrkg.graph import open_store
from ehrkg.graph.place import place_of
from ehrkg.mapping.schema import Mapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify import Embedder, SentenceTransformerEmbedder
from ehrkg.verify.schema import Verified


def check_tables(
    benchmark: Benchmark,
    hospital: Hospital,
    knowledge: Knowledge,
    mapping: Mapping,
    verified: Verified,
    embedder: Embedder,
    *,
    seed: int = 7,
) -> CheckReport:
    """Run all rules and adversaries, and estimate how many distractors hidden knowledge makes true.

    Args:
        benchmark: with relations, events and pool beside it.
        hospital: what it was made from, as are the next three.
        knowledge: a fifth of its edges is hidden for the estimate.
        mapping: links of codes.
        verified: relations and evidence.
        embedder: for the adversary that sees the options alone.
        seed: of the draws.
    """
    cohort = Cohort(hospital, knowledge, mapping)
    used = set(benchmark.column("strategy").unique().to_pylist()) - {""}
    true_distractors = hidden_edges(
        benchmark.templates(),
        hospital,
        knowledge,
        mapping,
        verified,
        forms=benchmark.column("format").unique().to_pylist(),
        strategies=sorted(used) or (REQUIRED,),
        seed=seed,
        cohort=cohort,
    )
    return check(
        benchmark,
        facts=Facts(cohort, knowledge, verified),
        encoder=embedder,
        true_distractors=true_distractors,
    )


def check_build(out: Path) -> CheckReport:
    """Check the finished files of a build; what they were made from is read out of its graph.

    Args:
        out: the build's folder. Its manifest says where the graph is, which model and which seed.

    Raises:
        InputError: the folder holds no finished build.
        ServiceError: its graph is on a server that is not there.
    """
    benchmark = Benchmark.open(out)
    manifest = read_manifest(out)
    settings = manifest["settings"]
    with open_store(place_of(out, manifest), read_only=True) as store:
        made = made_from(benchmark, store=store)
    model = settings["model"] if settings["model"] != model_name(None) else None
    return check_tables(
        benchmark,
        made.hospital,
        made.knowledge,
        made.mapping,
        made.verified,
        SentenceTransformerEmbedder(model),
        seed=settings["seed"],
    )


def keep_checks(out: Path, report: CheckReport) -> None:
    """Leave what a check of a finished build found with it, so that its report can show it.

    Args:
        out: the build's folder; ``checks.parquet`` is put there, and into the manifest.
        report: of its check.

    Raises:
        UsageError: the build is in use.
        InputError: the folder can't be written.
    """
    with hold(out):
        manifest, table, new = read_manifest(out), as_table(report), Replacement(out)
        write_parquet(table, new.path(KEPT))
        manifest["outputs"][KEPT] = {
            "rows": table.num_rows,
            "sha256": file_hash(new.path(KEPT)),
            "content": content_hash(table),
        }
        write_json(manifest, new.path(MANIFEST))
        new.commit()


CHECKS = pa.schema(
    [
        ("rule", pa.string()),
        ("task", pa.string()),
        ("n", pa.int64()),
        ("value", pa.float64()),
        ("bound", pa.float64()),
        ("status", pa.string()),
        ("text", pa.string()),
        ("items", pa.list_(pa.string())),
    ]
)
"""A check report as a table."""


def as_table(report: CheckReport) -> pa.Table:
    """The rows of a report with the schema CHECKS."""
    return pa.Table.from_pylist([row.as_json() for row in report], CHECKS)
