"""The folder a build works in: stages that are done are kept, stages cut off begin again.

A workspace belongs to one identity: inputs, settings and the program's own text. Every stage is a
pure function of it, so a build that is killed and started again takes the finished stages from disk
and computes the rest; the final files appear by rename, the manifest last.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import pyarrow as pa
from filelock import FileLock, Timeout

from ehrkg.foundation import growing, replacing
from ehrkg.foundation.errors import EhrkgError, InputError, UsageError
from ehrkg.foundation.growing import MANIFEST
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.replacing import WORK
from ehrkg.foundation.resources import shipped
from ehrkg.foundation.storage import read_parquet, write_atomically, write_parquet

T = TypeVar("T")
PROGRAM_FILES = frozenset({".py", ".yaml", ".tsv", ".j2", ".html", ".css", ".js"})
IDENTITY = "identity.json"
LEDGER = "ledger.json"
LEAST_FREE = 256 * 1024 * 1024
"""Bytes that must be free before a build starts."""


@cache
def program_fingerprint() -> str:
    """A hash of the program's own text and shipped knowledge.

    A changed rule, module or ontology never meets a result of the one before it.
    """
    package = Path(__file__).resolve().parent.parent
    own = [path for path in package.rglob("*") if path.suffix in PROGRAM_FILES]
    digest = hashlib.sha256()
    for root, paths in (
        (package, own),
        (ontologies := shipped("ontologies"), ontologies.rglob("*")),
    ):
        for path in sorted(paths):
            if path.is_file() and "_shipped" not in path.relative_to(root).parts:
                digest.update(path.relative_to(root).as_posix().encode() + b"\0")
                digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


class Workspace:
    """One output folder, held by one process.

    Args:
        out: the folder; made if it is not there.
        identity: what the build is made of (inputs and settings). The same identity resumes;
            another one, or foreign files, are refused.
        earlier: the identity of a finished build that this one extends: what it read is kept, and
            what was worked out from that is made anew.

    Raises:
        UsageError: the folder holds the build of another identity, or is in use.
        InputError: it holds something else, can't be written, or the disk is nearly full.
    """

    def __init__(
        self,
        out: Path,
        identity: dict[str, object],
        *,
        earlier: dict[str, object] | None = None,
    ) -> None:
        self.out = out
        self.work = out / WORK
        self.ledger = Ledger()
        self._identity, self._earlier = identity, earlier
        self._lock = FileLock(str(self.work / "lock"))

    def __enter__(self) -> Self:
        _refuse_foreign(self.out)
        _lock(self._lock, self.out)
        try:
            replacing.finish(self.out)
            growing.finish(self.out)
            self._claim()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, EhrkgError) and not self._anything_finished():
            shutil.rmtree(self.work, ignore_errors=True)
            if not any(self.out.iterdir()):
                self.out.rmdir()
        self._lock.release()

    def _anything_finished(self) -> bool:
        """Whether some stage's result is there to go on from."""
        return any(path.is_dir() and path.suffix != ".part" for path in self.work.iterdir())

    def _claim(self) -> None:
        free = shutil.disk_usage(self.out).free
        if free < LEAST_FREE:
            raise InputError(
                "too little free disk",
                file=self.out,
                found=f"{free // 2**20} MiB",
                expected=f"{LEAST_FREE // 2**20} MiB or more",
                todo="free some space, or choose another --out",
            )
        claim = self.work / IDENTITY
        mine = _as_text(self._identity)
        if claim.exists():
            theirs = claim.read_text(encoding="utf-8")
            if self._earlier is not None and theirs == _as_text(self._earlier):
                growing.begin(self.out, mine)
            elif theirs != mine:
                raise UsageError(
                    f"{self.out} holds the build of other inputs or settings: "
                    + _difference(json.loads(theirs), json.loads(_as_text(self._wanted()))),
                    todo="choose another --out, or delete that folder first",
                )
            return
        write_atomically(claim, lambda path: path.write_text(mine, encoding="utf-8"))

    def _wanted(self) -> dict[str, object]:
        """What should be found in the folder."""
        return self._earlier if self._earlier is not None else self._identity

    def stage(self, name: str, compute: Callable[[Ledger], T]) -> T:
        """The result of a stage: read back if it was finished before, else computed and kept.

        Args:
            name: the stage's name, and its folder's.
            compute: the stage. It gets a ledger of its own and returns a table or a frozen
                dataclass of tables and plain values.
        """
        folder = self.work / name
        if not folder.is_dir():
            part = self.work / f"{name}.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            ledger = Ledger()
            _save(compute(ledger), part)
            ledger.write(part / "ledger.json")
            for unit, table in ledger.quarantine.items():
                write_ipc(table, part / f"quarantine-{unit}.arrow")
            part.rename(folder)
        ledger = Ledger.read(folder / "ledger.json")
        for path in sorted(folder.glob("quarantine-*.arrow")):
            ledger.quarantine[path.stem.removeprefix("quarantine-")] = read_ipc(path)
        self.ledger.extend(ledger)
        result: T = load_result(folder)
        return result

    def publish(self, name: str, table: pa.Table) -> None:
        """Write a final table as ``OUT/<name>.parquet``, by rename."""
        write_parquet(table, self.out / f"{name}.parquet")

    def publish_quarantine(self) -> None:
        """Write the unusable rows, a file a stage."""
        for name, table in sorted(self.ledger.quarantine.items()):
            write_parquet(table, self.out / "quarantine" / f"{name}.parquet")

    def finish(self, manifest: dict[str, Any]) -> None:
        """Write ledger and manifest: from here on the build is complete."""
        self.ledger.write(self.out / LEDGER)
        write_json(manifest, self.out / MANIFEST)

    def finished(self) -> dict[str, Any] | None:
        """The manifest of a complete build, or ``None``."""
        return read_manifest(self.out) if (self.out / MANIFEST).exists() else None


