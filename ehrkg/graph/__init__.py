"""The property graph: one schema, one protocol, the engines behind it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ehrkg.graph.check import check_file
    from ehrkg.graph.copy import copy_graph
    from ehrkg.graph.export import export_for_neo4j_admin
    from ehrkg.graph.store import GraphStore, open_store

__all__ = ["GraphStore", "check_file", "copy_graph", "export_for_neo4j_admin", "open_store"]

_WHERE = {
    "GraphStore": "store",
    "check_file": "check",
    "copy_graph": "copy",
    "export_for_neo4j_admin": "export",
    "open_store": "store",
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"ehrkg.graph.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
