"""KGX JSON Lines: the same columns as its TSV, with lists that need no separator of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ehrkg.foundation.damage import BROKEN, broken
from ehrkg.foundation.errors import InputError
from ehrkg.ontology.formats.archives import Entry
from ehrkg.ontology.formats.tsv import opened

if TYPE_CHECKING:
    import duckdb

ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
SEPARATOR = "\x1f"
"""What parts the items of a list here: a control character that no name holds."""
_UNREADABLE: tuple[type[Exception], ...] = (*BROKEN, ValueError)


def keys(path: Path) -> set[str]:
    """The keys of a file's first object; none where it is no JSON Lines."""
    if not path.is_file():
        return set()
    try:
        with opened(path) as handle:
            line = handle.readline(1 << 20)
        found = json.loads(line.decode("utf-8-sig"))
    except _UNREADABLE:
        return set()
    return set(found) if isinstance(found, dict) else set()


def fill_json(
    bench: duckdb.DuckDBPyConnection,
    table: str,
    path: Path,
    columns: Sequence[str],
    required: Sequence[str],
    *,
    apart: Sequence[str] = (),
) -> int:
    """Put objects, one a line, into a table of the bench: texts, "" for what is missing or null.

    Args:
        bench: a connection of ``workbench()``.
        table: the name of the table to make.
        path: the file, plain or gzip.
        columns: the keys wanted; the items of a list are joined by "|".
        required: those that every object must have.
        apart: of the columns, those whose items may hold "|": they are joined by ``SEPARATOR``.

    Returns:
        How many objects the file has.

    Raises:
        InputError: with its line: no JSON, no object, no UTF-8, or a required key is missing; or
            the gzip ends too early.
    """
    import duckdb

    texts = ", ".join(
        f"""CASE json_type({name}) WHEN 'ARRAY'
            THEN coalesce(array_to_string({name}->>'$[*]',
                                          '{SEPARATOR if name in apart else "|"}'), '')
            ELSE coalesce({name}->>'$', '') END AS {name}"""
        for name in columns
    )
    wanted = ", ".join(f"{name}: 'JSON'" for name in columns)
    lacks = " OR ".join(f"{name} = ''" for name in required)
    packing = "gzip" if Entry(path).is_gzip() else "uncompressed"
    try:
        bench.execute(
            f"""CREATE TABLE "{table}" AS SELECT {texts} FROM read_json($path,
                format = 'newline_delimited', columns = {{{wanted}}},
                compression = $packing)""",  # noqa: S608 (our own names)
            {"path": str(path), "packing": packing},
        )
        query = f'SELECT count(*), count(*) FILTER ({lacks}) FROM "{table}"'  # noqa: S608
        [(count, empty)] = bench.execute(query).fetchall()
    except duckdb.IOException as error:
        raise broken(path, error) from error
    except duckdb.InvalidInputException as error:
        raise _fault(path, required) or InputError(
            "could not be read", file=path, found=str(error).splitlines()[0]
        ) from error
    if empty:
        raise _fault(path, required) or InputError("a value is empty", file=path)
    return int(count)


def _fault(path: Path, required: Sequence[str]) -> InputError | None:
    """Find the line at fault: only now is it worth reading line by line."""
    with opened(path) as handle:
        for number, line in enumerate(handle, start=1):
            if line.strip():
                wrong = _wrong(line, required)
                if wrong:
                    return InputError(
                        wrong,
                        file=path,
                        line=number,
                        found=repr(line[:80]),
                        expected=f"an object with {', '.join(required)}, in UTF-8",
                        todo="mend the line",
                    )
    return None


def _wrong(line: bytes, required: Sequence[str]) -> str:
    """What is wrong with a line, "" where nothing is."""
    try:
        found: Any = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return "not UTF-8"
    except json.JSONDecodeError as error:
        return f"broken JSON: {error.msg}"
    if not isinstance(found, dict):
        return "no JSON object"
    missing = [name for name in required if found.get(name) in (None, "", [])]
    return f"lacks {', '.join(missing)}" if missing else ""