@contextmanager
def hold(out: Path) -> Iterator[None]:
    """Keep every build away from a folder for as long as it is changed.

    Raises:
        UsageError: it is in use.
        InputError: it can't be written.
    """
    lock = FileLock(str(out / WORK / "lock"))
    _lock(lock, out)
    try:
        yield
    finally:
        lock.release()


def _lock(lock: FileLock, out: Path) -> None:
    try:
        (out / WORK).mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise UsageError(
            f"{out} is in use by another build",
            todo="wait for it, or choose another --out",
        ) from error
    except OSError as error:
        raise InputError(
            f"the output folder can't be written: {error.strerror}",
            file=out,
            todo="choose a folder that you may write to",
        ) from error


def _refuse_foreign(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(
            "the output is a file", file=out, expected="a folder", todo="choose another --out"
        )
    if out.is_dir() and not (out / WORK).is_dir() and any(out.iterdir()):
        raise InputError(
            "the output folder holds something else",
            file=out,
            found=", ".join(sorted(path.name for path in out.iterdir())[:5]),
            expected="an empty folder, a new one, or a build of the same inputs and settings",
            todo="choose another --out",
        )


def _as_text(identity: dict[str, object]) -> str:
    return json.dumps(identity, sort_keys=True, indent=1, default=str)


def read_identity(out: Path) -> dict[str, Any]:
    """What the build in a folder is made of, finished or not.

    Raises:
        InputError: the folder holds no build.
    """
    for name in (growing.IDENTITY, IDENTITY):
        path = out / WORK / name
        if path.is_file():
            identity: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return identity
    raise InputError(
        "there is no build here", file=out, todo="build one first: ehrkg build SOURCE --out OUT"
    )


def _difference(theirs: Any, mine: Any) -> str:
    """Where two identities differ, in words; a hash says only that it changed."""
    told = sorted(_differences(theirs, mine))
    return "; ".join(told[:3]) + (f"; and {len(told) - 3} more" if len(told) > 3 else "")


def _differences(theirs: Any, mine: Any, path: str = "") -> Iterator[str]:
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for name in sorted(set(theirs) | set(mine)):
            if theirs.get(name) != mine.get(name):
                yield from _differences(
                    theirs.get(name), mine.get(name), f"{path}.{name}".lstrip(".")
                )
    elif path == "program":
        yield "it was made by another version of ehrkg or of its knowledge"
    elif path.startswith("inputs."):
        yield f"the input {path.removeprefix('inputs.')} changed"
    else:
        yield f"{path} was {theirs!r} and is now {mine!r}"


def write_ipc(table: pa.Table, path: Path) -> None:
    """Write a table as it is kept between stages."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def read_ipc(path: Path) -> pa.Table:
    """A table as it was kept between stages; its columns lie in the file."""
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def _save(result: object, folder: Path) -> None:
    if isinstance(result, pa.Table):
        write_ipc(result, folder / "table.arrow")
        return
    if not dataclasses.is_dataclass(result) or isinstance(result, type):
        raise TypeError(f"a stage returns a table or a dataclass of tables, not {type(result)}")
    plain: dict[str, object] = {}
    for item in dataclasses.fields(result):
        value = getattr(result, item.name)
        if isinstance(value, pa.Table):
            write_ipc(value, folder / f"field-{item.name}.arrow")
        else:
            plain[item.name] = value
    kind = type(result)
    about = {"module": kind.__module__, "class": kind.__qualname__, "plain": plain}
    (folder / "result.json").write_text(json.dumps(about), encoding="utf-8")


def load_result(folder: Path) -> Any:
    """The result of a finished stage, out of its folder in ``OUT/.work``."""
    import importlib

    if (folder / "table.arrow").exists():
        return read_ipc(folder / "table.arrow")
    about = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    kind = getattr(importlib.import_module(about["module"]), about["class"])
    tables = {
        path.stem.removeprefix("field-"): read_ipc(path) for path in folder.glob("field-*.arrow")
    }
    return kind(**about["plain"], **tables)


def write_json(value: object, path: Path) -> None:
    """Write plain values as JSON, by rename: keys sorted, a line a value."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, default=str)
    write_atomically(path, lambda temporary: temporary.write_text(text + "\n", encoding="utf-8"))


def read_final(out: Path, name: str) -> pa.Table:
    """A final table of a build.

    Raises:
        InputError: the folder holds no such table.
    """
    path = out / f"{name}.parquet"
    if not path.exists():
        raise InputError(
            "this is no finished build", file=path, todo="run ehrkg build, or name another folder"
        )
    return read_parquet(path)


def read_manifest(out: Path) -> dict[str, Any]:
    """The manifest of a finished build.

    Raises:
        InputError: the folder holds none.
    """
    path = out / MANIFEST
    if not path.exists():
        raise InputError(
            "this is no finished build", file=path, todo="run ehrkg build, or name another folder"
        )
    manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return manifest
