"""Processes that tests start end with them."""

from __future__ import annotations

import ctypes
import signal
from contextlib import suppress


def die_with_parent() -> None:
    """Let the kernel end a started process should the tests be killed (Linux)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
