"""Hospital tables, read into patients, ordered visits and events with normalised codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ehrkg.ehr.schema import CODES, EVENTS, PATIENTS, VISIT_CODES, VISITS, Hospital
from ehrkg.foundation.lazy import lazy_names

if TYPE_CHECKING:
    from ehrkg.ehr.joining import join
    from ehrkg.ehr.overlap import alike, carevue_visits, refuse_overlap
    from ehrkg.ehr.reader import detect, read, table_files

__all__ = [
    "CODES",
    "EVENTS",
    "PATIENTS",
    "VISITS",
    "VISIT_CODES",
    "Hospital",
    "alike",
    "carevue_visits",
    "detect",
    "join",
    "read",
    "refuse_overlap",
    "table_files",
]

__getattr__ = lazy_names(
    __name__,
    {
        "alike": "overlap",
        "carevue_visits": "overlap",
        "detect": "reader",
        "join": "joining",
        "read": "reader",
        "refuse_overlap": "overlap",
        "table_files": "reader",
    },
)
