"""What a build would read and need, without doing it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ehrkg import ehr
from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import InputError
from ehrkg.propose import LanguageModel, Proposer, Union

MIB = 2**20
MEASURED_ROWS = 23_315
"""Event rows of the MIMIC-IV demo, whose build was measured on two cores, with one other job."""


@dataclass(frozen=True)
class Cost:
    """What a build takes of something, as a straight line through two builds that were measured.

    Attributes:
        fixed: what a build takes however small its tables are (the ontologies, the embedding
            model): taken on 20 synthetic patients.
        measured: what the build of ``MEASURED_ROWS`` rows took.
    """

    fixed: float
    measured: float

    def at(self, rows: int) -> float:
        """What so many event rows take.

        >>> Cost(fixed=10, measured=30).at(2 * MEASURED_ROWS)
        50.0
        """
        return self.fixed + (self.measured - self.fixed) * (rows / MEASURED_ROWS)

    def rows_within(self, amount: float) -> int:
        """How many event rows fit into an amount; none where not even an empty build does.

        >>> Cost(fixed=10, measured=30).rows_within(50) == 2 * MEASURED_ROWS
        True
        >>> Cost(fixed=10, measured=30).rows_within(5)
        0
        """
        return max(0, int((amount - self.fixed) / (self.measured - self.fixed) * MEASURED_ROWS))


SECONDS = Cost(fixed=26, measured=81)
DISK = Cost(fixed=39 * MIB, measured=144 * MIB)
"""In bytes, as the memory."""
MEMORY = Cost(fixed=1864 * MIB, measured=2734 * MIB)


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
    rows = hospital.events.num_rows
    return [
        f"format: {hospital.format}",
        f"rows: {hospital.patients.num_rows:,} patients, {hospital.visits.num_rows:,} visits, "
        f"{rows:,} events, {hospital.codes.num_rows:,} distinct codes",
        f"time: about {SECONDS.at(rows):,.0f} s on two cores",
        f"disk: about {DISK.at(rows) / MIB:,.0f} MiB",
        f"memory: about {MEMORY.at(rows) / MIB:,.0f} MiB",
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
