"""The rows of a file of a table, in batches of text columns, whatever the file is written in."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from ehrkg.foundation.damage import BROKEN, broken
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.declared.declaration import TableSpec
from ehrkg.ontology.formats.archives import Entry

BLOCK = 1 << 24
HEAD_LINES = 60
"""Lines that are looked at when a layout is told; comments before them count."""
LONGEST = 1 << 20
"""Bytes of such a line."""
JSON_ROWS = 50_000
"""Rows a batch of JSON Lines."""


@dataclass(frozen=True)
class Layout:
    """How a file is written, as its first lines and the declaration say.

    Attributes:
        format: tsv, csv, json or jsonl.
        columns: their names, in order.
        skip: lines before the first row: comments, and the line of names.
    """

    format: str
    columns: tuple[str, ...]
    skip: int


def layout(entry: Entry, spec: TableSpec) -> Layout | None:
    """How a file is written; None where it can't be read as text."""
    lines = _head(entry, spec.encoding)
    written = spec.format or _format(entry.name, lines)
    if written in ("json", "jsonl"):
        first = next(iter(_objects(entry, spec, written)), {}) if lines else {}
        return Layout(written, tuple(_flat(first)), 0)
    comments = sum(1 for _ in itertools.takewhile(lambda line: line.startswith("#"), lines))
    if spec.header:
        return Layout(written, spec.header, comments)
    if comments == len(lines):
        return None
    names = _split(lines[comments], written, _quoted(spec, written))
    return Layout(written, tuple(name.strip() for name in names), comments + 1)


def _head(entry: Entry, encoding: str) -> list[str]:
    """The first lines, without line ends; [] where it can't be read."""
    try:
        with entry.opened() as handle:
            lines = [handle.readline(LONGEST) for _ in range(HEAD_LINES)]
    except BROKEN:
        return []
    lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
    return [line.decode(encoding, "replace").rstrip("\r\n") for line in lines if line]


def _format(name: str, lines: Sequence[str]) -> str:
    bare = name.lower().removesuffix(".gz")
    for ending in ("jsonl", "json", "csv", "tsv"):
        if bare.endswith(f".{ending}"):
            return ending
    first = next((line for line in lines if not line.startswith("#")), "")
    return "csv" if "," in first and "\t" not in first else "tsv"


def _quoted(spec: TableSpec, written: str) -> bool:
    return written == "csv" if spec.quoted is None else spec.quoted


def _split(line: str, written: str, quoted: bool) -> list[str]:
    delimiter = "," if written == "csv" else "\t"
    if not quoted:
        return line.split(delimiter)
    return next(csv.reader([line], delimiter=delimiter), [])


def batches(entry: Entry, spec: TableSpec, wanted: Iterable[str]) -> Iterator[pa.Table]:
    """The rows, a table a batch, with the wanted columns as text; empty cells are "".

    Raises:
        InputError: a wanted column is missing, a line has another number of columns, the file ends
            too early, a byte is not in the encoding, or the JSON is none.
    """
    found = layout(entry, spec)
    columns = found.columns if found else ()
    missing = sorted(set(wanted) - set(columns))
    if found is None or missing:
        raise InputError(
            f"lacks the column {', '.join(missing)}" if missing else "can't be read",
            file=entry.where,
            line=found.skip if found and found.skip else None,
            found=", ".join(columns)[:300] or "nothing",
            expected=", ".join(sorted(wanted)),
            todo="name the right format, or mend the declaration",
        )
    names = [name for name in columns if name in set(wanted)]
    if found.format in ("json", "jsonl"):
        yield from _json_batches(entry, spec, found.format, names)
    else:
        yield from _text_batches(entry, spec, found, names)


def _text_batches(
    entry: Entry, spec: TableSpec, found: Layout, names: Sequence[str]
) -> Iterator[pa.Table]:
    quoted = _quoted(spec, found.format)
    try:
        with entry.opened() as handle:
            reader = arrow_csv.open_csv(
                pa.PythonFile(handle, mode="r"),
                read_options=arrow_csv.ReadOptions(
                    skip_rows=found.skip,
                    column_names=list(found.columns),
                    block_size=BLOCK,
                    encoding=spec.encoding,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter="," if found.format == "csv" else "\t",
                    quote_char='"' if quoted else False,
                    double_quote=quoted,
                    escape_char=False,
                    newlines_in_values=quoted,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=list(names),
                    strings_can_be_null=False,
                    quoted_strings_can_be_null=False,
                ),
            )
            for batch in reader:
                yield pa.Table.from_batches([batch])
    except BROKEN as error:
        raise broken(entry.where, error) from error
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise _bad_line(entry, spec, found, error) from error


