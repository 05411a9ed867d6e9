"""What a build would read and need, without doing it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ehrkg import ehr
from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import InputError
from ehrkg.propose import LanguageModel, Proposer, Union

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


def estimate(
    source: Path,
    *,
    format: str | None = None,  # noqa: A002
    proposer: Proposer | None = None,
    tasks: Iterable[str] | None = None,
) -> list[str]:
    """Lines that say rows, time, disk and memory of a build of these tables.

    Args:
        source: the folder of tables.
        format: their format; found from the tables by default.
        proposer: what would propose; what its models would be asked is said too.
        tasks: the tasks to propose for; all by default.

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
        *asked_of_models(proposer, hospital, tasks),
        "nothing was written",
    ]


def asked_of_models(
    proposer: Proposer | None, hospital: Hospital, tasks: Iterable[str] | None
) -> list[str]:
    """A line for each language model: calls, tokens and cost, before anything is asked.

    The time of a build says nothing of theirs: it depends on the model and on where it runs.
    """
    wanted = None if tasks is None else tuple(tasks)
    every = proposer.proposers if isinstance(proposer, Union) else (proposer,)
    return [
        f"asked of {one.name}: {one.estimate(hospital, tasks=wanted)}"
        for one in every
        if isinstance(one, LanguageModel)
    ]
