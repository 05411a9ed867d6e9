"""Small hospitals, written as what stands at each visit."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa

from ehrkg.ehr.schema import CODES, EVENTS, PATIENTS, VISIT_CODES, VISITS, Hospital

KINDS = {"D": "diagnosis", "R": "drug", "P": "procedure"}


def hospital(patients: list[list[set[str]]]) -> Hospital:
    """A hospital of patients, each a list of visits, each a set of codes like D1, R2@oral."""
    visits, rows = [], []
    start = datetime(2100, 1, 1)
    for p, stays in enumerate(patients):
        for ordinal, codes in enumerate(stays, 1):
            visit = f"v{p}-{ordinal}"
            admitted = start + timedelta(days=30 * ordinal)
            visits.append(
                {
                    "id": visit,
                    "patient": f"p{p}",
                    "ordinal": ordinal,
                    "admitted": admitted,
                    "discharged": admitted + timedelta(days=2),
                    "kind": "",
                    "age": 60,
                    "died": False,
                    "gap_days": 28 if ordinal > 1 else None,
                }
            )
            for text in sorted(codes):
                code, _, route = text.partition("@")
                rows.append(
                    {
                        "visit": visit,
                        "code": code,
                        "kind": KINDS[code[0]],
                        "route": route,
                        "seq": None,
                        "start": None,
                        "stop": None,
                        "drug_type": "",
                        "n": 1,
                        "raw_code": code,
                        "source": "t",
                        "row": 1,
                    }
                )
    return Hospital(
        "test",
        PATIENTS.empty_table(),
        pa.Table.from_pylist(visits, VISITS),
        EVENTS.empty_table(),
        CODES.empty_table(),
        pa.Table.from_pylist(rows, VISIT_CODES),
    )
