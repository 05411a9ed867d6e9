"""A user's file of pairs: what can be used of it, and what can't, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ehrkg.foundation.errors import InputError
from ehrkg.foundation.texts import utf8_text
from ehrkg.session.tsv import write_tsv
from ehrkg.verify.pairs import columns_of, known_predicate, known_predicates

BROKEN = pa.schema(
    [
        ("line", pa.int64()),  # in the file, from 1, header included
        ("reason", pa.string()),  # columns, not_utf8, unknown_predicate
        ("row", pa.string()),  # as it stands there, tabs as " | "
    ]
)
"""Rows that could not be used. Sorted by line."""

_WORDS = {
    "columns": "another number of columns than the header",
    "not_utf8": "bytes that are not UTF-8",
    "unknown_predicate": "an unknown predicate",
}


@dataclass(frozen=True)
class PairFile:
    """What stands in a file of pairs.

    Attributes:
        table: the usable rows as text, in their order, with all columns of the file.
        broken: BROKEN.
    """

    table: pa.Table
    broken: pa.Table

    def complaint(self) -> str:
        """What is wrong with the broken rows, in a sentence; "" where none is broken."""
        rows = self.broken.to_pylist()
        if not rows:
            return ""
        counts = Counter(row["reason"] for row in rows)
        told = "; ".join(f"{many:,} with {_WORDS[reason]}" for reason, many in counts.items())
        first = f"line {rows[0]['line']}: {rows[0]['row'][:80]!r}"
        words = f"{len(rows):,} rows could not be used: {told} (the first, {first})"
        if "unknown_predicate" in counts:
            words += f"; known predicates are {', '.join(known_predicates())}"
        return words


def read_pairs(path: Path) -> PairFile:
    """Read a tab-separated file of pairs.

    As in KGX and SSSOM files a quote is a character like any other; only a value that stands whole
    in quotes, with the quotes in it doubled, is taken out of them. Rows that can't be used are set
    apart; where none can, the first is complained of.

    Raises:
        InputError: the file is not there or empty, lacks a column or has one twice, or holds no row
            that can be used.
    """
    if not path.is_file():
        raise InputError("there is no such file", file=path, todo="check the path that you gave")
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    if not lines[0].strip():
        raise InputError(
            "the file is empty", file=path, expected="head, predicate, tail", todo="give it pairs"
        )
    header = _header(path, lines[0])
    predicate = header.index(columns_of(header, file=path)["predicate"])
    known: dict[str, bool] = {}
    rows, broken = [], []
    for number, line in enumerate(lines[1:], 2):
        row, reason = _row(line, len(header))
        if reason == "blank":
            continue
        if not reason:
            word = row[predicate]
            if word not in known:
                known[word] = known_predicate(word) is not None
            reason = "" if known[word] else "unknown_predicate"
        if reason:
            broken.append((number, reason, line.decode("utf-8", "replace").replace("\t", " | ")))
        else:
            rows.append(row)
    if broken and not rows:
        raise _complaint(path, header, lines, broken[0])
    return PairFile(_table(header, rows), _broken(broken))


def write_broken(file: PairFile, beside: Path) -> Path | None:
    """Write the broken rows beside the verdicts; the place, or ``None`` where there are none.

    Args:
        file: what was read.
        beside: where the verdicts are written ("verdicts.tsv"; then "verdicts.quarantine.tsv").
    """
    place = beside.with_name(f"{beside.stem}.quarantine.tsv")
    if not len(file.broken):
        place.unlink(missing_ok=True)  # of an earlier call: it would speak of other rows
        return None
    write_tsv(file.broken, place)
    return place


def _header(path: Path, line: bytes) -> list[str]:
    try:
        header = [_unquoted(name) for name in line.decode("utf-8").rstrip("\r").split("\t")]
    except UnicodeDecodeError:
        header = [utf8_text(path, what="file")]  # says where
    twice = sorted(name for name, many in Counter(header).items() if many > 1)
    if twice:
        raise InputError(
            "two columns have one name",
            file=path,
            line=1,
            found=", ".join(twice),
            todo="rename one of them",
        )
    return header


def _row(line: bytes, width: int) -> tuple[list[str], str]:
    """The values of a line, and why it can't be used ("blank" for an empty one)."""
    if not line.strip():
        return [], "blank"
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return [], "not_utf8"
    row = text.rstrip("\r").split("\t")
    if len(row) != width:
        return [], "columns"
    return ([_unquoted(value) for value in row] if '"' in text else row), ""


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


def _complaint(
    path: Path, header: list[str], lines: list[bytes], first: tuple[int, str, str]
) -> InputError:
    number, reason, text = first
    if reason == "not_utf8":
        data = lines[number - 1]
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            text = repr(data[error.start : error.start + 8])
        return InputError(
            "these bytes are not UTF-8",
            file=path,
            line=number,
            found=text,
            todo="save the file as UTF-8",
        )
    if reason == "columns":
        return InputError(
            "a line has another number of columns than the header",
            file=path,
            line=number,
            found=len(text.split(" | ")),
            expected=str(len(header)),
            todo="separate columns by tabs",
        )
    return InputError(
        "no row has a known predicate",
        file=path,
        line=number,
        column="predicate",
        found=text,
        expected="one of " + ", ".join(known_predicates()),
        todo="use these names, or their Biolink CURIEs",
    )


def _table(header: list[str], rows: list[list[str]]) -> pa.Table:
    columns: Iterable[tuple[str, ...]] = zip(*rows, strict=True) if rows else [()] * len(header)
    return pa.table(
        {name: pa.array(values, pa.string()) for name, values in zip(header, columns, strict=True)}
    )


def _broken(rows: list[tuple[int, str, str]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    return pa.table(dict(zip(BROKEN.names, columns, strict=True)), schema=BROKEN)
