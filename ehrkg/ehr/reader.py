"""Hospital tables in, a ``Hospital`` out."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ehrkg.ehr import schema
from ehrkg.ehr.assembly import assemble
from ehrkg.ehr.formats import Format, format_named, formats
from ehrkg.ehr.sources.files import FileTables
from ehrkg.ehr.sources.finding import Part, find_tables
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress, Silent


def read(
    source: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    ledger: Ledger | None = None,
    progress: Progress | None = None,
    threads: int | None = None,
) -> schema.Hospital:
    """Read a hospital's tables.

    Rows that can't be used are counted in the ledger by reason and kept whole in
    ``ledger.quarantine["read"]`` (``staging.QUARANTINE``). What is mended instead of dropped is
    counted as a unit of its own that loses nothing: ``drug.stop_before_start`` (the row stays, its
    stop becomes null), ``drug.unknown_route.<WORD>`` (the route class becomes ``unknown``).

    Args:
        source: the folder that holds the tables, or the release's folder around it.
        format: a name of ``formats``; found from the tables by default.
        ledger: where the account goes; a fresh one by default.
        progress: told of each table.
        threads: the engine's; as many as there are cores by default. The result is the same.

    Returns:
        The tables of ``ehrkg.ehr.schema``, sorted by their keys.

    Raises:
        UsageError: the format is unknown.
        InputError: a table or column is missing, or a file can't be read.
    """
    declared = format_named(format) if format is not None else None
    folder = Path(source)
    declared = declared or format_named(detect(folder))
    files = _files(folder, declared)
    ledger = Ledger() if ledger is None else ledger
    with (
        tempfile.TemporaryDirectory(prefix="ehrkg-") as scratch,
        FileTables(files, scratch, threads=threads) as tables,
    ):
        return assemble(tables, declared, ledger, progress or Silent())


def table_files(source: str | Path, *, format: str | None = None) -> dict[str, Path]:  # noqa: A002
    """The files that ``read`` would open, by their name relative to the folder.

    Args:
        source: the folder that holds the tables, or the release's folder around it.
        format: a name of ``formats``; found from the tables by default.

    Raises:
        UsageError: the format is unknown.
        InputError: a table is missing.
    """
    folder = Path(source)
    declared = format_named(format) if format is not None else format_named(detect(folder))
    wanted = {*declared.needed, *(unit.table for unit in declared.names)}
    return {
        part.source: part.path
        for table, parts in sorted(_files(folder, declared).items())
        if table in wanted
        for part in parts
    }


def detect(source: str | Path) -> str:
    """The name of the format whose tables lie in a folder.

    Raises:
        InputError: the folder is not there, or holds no format's tables whole; the message names
            the tables that are missing.
    """
    folder = Path(source)
    complete, nearest = [], (0, "", "")
    for form in formats().values():
        there = set(find_tables(folder, form.folders))
        missing = [table for table in form.needed if table not in there]
        if not missing:
            complete.append((len(form.needed), form.name))
        nearest = max(nearest, (len(form.needed) - len(missing), form.name, ", ".join(missing)))
    if complete:
        return max(complete)[1]
    count, name, lacking = nearest
    if not count:
        raise InputError(
            "the folder holds no tables that a format knows",
            file=folder,
            expected="; ".join(f"{f.title}: {', '.join(f.needed)}" for f in formats().values()),
            todo="give the folder that holds them, as .csv or .csv.gz",
        )
    raise _missing(folder, format_named(name), lacking)


def _files(folder: Path, form: Format) -> dict[str, tuple[Part, ...]]:
    files = find_tables(folder, form.folders)
    lacking = [table for table in form.needed if table not in files]
    if lacking:
        raise _missing(folder, form, ", ".join(lacking))
    return files


def _missing(folder: Path, form: Format, lacking: str) -> InputError:
    return InputError(
        f"missing table: {lacking}",
        file=folder,
        expected=f"{form.title}: " + ", ".join(form.needed),
        todo="put the table beside the others, as .csv or .csv.gz",
    )
