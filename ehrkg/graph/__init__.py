"""The property graph: one schema, one protocol, the engines behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ehrkg.graph.store import GraphStore, open_store

__all__ = ["GraphStore", "open_store"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from ehrkg.graph import store

        return getattr(store, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
