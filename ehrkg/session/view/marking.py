"""Writing marks: a line at a time, on the disk before the reader goes on."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock

from ehrkg.benchmark.opened.reviews import MARKS, Mark, folder_of
from ehrkg.foundation.errors import InputError


def now() -> str:
    """The time, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def append(out: Path, mark: Mark) -> None:
    """Add a mark; when this returns, it is on the disk.

    What is there is never changed: after a line that a kill cut off, a new line begins. Readers on
    one machine may write to one build at once.

    Args:
        out: the build's folder.
        mark: what was said.

    Raises:
        InputError: it can't be written.
    """
    path = folder_of(out) / MARKS
    line = mark.as_line().encode() + b"\n"
    try:
        path.parent.mkdir(exist_ok=True)
        with FileLock(str(path.with_suffix(".lock"))), path.open("ab+") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        _keep_name(path.parent)
    except OSError as error:
        raise InputError(
            f"the mark was not recorded: {error.strerror or error}",
            file=path,
            todo="make room, or let yourself write there, and send it again",
        ) from error


def _keep_name(folder: Path) -> None:
    """See that a file that is new is found after a power cut; Windows has no such call."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
