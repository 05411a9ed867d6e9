"""One set of hospital tables cut into two extracts, row by row."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from pathlib import Path

Rows = list[list[str]]


def read(path: Path) -> Rows:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as handle:
        return list(csv.reader(handle))


def write(path: Path, rows: Rows) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows(rows)


def split(tables: Path, first: Path, second: Path) -> None:
    """Every third patient is new in the second extract; every other third has a later visit there.

    Rows without a visit go into the first, tables of names into both.
    """
    header, *visits = read(tables / "hosp" / "admissions.csv.gz")
    person, visit, time = (header.index(c) for c in ("subject_id", "hadm_id", "admittime"))
    stays: dict[str, list[tuple[str, str]]] = {}
    for row in visits:
        stays.setdefault(row[person], []).append((row[time], row[visit]))
    later: set[str] = set()
    for place, patient in enumerate(sorted(stays)):
        own = [name for _, name in sorted(stays[patient])]
        later |= set(own if place % 3 == 0 else own[-1:] if place % 3 == 1 and own[1:] else [])
    returning = {row[person] for row in visits if row[visit] in later}
    staying = {row[person] for row in visits if row[visit] not in later}
    for path in sorted(tables.rglob("*.csv.gz")):
        header, *rows = read(path)
        here, there = _sides(header, later, returning, staying)
        name = path.relative_to(tables)
        write(first / name, [header, *(row for row in rows if here(row))])
        write(second / name, [header, *(row for row in rows if there(row))])


def _sides(
    header: list[str], later: set[str], returning: set[str], staying: set[str]
) -> tuple[Callable[[list[str]], bool], Callable[[list[str]], bool]]:
    if "hadm_id" in header:
        at = header.index("hadm_id")
        return (lambda row: row[at] not in later), (lambda row: row[at] in later)
    if "subject_id" in header:
        at = header.index("subject_id")
        return (
            lambda row: row[at] in staying or row[at] not in returning,
            lambda row: row[at] in returning,
        )
    return bool, bool  # a row that is not empty
