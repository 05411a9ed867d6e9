"""Opening the files of tables: plain, compressed, in an archive; and what can go wrong there."""

from __future__ import annotations

import gzip
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from ehrkg.ehr.sources.finding import Part
from ehrkg.foundation.damage import BROKEN, broken
from ehrkg.foundation.errors import InputError

State = tuple[int, int, int]
"""What changes when a file is written: its size, its time and what it is on the disk."""


@contextmanager
def binary(part: Part) -> Iterator[BinaryIO]:
    """A file's bytes, decompressed."""
    with _raw(part) as handle:
        if part.is_packed:
            with gzip.open(handle, "rb") as unpacked:
                yield cast("BinaryIO", unpacked)
        else:
            yield handle


@contextmanager
def _raw(part: Part) -> Iterator[BinaryIO]:
    if part.archive is None:
        with part.path.open("rb") as handle:
            yield handle
    else:
        with zipfile.ZipFile(part.archive) as archive, archive.open(part.member) as member:
            yield cast("BinaryIO", member)


def unpack(part: Part, folder: Path) -> Part:
    """The same table on disk: a member of an archive is written into a folder.

    Raises:
        InputError: the archive is damaged, or the disk is full.
    """
    if part.archive is None:
        return part
    path = folder / f"{len(list(folder.iterdir()))}-{Path(part.member).name}"
    with reading(part), _raw(part) as member, path.open("wb") as target:
        shutil.copyfileobj(member, target, 1 << 20)
    return replace(part, path=path, archive=None)


def state(part: Part) -> State:
    """What changes when the file is written.

    Raises:
        InputError: it is no longer there.
    """
    with reading(part):
        found = (part.archive or part.path).stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def check_unchanged(part: Part, before: State) -> None:
    """Raise where a file changed while it was read.

    Raises:
        InputError: it did.
    """
    if state(part) != before:
        raise InputError(
            "the file changed while it was read",
            file=part.place,
            todo="wait until whoever writes it is done, then start again",
        )


@contextmanager
def reading(part: Part) -> Iterator[None]:
    """Turn what a damaged file raises into an error with a way out."""
    try:
        yield
    except zipfile.BadZipFile as error:
        raise broken(part.archive or part.place, error) from error
    except BROKEN as error:
        raise broken(part.place, error) from error
    except RuntimeError as error:  # what zipfile raises for a password
        raise InputError(
            "the zip archive is locked",
            file=part.archive or part.place,
            found=str(error),
            todo="unpack it yourself, and give the folder",
        ) from error
