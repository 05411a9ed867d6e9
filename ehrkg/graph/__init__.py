"""The property graph: one schema, one protocol, the engines behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from ehrkg.graph.check import check_file
    from ehrkg.graph.copy import copy_graph
    from ehrkg.graph.export import export_for_neo4j_admin
    from ehrkg.graph.store import GraphStore, open_store

__all__ = ["GraphStore", "check_file", "copy_graph", "export_for_neo4j_admin", "open_store"]

_HOMES = {
    "GraphStore": "store",
    "check_file": "check",
    "copy_graph": "copy",
    "export_for_neo4j_admin": "export",
    "open_store": "store",
}

__getattr__ = lazy_names(__name__, _HOMES)
