"""Synthetic hospital tables, drawn from a small causal process, with a file of what was planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ehrkg.ehr.synth.files import PLANTED, read_planted, write

__all__ = ["PLANTED", "read_planted", "write"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from ehrkg.ehr.synth import files

        return getattr(files, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
