"""What a reader hands over: tables as the file has them, and an account of its rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from ehrkg.ontology.schema import Knowledge


@dataclass
class Parts:
    """Tables not yet folded, and what became of each row.

    Attributes:
        knowledge: the tables, duplicates and edges to absent nodes still in them.
        rows: (unit, rows in, rows dropped by reason) a file.
        quarantine: rows that could not be used, a table a reason.

    >>> from ehrkg import ontology
    >>> Parts(ontology.merge(), rows=[("edges", 3, {"no_subject": 1})]).quarantine
    {}
    """

    knowledge: Knowledge
    rows: list[tuple[str, int, dict[str, int]]] = field(default_factory=list)
    quarantine: dict[str, pa.Table] = field(default_factory=dict)
