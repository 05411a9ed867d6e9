"""The files that a table may lie in: plain, gzip, or a member of a zip or tar archive."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import IO

from ehrkg.foundation.errors import InputError

HEAD_LINES = 60
_LONGEST = 1 << 20
"""Bytes of a line that are read when a format is told."""


@dataclass(frozen=True)
class Member:
    """A file, or a file in an archive. Nothing is ever unpacked to disk.

    Attributes:
        path: the file, or the archive.
        inside: the name in the archive, "" for a plain file.
    """

    path: Path
    inside: str = ""

    @property
    def name(self) -> str:
        """The file's own name, without folders."""
        return PurePosixPath(self.inside).name if self.inside else self.path.name

    @property
    def label(self) -> str:
        """How errors name it."""
        return f"{self.path}!{self.inside}" if self.inside else str(self.path)

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Its bytes, unpacked where they are gzip (judged by content)."""
        with self._raw() as raw:
            buffered = io.BufferedReader(raw)  # type: ignore[type-var]
            if buffered.peek(2)[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=buffered) as unpacked:
                    yield unpacked  # type: ignore[misc]
            else:
                yield buffered

    @contextmanager
    def _raw(self) -> Iterator[IO[bytes]]:
        if not self.inside:
            with self.path.open("rb", buffering=0) as handle:
                yield handle  # type: ignore[misc]
        elif zipfile.is_zipfile(self.path):
            with zipfile.ZipFile(self.path) as archive, archive.open(self.inside) as handle:
                yield handle
        else:
            with tarfile.open(self.path) as archive:
                member = archive.extractfile(self.inside)
                if member is None:
                    raise InputError("no plain file in the archive", file=self.label)
                yield member

    def head(self, encoding: str = "utf-8") -> list[str]:
        """The first lines, without line ends; [] where it can't be read."""
        try:
            with self.opened() as handle:
                lines = [handle.readline(_LONGEST) for _ in range(HEAD_LINES)]
        except (OSError, EOFError):
            return []
        lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        return [line.decode(encoding, "replace").rstrip("\r\n") for line in lines if line]


def members(path: Path) -> list[Member]:
    """The files at a path, sorted by name: those of a folder, those in an archive, or itself.

    Raises:
        InputError: an archive is broken, or a name in it climbs out of it.
    """
    if path.is_dir():
        return [Member(file) for file in sorted(path.iterdir()) if file.is_file()]
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    elif _is_tar(path):
        names = _tar_names(path)
    else:
        return [Member(path)]
    for name in names:
        _check_name(path, name)
    return [Member(path, name) for name in sorted(names)]


def _is_tar(path: Path) -> bool:
    """By content, and only where the name does not say that it is something else."""
    return ".tar" in path.name or path.suffix == ".tgz"


def _tar_names(path: Path) -> list[str]:
    try:
        with tarfile.open(path) as archive:
            return [info.name for info in archive if info.isfile()]
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InputError(
            "the archive is broken or ends too early",
            file=path,
            found=str(error),
            todo="fetch or copy the file again",
        ) from error


def _check_name(path: Path, name: str) -> None:
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts:
        raise InputError(
            "a name in the archive climbs out of it",
            file=path,
            found=name,
            expected="names below the archive's own folder",
            todo="do not trust this file; fetch it from its owner",
        )


def fits(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a file's name fits one of the patterns; letter case does not matter.

    >>> fits("hetionet-v1.0-nodes.tsv.gz", ("*nodes.tsv*",))
    True
    """
    return any(fnmatch(name.lower(), pattern.lower()) for pattern in patterns)
