"""What this machine lets a program have."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

LIMITS = ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says how much memory a container may take (control groups, version 2 and 1)."""


def memory(root: Path = Path("/")) -> int | None:
    """Bytes of memory that this process may use; None where the system does not say.

    Args:
        root: where the system's files lie.
    """
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" not in names or "SC_PAGE_SIZE" not in names:
        return None
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = (_limit(root / each) for each in LIMITS)
    return min([whole, *(limit for limit in limits if limit is not None)])


def _limit(file: Path) -> int | None:
    """What the file says, unless it says ``max`` or is not there."""
    try:
        said = file.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(said) if said.isdigit() else None


def disk(folder: Path) -> int:
    """Bytes free where a folder lies, or would lie.

    >>> disk(Path("/no/such/folder")) >= 0
    True
    """
    there = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    return shutil.disk_usage(there).free