def _bad_line(entry: Entry, spec: TableSpec, found: Layout, error: Exception) -> InputError:
    """Find the line at fault: only now is it worth reading row by row."""
    delimiter = "," if found.format == "csv" else "\t"
    try:
        with entry.opened() as handle:
            text = io.TextIOWrapper(handle, encoding=spec.encoding, newline="")
            lines = itertools.islice(text, found.skip, None)
            if _quoted(spec, found.format):
                reader = csv.reader(lines, delimiter=delimiter)
            else:
                reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
            for row in reader:
                if row and len(row) != len(found.columns):
                    return InputError(
                        "wrong number of columns",
                        file=entry.where,
                        line=found.skip + reader.line_num,
                        found=f"{len(row)} columns",
                        expected=f"{len(found.columns)} columns",
                        todo="mend the line (a separator inside a cell, or a missing one?)",
                    )
    except UnicodeDecodeError:
        return _bad_byte(entry, spec)
    except csv.Error as worse:
        return InputError("could not be read", file=entry.where, found=str(worse))
    return InputError("could not be read", file=entry.where, found=str(error).splitlines()[0])


def _bad_byte(entry: Entry, spec: TableSpec) -> InputError:
    with entry.opened() as handle:
        for number, line in enumerate(handle, start=1):
            try:
                line.decode(spec.encoding)
            except UnicodeDecodeError as bad:
                return InputError(
                    f"not {spec.encoding}",
                    file=entry.where,
                    line=number,
                    found=repr(line[bad.start : bad.end]),
                    expected=spec.encoding,
                    todo="save the file in that encoding, or say `encoding:` in the declaration",
                )
    return InputError(f"not {spec.encoding}", file=entry.where)


# -- JSON ----------------------------------------------------------------------------------


def _json_batches(
    entry: Entry, spec: TableSpec, written: str, names: Sequence[str]
) -> Iterator[pa.Table]:
    rows = _objects(entry, spec, written)
    schema = pa.schema([(name, pa.string()) for name in names])
    while chunk := list(itertools.islice(rows, JSON_ROWS)):
        flat = [_flat(row) for row in chunk]
        yield pa.Table.from_pylist(
            [{name: row.get(name, "") for name in names} for row in flat], schema=schema
        )


def _objects(entry: Entry, spec: TableSpec, written: str) -> Iterator[dict[str, Any]]:
    """The rows of a JSON file, one object each."""
    try:
        with entry.opened() as handle:
            if written == "jsonl":
                yield from _lines(entry, handle)
                return
            whole = json.load(handle)
    except BROKEN as error:
        raise broken(entry.where, error) from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            "no JSON",
            file=entry.where,
            line=getattr(error, "lineno", None),
            found=str(error),
            todo="mend the file, or name the right format",
        ) from error
    for word in filter(None, spec.at.split(".")):
        whole = whole.get(word) if isinstance(whole, dict) else None
    if not isinstance(whole, list) or not all(isinstance(row, dict) for row in whole):
        raise InputError(
            "no list of objects",
            file=entry.where,
            found=type(whole).__name__,
            expected="a list of objects" + (f" at {spec.at}" if spec.at else ""),
            todo="say where it stands with `at:` in the declaration",
        )
    yield from whole


def _lines(entry: Entry, handle: IO[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(handle, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:  # JSON or encoding
            raise InputError(
                "no JSON", file=entry.where, line=number, found=str(error), todo="mend the line"
            ) from error
        if not isinstance(row, dict):
            raise InputError(
                "no JSON object", file=entry.where, line=number, found=type(row).__name__
            )
        yield row


def _flat(row: dict[str, Any], before: str = "") -> dict[str, str]:
    """Cells as text; what lies in an inner object is named with a dot: ``subject.id``."""
    found: dict[str, str] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{before}{key}.")
        elif value is None:
            found[before + key] = ""
        else:
            found[before + key] = value if isinstance(value, str) else json.dumps(value)
    return found
