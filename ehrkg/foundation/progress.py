"""Progress that a stage reports and somebody else shows."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """What a stage may call while it works: real totals, real steps, nothing estimated."""

    def start(self, description: str, total: int) -> None:
        """A step begins that consists of ``total`` units."""

    def advance(self, units: int = 1) -> None:
        """So many of them are done."""


class Silent:
    """Shows nothing: the default in a library call."""

    def start(self, description: str, total: int) -> None:
        """See ``Progress.start``."""

    def advance(self, units: int = 1) -> None:
        """See ``Progress.advance``."""
