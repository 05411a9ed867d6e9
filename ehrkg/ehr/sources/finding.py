"""Finding the files of tables: by name in any case, one file or many, CSV, gzip or Parquet."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ehrkg.foundation.damage import broken
from ehrkg.foundation.errors import InputError

SUFFIXES = (".csv", ".csv.gz", ".parquet")
_SHARD = re.compile(r"[-_.](?:part[-_]?)?\d{3,}(?:[-_]of[-_]\d+)?$")
"""What ends the name of one of many files: orders-00001, orders_000000000012, orders.part-003."""


@dataclass(frozen=True)
class Part:
    """A file that holds a table or a part of one.

    Attributes:
        path: where it lies.
        source: its path relative to the folder read, with forward slashes.
        archive: the zip archive in which it lies, if in one.
        member: its name there.
        origin: the file that a user knows it by, where ``path`` is a copy.
    """

    path: Path
    source: str
    archive: Path | None = None
    member: str = ""
    origin: Path | None = None

    @property
    def place(self) -> Path:
        """What a message calls it."""
        return self.origin or self.path

    @property
    def is_parquet(self) -> bool:
        """Whether it is Parquet, by its name."""
        return self.path.name.lower().endswith(".parquet")

    @property
    def is_packed(self) -> bool:
        """Whether it is compressed with gzip, by its name."""
        return self.path.name.lower().endswith(".gz")


def find_tables(folder: Path, folders: Sequence[str]) -> dict[str, tuple[Part, ...]]:
    """Every table's files in these folders below ``folder``, by table name in lower case.

    A table is one file (``drugs.csv``), numbered files (``drugs-00001.csv``, ...), a folder of
    files (``drugs/...``), or a member of a zip archive; a table beside an archive goes before the
    archive's. Links to folders are not followed.

    Args:
        folder: the folder, or a zip archive.
        folders: where the tables may lie below it; in an archive any place will do.

    Raises:
        InputError: the folder is not there or no folder, a table lies there twice, a link leads
            nowhere, or an archive is damaged.
    """
    if folder.is_file() and folder.suffix.lower() == ".zip":
        return _in_archive(folder, folder.name)
    if not folder.is_dir():
        there = folder.exists()
        raise InputError(
            "this is a file, not a folder" if there else "there is no such folder",
            file=folder,
            todo="give the folder that holds " + ("it" if there else "the tables"),
        )
    single: dict[str, Part] = {}
    shards: dict[str, list[Part]] = {}
    archives: dict[str, tuple[Part, ...]] = {}
    for below in folders:
        if not (folder / below).is_dir():
            continue
        for path in sorted((folder / below).iterdir()):
            if path.name.startswith("."):
                continue
            if path.suffix.lower() == ".zip" and path.is_file():
                for table, parts in _in_archive(path, _relative(folder, path)).items():
                    archives.setdefault(table, parts)
            elif path.is_dir() and not path.is_symlink():
                files = [_part(folder, each) for each in _files_below(path)]
                if files:
                    shards.setdefault(path.name.lower(), []).extend(files)
            elif (name := _table_name(path)) is not None:
                part = _part(folder, path)
                if name in single:
                    raise _twice(path, name, single[name], part)
                single[name] = part
    return archives | _joined(single, shards)


def _in_archive(archive: Path, name: str) -> dict[str, tuple[Part, ...]]:
    """The tables in a zip archive, wherever in it they lie."""
    try:
        with zipfile.ZipFile(archive) as opened:
            members = sorted(each.filename for each in opened.infolist() if not each.is_dir())
    except (zipfile.BadZipFile, OSError) as error:
        raise broken(archive, error) from error
    single: dict[str, Part] = {}
    for member in members:
        inside = PurePosixPath(member)
        table = _without_suffix(inside.name)
        if table is None or inside.name.startswith("."):
            continue
        place = archive / member
        part = Part(place, f"{name}/{member}", archive, member, place)
        if table in single:
            raise _twice(archive, table, single[table], part)
        single[table] = part
    return _joined(single, {})


def _joined(
    single: Mapping[str, Part], shards: dict[str, list[Part]]
) -> dict[str, tuple[Part, ...]]:
    """A part a table, or many; a numbered file counts as a part where no whole file is there."""
    for name, part in single.items():
        base = _SHARD.sub("", name)
        if base != name and base not in single:
            shards.setdefault(base, []).append(part)
    found: dict[str, tuple[Part, ...]] = {name: (part,) for name, part in single.items()}
    for name, parts in shards.items():
        found.setdefault(name, tuple(sorted(parts, key=lambda part: part.source)))
    return found


def _files_below(folder: Path) -> Iterator[Path]:
    for where, _, names in os.walk(folder, followlinks=False):
        for name in sorted(names):
            path = Path(where, name)
            if not name.startswith(".") and _table_name(path) is not None:
                yield path


def _table_name(path: Path) -> str | None:
    name = _without_suffix(path.name)
    if name is None or path.is_file():
        return name
    if path.is_symlink():
        raise InputError(
            "this link leads nowhere, or round in a circle",
            file=path,
            found=str(path.readlink()),
            todo="put the file itself there, or remove the link",
        )
    return None


def _without_suffix(name: str) -> str | None:
    lower = name.lower()
    suffix = next((each for each in reversed(SUFFIXES) if lower.endswith(each)), None)
    return lower.removesuffix(suffix) if suffix is not None else None


def _part(folder: Path, path: Path) -> Part:
    return Part(path, _relative(folder, path))


def _relative(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _twice(path: Path, table: str, one: Part, other: Part) -> InputError:
    return InputError(
        f"two files hold the table {table!r}",
        file=path,
        found=f"{one.source} and {other.source}",
        todo="leave one of them in the folder",
    )
