"""Hospital tables, read into patients, ordered visits and events with normalised codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ehrkg.ehr.schema import CODES, EVENTS, PATIENTS, VISIT_CODES, VISITS, Hospital

if TYPE_CHECKING:
    from ehrkg.ehr.reader import detect, read, table_files

__all__ = [
    "CODES",
    "EVENTS",
    "PATIENTS",
    "VISITS",
    "VISIT_CODES",
    "Hospital",
    "detect",
    "read",
    "table_files",
]


def __getattr__(name: str) -> Any:
    if name in ("detect", "read", "table_files"):
        from ehrkg.ehr import reader

        return getattr(reader, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
