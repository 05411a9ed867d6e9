"""Synthetic tables on disk, and the file that says what was planted in them."""

from __future__ import annotations

import csv
import gzip
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from ehrkg.ehr.codes import code_id, normalise
from ehrkg.ehr.routes import route_class
from ehrkg.ehr.synth.draws import Draws, Ints
from ehrkg.ehr.synth.process import SYSTEMS, Process, Rule, process
from ehrkg.ehr.synth.shapes import RELEASE, shape_named
from ehrkg.ehr.synth.simulate import simulate
from ehrkg.ehr.synth.tables import COLUMNS, Writer
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.progress import Progress, Silent

PLANTED = pa.schema(
    [
        ("kind", pa.string()),  # planted: textbook medicine; noise: the process's whim
        ("head", pa.string()),  # a Code id
        ("route", pa.string()),  # route class of the head where it is a drug, else ""
        ("predicate", pa.string()),
        ("tail", pa.string()),  # a Code id
        ("rule", pa.string()),  # the rule that planted it, in words
    ]
)
"""planted.tsv: one row a pair of codes and era. Sorted by kind, head, route, predicate, tail."""

CHUNK = 4096
"""Patients at a time: what a thread holds in memory, and a member of each gzip file."""

FORMATS = ("mimic4",)

_COMPRESSION = 2


def write(
    out: Path,
    *,
    patients: int = 2000,
    format: str = "mimic4",  # noqa: A002
    shape: str = RELEASE,
    seed: int = 7,
    progress: Progress | None = None,
) -> None:
    """Write synthetic tables of MIMIC-IV's shape, and planted.tsv beside them.

    The same seed gives the same bytes; patient k is the same however many there are. 364,627
    patients of the shape "release" are MIMIC-IV 3.1's number of rows in each table.

    Args:
        out: the folder, made if need be: ``hosp/*.csv.gz`` (seven tables) and ``planted.tsv``.
        patients: how many.
        format: only "mimic4" so far.
        shape: how crowded they are, a name of shapes.yaml: "release", as a real release is, with
            tens of thousands of codes; "demo", in which a few hundred patients show every rule; or
            "broad", as "demo" with twice the conditions, which thousands of patients fill.
        seed: names the run.
        progress: told of patients.

    Raises:
        UsageError: the format or the shape is unknown, or there are no patients.
        InputError: the folder holds something, or can't be written.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "tables"
    >>> write(folder, patients=3, shape="demo")
    >>> sorted(path.name for path in folder.iterdir())
    ['hosp', 'planted.tsv']
    """
    if format not in FORMATS:
        raise UsageError(f"no synthetic tables in format {format!r}", todo="use mimic4")
    if patients < 1:
        raise UsageError(f"{patients} patients are none", todo="ask for 1 or more")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            "the folder for the tables holds something else",
            file=out,
            expected="a new folder, or an empty one",
            todo="choose another folder",
        )
    progress = progress or Silent()
    how = shape_named(shape)
    what = process(how.adds)
    writer = Writer(what, how, Draws(seed))
    progress.start("drawing patients", patients)

    def chunk(numbers: Ints) -> dict[str, bytes]:
        drawn = simulate(what, how, numbers, seed)
        return {name: _member(rows) for name, rows in writer.rows(drawn)}

    try:
        (out / "hosp").mkdir(parents=True, exist_ok=True)
        with _Tables(out / "hosp") as tables:
            tables.add({name: _member(rows) for name, rows in writer.dictionaries()})
            for numbers, members in _side_by_side(chunk, _chunks(patients)):
                tables.add(members)
                progress.advance(len(numbers))
        _write_planted(out / "planted.tsv", what)
    except OSError as error:
        raise InputError(
            f"the tables can't be written: {error.strerror or error}",
            file=out,
            todo="choose a folder that can be written, on a disk with room",
        ) from error


def read_planted(path: str | Path) -> pa.Table:
    """What was planted: rows of PLANTED.

    Args:
        path: planted.tsv, or the folder that it lies in.

    Raises:
        InputError: it is not there, or its columns are others.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "tables"
    >>> write(folder, patients=3, shape="demo")
    >>> planted = read_planted(folder).to_pylist()
    >>> {row["predicate"] for row in planted if row["head"] == "DRUGNAME:furosemide"}
    {'TREATS'}
    """
    file = Path(path) / "planted.tsv" if Path(path).is_dir() else Path(path)
    if not file.is_file():
        raise InputError(
            "there is no such file", file=file, todo="write synthetic tables with ehrkg synth"
        )
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.reader(handle, delimiter="\t"))
    if not rows or rows[0] != PLANTED.names:
        raise InputError(
            "the columns are others", file=file, line=1,
            found=", ".join(rows[0]) if rows else "nothing",
            expected=", ".join(PLANTED.names), todo="write it again with ehrkg synth",
        )  # fmt: skip
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [[] for _ in PLANTED]
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=PLANTED)


