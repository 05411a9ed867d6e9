"""Verdicts for a user's own pairs."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa

from ehrkg import ontology
from ehrkg import verify as verification
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.storage import write_atomically
from ehrkg.graph import open_store, readers
from ehrkg.verify.schema import Verified

SHOWN = ("head", "predicate", "tail", "verdict", "score", "reasons", "origins", "sources")


def read_pairs(path: Path) -> pa.Table:
    """Read a tab-separated file of pairs as text.

    Raises:
        InputError: the file is not there, or a line has another number of columns than the header.
    """
    if not path.is_file():
        raise InputError("there is no such file", file=path, todo="check the path that you gave")
    with path.open(encoding="utf-8-sig", newline="") as handle:
        rows = csv.reader(handle, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        header = next(rows, None)
        if not header:
            raise InputError("the file is empty", file=path, expected="head, predicate, tail")
        columns: list[list[str]] = [[] for _ in header]
        for row in rows:
            if len(row) != len(header):
                raise InputError(
                    "a line has another number of columns than the header",
                    file=path,
                    line=rows.line_num,
                    found=len(row),
                    expected=str(len(header)),
                    todo="separate columns by tabs; quote a value that holds one",
                )
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    return pa.table(
        {name: pa.array(values, pa.string()) for name, values in zip(header, columns, strict=True)}
    )


def verify_file(path: Path, graph_path: Path | None) -> Verified:
    """Verify the pairs of a file against a graph's knowledge, or against what ships."""
    table = read_pairs(path)
    if graph_path is None:
        knowledge = ontology.shipped()
    else:
        with open_store(graph_path, read_only=True) as store:
            knowledge = readers.read_knowledge(store)
    candidates, links = verification.resolve_pairs(table, knowledge)
    return verification.verify(
        candidates, links, knowledge, embedder=verification.SentenceTransformerEmbedder()
    )


def write_verdicts(verified: Verified, path: Path) -> None:
    """Write verdicts as TSV, by rename; lists are joined by "; "."""

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.writer(handle, delimiter="\t", lineterminator="\n")
            writer.writerow(SHOWN)
            for row in verified.relations.select(SHOWN).to_pylist():
                writer.writerow(
                    "; ".join(v) if isinstance(v, list) else v for v in (row[c] for c in SHOWN)
                )

    write_atomically(path, write)
