"""What a build would read and need, without doing it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ehrkg import ehr
from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.errors import InputError
from ehrkg.propose import LanguageModel, Proposer, Union

MIB = 2**20
MEASURED_ROWS = 23_315
"""Event rows of the MIMIC-IV demo, the smaller of the two builds that were measured."""
LARGE_ROWS = 922_468
"""Event rows of the larger: 20,000 patients of ``ehrkg synth --shape demo``."""


@dataclass(frozen=True)
class Cost:
    """What a build takes of something, as a straight line through two builds that were measured.

    Real tables hold more distinct codes than made-up ones of as many rows, and codes cost more than
    rows do: so the smaller build is of real tables, and nothing is said to take much less.

    Attributes:
        small: what the build of ``MEASURED_ROWS`` rows took.
        large: what the build of ``LARGE_ROWS`` rows took.
    """

    small: float
    large: float

    @property
    def _of_a_row(self) -> float:
        return (self.large - self.small) / (LARGE_ROWS - MEASURED_ROWS)

    def at(self, rows: int) -> float:
        """What so many event rows take.

        >>> Cost(small=10, large=30).at(MEASURED_ROWS), Cost(small=10, large=30).at(LARGE_ROWS)
        (10.0, 30.0)
        """
        return self.small + self._of_a_row * (rows - MEASURED_ROWS)

    def rows_within(self, amount: float) -> int:
        """How many event rows fit into an amount; none where not even an empty build does.

        >>> Cost(small=10, large=30).rows_within(30) == LARGE_ROWS
        True
        >>> Cost(small=10, large=30).rows_within(5)
        0
        """
        return max(0, math.floor((amount - self.small) / self._of_a_row) + MEASURED_ROWS)


SECONDS = Cost(small=108, large=306)
"""Seconds of processor (user and system) of ``ehrkg build``, whole process, by the defaults. They
were taken while other jobs shared the two cores, which lengthens them by about a third."""
DISK = Cost(small=189 * MIB, large=584 * MIB)
"""Bytes of the build's folder, ``.work`` with it."""
MEMORY = Cost(small=2451 * MIB, large=4802 * MIB)
"""Bytes that the process held at most (``ru_maxrss``)."""


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
