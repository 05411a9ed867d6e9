"""Processes that tests start end with them."""

from __future__ import annotations

import shutil

SETPRIV = shutil.which("setpriv")


def ending_with_tests(*command: str) -> list[str]:
    """The command, so put that the kernel ends it should the tests be killed (Linux).

    A program of its own sets that, not a function called between fork and exec: what threads of the
    tests held at the fork is held for ever there, and a load of a library would wait for it.
    """
    return [*((SETPRIV, "--pdeathsig", "KILL") if SETPRIV else ()), *command]