def _chunks(patients: int) -> Iterator[Ints]:
    for first in range(0, patients, CHUNK):
        yield np.arange(first, min(first + CHUNK, patients), dtype=np.int64)


def _side_by_side(
    work: Callable[[Ints], dict[str, bytes]], chunks: Iterator[Ints]
) -> Iterator[tuple[Ints, dict[str, bytes]]]:
    """The work's results in the chunks' order, made by a thread a core, few of them waiting.

    Threads are enough: arrays, text and compression let go of the interpreter's lock.
    """
    threads = os.cpu_count() or 1
    waiting: deque[tuple[Ints, Future[dict[str, bytes]]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for numbers in chunks:
            waiting.append((numbers, pool.submit(work, numbers)))
            if len(waiting) > threads:
                done, future = waiting.popleft()
                yield done, future.result()
        for done, future in waiting:
            yield done, future.result()


class _Tables:
    """The seven gzip files, written side by side and renamed into place when all are whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stack = ExitStack()
        self.handles: dict[str, BinaryIO] = {}

    def __enter__(self) -> _Tables:
        for name, columns in COLUMNS.items():
            handle = self.stack.enter_context(self._part(name).open("wb"))
            handle.write(_compressed(columns.encode() + b"\n"))
            self.handles[name] = handle
        return self

    def add(self, members: Mapping[str, bytes]) -> None:
        """Append compressed lines to tables."""
        for name, member in members.items():
            self.handles[name].write(member)

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.stack.close()
        for name in COLUMNS:
            if kind is None:
                self._part(name).replace(self.folder / f"{name}.csv.gz")
            else:
                self._part(name).unlink(missing_ok=True)

    def _part(self, name: str) -> Path:
        return self.folder / f".{name}.csv.gz.part"


def _member(rows: pa.Array) -> bytes:
    """Lines as a member of a gzip file, which is its members one after another (RFC 1952)."""
    parts = rows.chunks if isinstance(rows, pa.ChunkedArray) else [rows]
    text = b"".join(map(_bytes, parts))
    return _compressed(text) if text else b""


def _compressed(text: bytes) -> bytes:
    # no time in the header: the same rows give the same bytes
    return gzip.compress(text, _COMPRESSION, mtime=0)


def _bytes(rows: pa.Array) -> bytes:
    """A string array's texts one after another: its data buffer, as it lies."""
    if not len(rows):
        return b""
    _, offsets, data = rows.buffers()
    ends = np.frombuffer(offsets, np.int32, len(rows) + 1, rows.offset * 4)
    return bytes(memoryview(data)[ends[0] : ends[-1]])


def _write_planted(path: Path, what: Process) -> None:
    rows = sorted(set(planted_rows(what)))
    text = "".join("\t".join(row) + "\n" for row in [tuple(PLANTED.names), *rows])
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)


def planted_rows(what: Process) -> Iterator[tuple[str, ...]]:
    """Every pair of codes that a rule plants, in both eras."""
    for era, (diagnosis, procedure) in SYSTEMS.items():
        for rule in what.relations:
            heads = [(code, "") for code in _codes(what, rule.head, era, diagnosis)]
            yield from _pairs(what, rule, heads, era, diagnosis)
        for rule in what.treatments:
            strings = [
                (code_id("DRUGNAME", normalise("DRUGNAME", order.text)), route_class(order.route))
                for order in what.drugs[rule.head]
            ]
            yield from _pairs(what, rule, strings, era, diagnosis)
        for rule in what.performed:
            if rule.predicate:
                code = str(what.procedures[rule.head][f"icd{era}"])
                yield from _pairs(what, rule, [(code_id(procedure, code), "")], era, diagnosis)


def _codes(what: Process, condition: str, era: str, system: str) -> list[str]:
    return [code_id(system, code) for code in what.conditions[condition][f"icd{era}"]]


def _pairs(
    what: Process, rule: Rule, heads: list[tuple[str, str]], era: str, system: str
) -> Iterator[tuple[str, ...]]:
    for head, route in heads:
        for tail in _codes(what, rule.tail, era, system):
            yield rule.kind, head, route, rule.predicate, tail, rule.name
