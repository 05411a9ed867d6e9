"""What a proposer is. An LLM, a table of statistics or a person's list all fit it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress


@runtime_checkable
class Proposer(Protocol):
    """Turns visits into candidate relations; nothing it says is believed before it is verified.

    Attributes:
        name: stands in ``relations.proposers`` and on the graph's Proposer node.
    """

    name: str

    def propose(
        self,
        hospital: Hospital,
        *,
        tasks: Iterable[str] | None = None,
        ledger: Ledger | None = None,
        progress: Progress | None = None,
    ) -> pa.Table:
        """Candidate relations with the schema ``propose.schema.CANDIDATES``, sorted by id.

        Args:
            hospital: what was read.
            tasks: the tasks to propose for; all by default.
            ledger: gets one balanced entry, of pairs in and candidates out.
            progress: told of real steps.
        """

    def settings(self) -> dict[str, object]:
        """What the proposals depend on besides the hospital: for manifest and cache keys."""


@runtime_checkable
class _Recording(Protocol):
    def recording(self, folder: Path) -> Proposer: ...


def keeping_answers(proposer: Proposer, folder: Path) -> Proposer:
    """The proposer, keeping in a folder what would cost to ask again; itself if nothing would.

    >>> from ehrkg.propose import Cooccurrence
    >>> keeping_answers(Cooccurrence(), Path("answers"))
    Cooccurrence(...)
    """
    return proposer.recording(folder) if isinstance(proposer, _Recording) else proposer
