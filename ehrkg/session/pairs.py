"""Verdicts for a user's own pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg import ontology
from ehrkg import verify as verification
from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.storage import write_atomically
from ehrkg.foundation.texts import utf8_text
from ehrkg.graph import open_store, readers
from ehrkg.session.tsv import cell
from ehrkg.verify.pairs import relation_ids
from ehrkg.verify.schema import Verified

ADDED = ("verdict", "score", "reasons", "origins", "sources")
"""Columns that verdicts add to a user's own."""


def read_pairs(path: Path) -> pa.Table:
    """Read a tab-separated file of pairs as text.

    As in KGX and SSSOM files a quote is a character like any other; only a value that stands whole
    in quotes, with the quotes in it doubled, is taken out of them.

    Raises:
        InputError: the file is not there, is not UTF-8, or a line has another number of columns
            than the header.
    """
    if not path.is_file():
        raise InputError("there is no such file", file=path, todo="check the path that you gave")
    lines = utf8_text(path, what="file").splitlines()
    if not lines or not lines[0].strip():
        raise InputError(
            "the file is empty", file=path, expected="head, predicate, tail", todo="give it pairs"
        )
    header = [_unquoted(name) for name in lines[0].split("\t")]
    columns: list[list[str]] = [[] for _ in header]
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        row = line.split("\t")
        if len(row) != len(header):
            raise InputError(
                "a line has another number of columns than the header",
                file=path,
                line=number,
                found=len(row),
                expected=str(len(header)),
                todo="separate columns by tabs",
            )
        for column, value in zip(columns, row, strict=True):
            column.append(_unquoted(value))
    return pa.table(
        {name: pa.array(values, pa.string()) for name, values in zip(header, columns, strict=True)}
    )


def _unquoted(value: str) -> str:
    """A value out of its quotes, where it stands whole in them.

    >>> _unquoted('"a ""b"" c"'), _unquoted('"Big" disease')
    ('a "b" c', '"Big" disease')
    """
    inner = value[1:-1]
    whole = len(value) >= 2 and value[0] == value[-1] == '"'
    if whole and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return value


def as_pairs(given: object) -> pa.Table:
    """A table of pairs out of what a user has: a file, an Arrow, pandas or polars table, rows.

    Raises:
        UsageError: it is none of these.
        InputError: the file can't be used.
    """
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, str | Path):
        return read_pairs(Path(given))
    if isinstance(given, Sequence) and all(isinstance(row, Mapping) for row in given):
        return pa.Table.from_pylist([dict(row) for row in given])
    try:
        return pa.table(given)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise UsageError(
            f"no table of pairs: {type(given).__name__}",
            todo="give a table (Arrow, pandas, polars), a list of dicts, or a TSV file, with the "
            "columns head, predicate, tail",
        ) from error


def verify_table(table: pa.Table, graph_path: Path | None) -> Verified:
    """Verify pairs against a graph's knowledge, or against what ships with the package."""
    if graph_path is None:
        knowledge = ontology.shipped()
    else:
        with open_store(graph_path, read_only=True) as store:
            knowledge = readers.read_knowledge(store)
    candidates, links = verification.resolve_pairs(table, knowledge)
    return verification.verify(
        candidates, links, knowledge, embedder=verification.SentenceTransformerEmbedder()
    )


def beside_rows(table: pa.Table, verified: Verified) -> list[dict[str, Any]]:
    """The user's rows in their order and with all their columns, each with its verdict.

    Args:
        table: the user's pairs.
        verified: what came of them.
    """
    found = {row["id"]: row for row in verified.relations.to_pylist()}
    return [
        {name: value for name, value in row.items() if name not in ADDED}
        | {name: found[relation][name] for name in ADDED}
        for row, relation in zip(table.to_pylist(), relation_ids(table), strict=True)
    ]


def write_verdicts(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], path: Path) -> None:
    """Write rows as TSV, by rename; lists are joined by "; ".

    Args:
        rows: as ``beside_rows`` gives them.
        columns: the user's own; those of ``ADDED`` follow them.
        path: where to.
    """
    names = [*(name for name in columns if name not in ADDED), *ADDED]
    lines = ["\t".join(names)]
    lines += ["\t".join(cell(row[name]) for name in names) for row in rows]
    text = "\n".join(lines) + "\n"
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))
