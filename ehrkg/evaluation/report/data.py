"""What a report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ehrkg.ehr.schema import Hospital
from ehrkg.evaluation.readers.agreement import ReviewSummary
from ehrkg.foundation.ledger import Ledger
from ehrkg.verify.schema import Verified


@dataclass(frozen=True)
class ReportData:
    """What a report is made of: the tables of a build, in memory or read from its files.

    Attributes:
        manifest: the build's manifest.
        ledger: its ledger.
        hospital, verified, templates, items, scores: its tables.
        pool: its frozen pool, which knows how frequent an answer is; ``None`` where it is not here.
        checks: the rows of ``ehrkg check``, as plain values.
        pictures: template id to a drawing of its chain of evidence, as SVG: wide and narrow.
        review: what clinicians found; ``None`` where none has read.
    """

    manifest: Mapping[str, Any]
    ledger: Ledger
    hospital: Hospital
    verified: Verified
    templates: pa.Table
    items: pa.Table
    scores: pa.Table
    pool: pa.Table | None = None
    checks: Sequence[Mapping[str, Any]] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)
    review: ReviewSummary | None = None

    @property
    def seed(self) -> int:
        """The build's seed, which also names the draws of the report."""
        return int(self.manifest["settings"]["seed"])
