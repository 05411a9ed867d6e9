"""Ladybug's files: one database a process and file, one writing process a file, clear refusals."""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ehrkg.foundation.errors import EhrkgError, InputError, ServiceError, UsageError

LARGEST_POOL = 8 << 30
"""Bytes that the buffer pool may take at most: loading 11 million edges needs five gigabytes."""

SHARE_OF_MEMORY = 0.6
"""The pool's share of the machine's memory where that is less; the rest is for the tables."""


_DAMAGED = ("checkpoint", "corrupt", "checksum", "past the end")
"""What the engine says of a file that was cut short."""


@dataclass
class OpenFile:
    """A database that this process holds open.

    Attributes:
        path: the file, resolved.
        database: the engine's handle.
        writable: whether it was opened for writing.
    """

    path: Path
    database: Any
    writable: bool
    _lock: FileLock | None
    _users: int = field(default=1)


_open: dict[tuple[int, Path], OpenFile] = {}
_guard = threading.Lock()


def acquire(path: Path, *, read_only: bool) -> OpenFile:
    """Open a file, or share the handle that this process already has.

    A second handle on the same file would drop the first one's lock when closed, so there is one
    for each process and file, counted. A forked child starts afresh.

    Raises:
        InputError: the file is not there (when reading), damaged, or no graph of this engine.
        ServiceError: another process holds it.
        UsageError: this process holds it for reading and now wants to write; or it can't be made.
    """
    path = path.expanduser().resolve()
    with _guard:
        held = _open.get((os.getpid(), path))
        if held is not None:
            if held.writable or read_only:
                held._users += 1
                return held
            raise UsageError(
                f"{path.name} is open for reading in this process",
                todo="close the reading store before opening it for writing",
            )
        opened = _reading(path) if read_only else _writing(path)
        _open[os.getpid(), path] = opened
        return opened


def release(opened: OpenFile) -> None:
    """Give a handle back; the last user closes the file."""
    with _guard:
        opened._users -= 1
        if opened._users:
            return
        _open.pop((os.getpid(), opened.path), None)
        opened.database.close()
        if opened._lock is not None:
            # Removed while held: who comes later makes a new one.
            Path(opened._lock.lock_file).unlink(missing_ok=True)
            opened._lock.release()


def _reading(path: Path) -> OpenFile:
    if not path.is_file():
        raise InputError("no graph there", file=path, todo="build one first, or mend the path")
    lock_path = path.with_name(f".{path.name}.lock")
    if lock_path.exists():  # the engine itself would let us read beneath a writer's hands
        holder = _holder(lock_path)
        try:
            FileLock(lock_path, timeout=0).acquire().lock.release()
        except Timeout as error:
            raise _held(path, holder) from error
        except OSError:
            pass  # a place that can't be written has no writer
    return OpenFile(path, _database(path, read_only=True), False, None)


def _writing(path: Path) -> OpenFile:
    if path.is_dir():
        raise InputError("a folder, not a graph file", file=path, todo="name a file in it")
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(
            "the graph is cut short: the file is empty",
            file=path,
            todo="build it again, or delete the file to begin a new graph there",
        )
    lock_path = path.with_name(f".{path.name}.lock")
    holder = _holder(lock_path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(lock_path, timeout=0)
        lock.acquire()
    except Timeout as error:
        raise _held(path, holder) from error
    except OSError as error:
        raise UsageError(
            f"{path} can't be written: {error.strerror}",
            todo="name a place that can be written, or open it with read_only=True",
        ) from error
    try:
        lock_path.write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")
        return OpenFile(path, _database(path, read_only=False), True, lock)
    except BaseException:
        lock_path.unlink(missing_ok=True)
        lock.release()
        raise


def _holder(lock_path: Path) -> str:
    try:
        return lock_path.read_text(encoding="utf-8").strip() or "another process"
    except OSError:
        return "another process"


def _held(path: Path, holder: str) -> ServiceError:
    return ServiceError(
        f"{path} is open in {holder}",
        todo="wait until it is done, or close it there; a file has one writer or many readers",
    )


def _pool() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(LARGEST_POOL, int(memory * SHARE_OF_MEMORY))


def _database(path: Path, *, read_only: bool) -> Any:
    import ladybug

    try:
        return ladybug.Database(str(path), read_only=read_only, buffer_pool_size=_pool())
    except RuntimeError as error:
        raise _refusal(path, str(error)) from error


def _refusal(path: Path, said: str) -> EhrkgError:
    """The engine's complaint in the words of somebody who wants to open a file."""
    lower = said.lower()
    if "could not set lock" in lower:
        return _held(path, _holder(path.with_name(f".{path.name}.lock")))
    if any(word in lower for word in _DAMAGED):
        return InputError(
            "the graph is cut short or damaged",
            file=path,
            found=said,
            todo="build it again, or copy it again from where it came",
        )
    if "version" in lower:
        return InputError(
            "written by another version of the engine",
            file=path,
            found=said,
            todo="install the version of ladybug that wrote it, or build it again",
        )
    return InputError(
        "this is no graph file that the engine can open",
        file=path,
        found=said,
        todo="name a file that ehrkg wrote, or a new name",
    )


def failure(path: Path, said: str) -> EhrkgError:
    """What the engine says when it can't do what we ask of an open file."""
    lower = said.lower()
    if "no space" in lower or "disk full" in lower or "cannot write" in lower:
        return InputError(
            "the disk is full or can't be written",
            file=path,
            found=said.strip(),
            todo="make room and do the same again; what was written before is whole",
        )
    if "buffer" in lower or "memory" in lower or "bad_alloc" in lower:
        return ServiceError(
            f"{path}: the engine has too little memory: {said.strip()}",
            todo="close other programs, or load less at once; what was written before is whole",
        )
    return InputError(
        "the engine can't use this graph file",
        file=path,
        found=said.strip(),
        todo="check the disk; where the file is damaged, build it again",
    )
