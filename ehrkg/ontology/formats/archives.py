"""The files of a folder, a zip or tar archive or a single path, and their bytes as a stream."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from ehrkg.foundation.damage import BROKEN, broken
from ehrkg.foundation.errors import InputError


@dataclass(frozen=True)
class Entry:
    """A file, or a member of a zip or tar archive.

    Attributes:
        path: the file, or the archive.
        member: the member's name in the archive; "" for a plain file.
    """

    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """The last part of its name, without ``.gz``."""
        name = PurePosixPath(self.member).name if self.member else self.path.name
        return name[:-3] if name.lower().endswith(".gz") else name

    @property
    def where(self) -> str:
        """How an error names it."""
        return f"{self.path}!{self.member}" if self.member else str(self.path)

    def is_gzip(self) -> bool:
        """Whether its content is gzip, whatever its name says."""
        with self._raw() as handle:
            return handle.read(2) == b"\x1f\x8b"

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Its bytes, unpacked."""
        packed = self.is_gzip()
        with self._raw() as raw:
            if packed:
                with gzip.open(raw, "rb") as handle:
                    yield cast("IO[bytes]", handle)
            else:
                yield raw

    @contextmanager
    def _raw(self) -> Iterator[IO[bytes]]:
        if not self.member:
            with self.path.open("rb") as handle:
                yield handle
            return
        if is_tar(self.path):
            with tarfile.open(self.path) as archive:
                found = archive.extractfile(self.member)
                if found is None:
                    raise InputError("no plain file in the archive", file=self.where)
                yield found
            return
        with zipfile.ZipFile(self.path) as zipped, zipped.open(self.member) as handle:
            yield handle


def is_zip(path: Path) -> bool:
    """Whether a path is a zip archive, by its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as handle:
        return handle.read(4) == b"PK\x03\x04"


def is_tar(path: Path) -> bool:
    """Whether a path is a tar archive, packed or not; judged by its name, then by its content."""
    named = path.name.lower().endswith((".tar", ".tgz")) or ".tar." in path.name.lower()
    return named and path.is_file()


def entries(path: Path, *folders: str) -> list[Entry]:
    """The files in a folder (or in these folders below it), in an archive, or the path itself.

    Nothing is unpacked to disk. Resource forks that some systems add to archives are passed over.

    Args:
        path: a folder, an archive, or a file.
        folders: names of folders below it that are looked into too, in any case.

    Raises:
        InputError: the archive is damaged, or holds a path that climbs out of it.
    """
    if path.is_dir():
        below = [one for one in sorted(path.iterdir()) if one.is_dir()]
        inside = [one for one in below if one.name.lower() in {name.lower() for name in folders}]
        return [
            Entry(file)
            for folder in (path, *inside)
            for file in sorted(folder.iterdir())
            if file.is_file()
        ]
    if not (is_zip(path) or is_tar(path)):
        return [Entry(path)]
    try:
        names = _names(path)
    except BROKEN as error:
        raise broken(path, error) from error
    for name in names:
        check_name(path, name)
    return [Entry(path, name) for name in sorted(names) if not name.startswith("__MACOSX/")]


def _names(path: Path) -> list[str]:
    """The plain files in an archive; links and devices of a tar are none."""
    if is_tar(path):
        with tarfile.open(path) as archive:
            return [info.name for info in archive if info.isfile()]
    with zipfile.ZipFile(path) as zipped:
        return [info.filename for info in zipped.infolist() if not info.is_dir()]


def check_name(path: Path, name: str) -> None:
    """Refuse a name that would lead out of the archive's own folder.

    Raises:
        InputError: it does.
    """
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or ":" in parts.parts[0]:
        raise InputError(
            "the archive holds a path that climbs out of it",
            file=path,
            found=name,
            expected="paths below the archive's own folder",
            todo="do not use this archive; fetch it from its owner",
        )
