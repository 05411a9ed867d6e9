"""CSV: a question a row, lists as JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.rows import carried_names, rows
from ehrkg.foundation.storage import write_atomically

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark


def write(bench: Benchmark, folder: Path) -> None:
    """Write questions.csv (RFC 4180, UTF-8): all columns of ``exports.rows``."""

    def fill(part: Path) -> None:
        with part.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, carried_names(bench))
            writer.writeheader()
            for row in rows(bench):
                writer.writerow({name: _cell(value) for name, value in row.items()})

    write_atomically(folder / "questions.csv", fill)


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


EXPORT = Export("csv", "CSV, lists as JSON in a cell", "pandas.read_csv('questions.csv')", write)
