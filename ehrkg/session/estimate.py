"""What a build would read and need, without doing it."""

from __future__ import annotations

from pathlib import Path

from ehrkg import ehr
from ehrkg.foundation.errors import InputError

MIB = 2**20
MEASURED_ROWS = 23_315
"""Event rows of the MIMIC-IV demo; what its build took on two cores, with one other job running:"""
MEASURED_SECONDS = 81
MEASURED_DISK = 144 * MIB
MEASURED_MEMORY = 2734 * MIB

FIXED_SECONDS = 26
"""What a build costs however small its tables are (the ontologies, the embedding model): taken on
20 synthetic patients, on the same machine."""
FIXED_DISK = 39 * MIB
FIXED_MEMORY = 1864 * MIB


def estimate(source: Path, *, format: str | None = None) -> list[str]:  # noqa: A002
    """Lines that say rows, time, disk and memory of a build of these tables.

    Args:
        source: the folder of tables.
        format: their format; found from the tables by default.

    Raises:
        InputError: the tables can't be used.
    """
    if not source.exists():
        raise InputError("there is nothing here", file=source, todo="check the path that you gave")
    hospital = ehr.read(source, format=format)
    share = hospital.events.num_rows / MEASURED_ROWS
    seconds = FIXED_SECONDS + (MEASURED_SECONDS - FIXED_SECONDS) * share
    disk = FIXED_DISK + (MEASURED_DISK - FIXED_DISK) * share
    memory = FIXED_MEMORY + (MEASURED_MEMORY - FIXED_MEMORY) * share
    return [
        f"format: {hospital.format}",
        f"rows: {hospital.patients.num_rows:,} patients, {hospital.visits.num_rows:,} visits, "
        f"{hospital.events.num_rows:,} events, {hospital.codes.num_rows:,} distinct codes",
        f"time: about {seconds:,.0f} s on two cores",
        f"disk: about {disk / MIB:,.0f} MiB",
        f"memory: about {memory / MIB:,.0f} MiB",
        "nothing was written",
    ]
