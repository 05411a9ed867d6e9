"""Finding the files of tables: by name in any case, one file or many, CSV, gzip or Parquet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
    """

    path: Path
    source: str

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

    A table is one file (``drugs.csv``), numbered files (``drugs-00001.csv``, ...) or a folder of
    files (``drugs/...``). Links that lead nowhere are no files; links to folders are not followed.

    Raises:
        InputError: the folder is not there or no folder, or a table lies there twice.
    """
    if not folder.exists():
        raise InputError(
            "there is no such folder", file=folder, todo="give the folder that holds the tables"
        )
    if not folder.is_dir():
        raise InputError(
            "this is a file, not a folder", file=folder, todo="give the folder that holds it"
        )
    single: dict[str, Part] = {}
    shards: dict[str, list[Part]] = {}
    for below in folders:
        if not (folder / below).is_dir():
            continue
        for path in sorted((folder / below).iterdir()):
            if path.name.startswith("."):
                continue
            if path.is_dir() and not path.is_symlink():
                files = [_part(folder, each) for each in _files_below(path)]
                if files:
                    shards.setdefault(path.name.lower(), []).extend(files)
            elif (name := _table_name(path)) is not None:
                part = _part(folder, path)
                if name in single:
                    raise _twice(path, name, single[name], part)
                single[name] = part
    return _joined(single, shards)


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
    name = path.name.lower()
    suffix = next((each for each in reversed(SUFFIXES) if name.endswith(each)), None)
    return name.removesuffix(suffix) if suffix is not None and path.is_file() else None


def _part(folder: Path, path: Path) -> Part:
    return Part(path, path.relative_to(folder).as_posix())


def _twice(path: Path, table: str, one: Part, other: Part) -> InputError:
    return InputError(
        f"two files hold the table {table!r}",
        file=path,
        found=f"{one.source} and {other.source}",
        todo="leave one of them in the folder",
    )
