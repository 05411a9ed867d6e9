"""What makes two benchmarks the same, and where the whole of one says so."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg.foundation.growing import MANIFEST
from ehrkg.foundation.hashing import hash64
from ehrkg.foundation.storage import file_hash
from ehrkg.graph.rows import content_hash

FILES = ("items.parquet", "templates.parquet")
"""The files whose content is the benchmark's."""


def fingerprint_of(items: pa.Table, templates: pa.Table) -> str:
    """The content hash of items and templates together, 32 hexadecimal digits.

    Neither the order of rows nor the way a file was written counts; see ``content_hash``.
    """
    return _together(content_hash(items), content_hash(templates))


def fingerprint_said(folder: Path | None) -> str | None:
    """The fingerprint that a build's manifest gives its files, where they are still those files.

    Reading two files' bytes is much faster than working their content out anew.

    Args:
        folder: of the build; ``None`` for tables in memory.
    """
    outputs = manifest_of(folder).get("outputs", {})
    if folder is None or any(name not in outputs for name in FILES):
        return None
    if any(file_hash(folder / name) != outputs[name]["sha256"] for name in FILES):
        return None
    return _together(*(str(outputs[name]["content"]) for name in FILES))


def manifest_of(folder: Path | None) -> dict[str, Any]:
    """The manifest in a folder; an empty one where there is none."""
    if folder is None or not (folder / MANIFEST).is_file():
        return {}
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return manifest


def maker(manifest: dict[str, Any]) -> str:
    """The version of ehrkg that made a benchmark: as its manifest says, else the one that runs.

    >>> maker({"versions": {"ehrkg": "0.0.9"}})
    '0.0.9'
    """
    said = manifest.get("versions", {}).get("ehrkg")
    if said:
        return str(said)
    try:
        return version("ehrkg")
    except PackageNotFoundError:
        return "unknown"


def _together(items: str, templates: str) -> str:
    both = items + templates
    return f"{hash64(both):016x}{hash64(both, 'second half'):016x}"
