"""Where a finished build's graph lies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

GRAPH = "graph.lbug"
"""The graph's file, where it lies in the folder of the build."""


def place_of(out: Path, manifest: Mapping[str, Any]) -> Path | str:
    """The graph of a build, for ``open_store``: the file in its folder, or a build on a server.

    Args:
        out: the build's folder.
        manifest: what stands in its manifest.json; without a word on a graph, it is the file.

    >>> place_of(Path("out"), {}).as_posix()
    'out/graph.lbug'
    >>> place_of(Path("out"), {"graph": {"address": "neo4j://host:7687", "build": "b1"}})
    'neo4j://host:7687#b1'
    """
    graph = manifest.get("graph", {})
    return f"{graph['address']}#{graph['build']}" if "address" in graph else out / GRAPH
