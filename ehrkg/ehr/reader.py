"""Hospital tables in, a ``Hospital`` out."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.ehr import schema
from ehrkg.ehr.assembly import assemble
from ehrkg.ehr.connections import read_connection
from ehrkg.ehr.formats import Format, format_named, formats
from ehrkg.ehr.formats.mapping import MAPPING_FILE, format_of_mapping, is_mapping
from ehrkg.ehr.pseudonyms import as_pseudonyms, without_values
from ehrkg.ehr.sources.connection import Database
from ehrkg.ehr.sources.files import FileTables, columns_of
from ehrkg.ehr.sources.finding import Part, find_tables
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.keys import SecretKey
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress, Silent

if TYPE_CHECKING:
    from ibis.backends import BaseBackend

Files = Mapping[str, tuple[Part, ...]]


def read(
    source: str | Path | BaseBackend,
    *,
    format: str | None = None,  # noqa: A002
    database: Database = None,
    ledger: Ledger | None = None,
    progress: Progress | None = None,
    threads: int | None = None,
    pseudonymise: SecretKey | str | Path | None = None,
) -> schema.Hospital:
    """Read a hospital's tables.

    Rows that can't be used are counted in the ledger by reason and kept in
    ``ledger.quarantine["read"]`` (``staging.QUARANTINE``). What is mended instead of dropped, or is
    odd and stays, is counted as a unit of its own that loses nothing, with the place of the first
    such row: ``drug.stop_before_start`` (the stop becomes null), ``diagnosis.visit_by_date``,
    ``visit.empty_word.discharged`` (see ``repairs``), and so on.

    Args:
        source: the folder that holds the tables, the release's folder around it, or a zip archive;
            or an Ibis connection (DuckDB, Postgres, PySpark, BigQuery, Snowflake), in whose engine
            the work is then done: only counts and the finished tables come back.
        format: a name of ``formats``, or the path of a mapping of your own tables (a YAML file, see
            ``formats.mapping``); found from the tables by default.
        database: with a connection, the schema or data set that holds the tables.
        ledger: where the account goes; a fresh one by default.
        progress: told of each table.
        threads: the engine's; as many as there are cores by default. The result is the same.
        pseudonymise: a secret key, or the file that holds one (made if it is not there): patients
            and visits then go under names made with it, the same with the same key, and neither
            the result, nor the ledger, nor an error holds an id.

    Returns:
        The tables of ``ehrkg.ehr.schema``, sorted by their keys.

    Raises:
        UsageError: the format is unknown.
        InputError: a table or column is missing, or a file can't be read.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ehrkg.ehr import synth
    >>> folder = Path(tempfile.mkdtemp()) / "tables"
    >>> synth.write(folder, patients=3, shape="demo")
    >>> hospital = read(folder)
    >>> hospital.format, hospital.patients.num_rows
    ('mimic4', 3)
    """
    if pseudonymise is not None:
        names, ledger = as_pseudonyms(pseudonymise), Ledger() if ledger is None else ledger
        with without_values():
            found = read(
                source,
                format=format,
                database=database,
                ledger=ledger,
                progress=progress,
                threads=threads,
            )
        return names.hide(found, ledger)
    ledger = Ledger() if ledger is None else ledger
    progress = progress or Silent()
    if not isinstance(source, (str, Path)):
        return read_connection(
            source, named=format, database=database, ledger=ledger, progress=progress
        )
    declared, files = _declared(Path(source), format)
    with (
        tempfile.TemporaryDirectory(prefix="ehrkg-") as scratch,
        FileTables(files, scratch, threads=threads) as tables,
    ):
        return assemble(tables, declared, ledger, progress)


def table_files(source: str | Path, *, format: str | None = None) -> dict[str, Path]:  # noqa: A002
    """The files that ``read`` would open, by their name relative to the folder.

    Args:
        source: as for ``read``.
        format: as for ``read``.

    Raises:
        UsageError: the format is unknown.
        InputError: a table is missing.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ehrkg.ehr import synth
    >>> folder = Path(tempfile.mkdtemp()) / "tables"
    >>> synth.write(folder, patients=3, shape="demo")
    >>> sorted(table_files(folder))[:2]
    ['hosp/admissions.csv.gz', 'hosp/d_icd_diagnoses.csv.gz']
    """
    declared, files = _declared(Path(source), format)
    parts = [part for table in sorted(declared.read & files.keys()) for part in files[table]]
    found = {_name_on_disk(part): part.archive or part.path for part in parts}
    mapping = _mapping(Path(source), format)
    return found | ({MAPPING_FILE: mapping} if mapping else {})


def detect(source: str | Path) -> str:
    """The name of the format whose tables and columns lie in a folder.

    Raises:
        InputError: the folder is not there, or holds no format's tables whole; the message names
            the tables that are missing.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from ehrkg.ehr import synth
    >>> folder = Path(tempfile.mkdtemp()) / "tables"
    >>> synth.write(folder, patients=3, shape="demo")
    >>> detect(folder)
    'mimic4'
    """
    return _declared(Path(source), None)[0].name


def _name_on_disk(part: Part) -> str:
    return part.source.removesuffix(f"/{part.member}") if part.archive else part.source


def _mapping(source: Path, named: str | None) -> Path | None:
    """The user's own mapping of tables, where one is named or lies beside the tables."""
    if named is not None and is_mapping(named):
        return Path(named)
    beside = source / MAPPING_FILE
    return beside if named in (None, "tables") and beside.is_file() else None


def _declared(source: Path, named: str | None) -> tuple[Format, Files]:
    """The format of a folder, and its files."""
    mapping = _mapping(source, named)
    if mapping is not None:
        form = format_of_mapping(mapping)
    elif named is not None:
        form = format_named(named)
    else:
        return _detected(source)
    files = find_tables(source, form.folders)
    lacking = [table for table in form.needed if table not in files]
    if lacking:
        raise _missing(source, form, ", ".join(lacking))
    return form, files


def _detected(source: Path) -> tuple[Format, Files]:
    found = {name: find_tables(source, form.folders) for name, form in formats().items()}
    lacking = {
        name: [table for table in formats()[name].needed if table not in files]
        for name, files in found.items()
    }
    whole = [formats()[name] for name, tables in lacking.items() if not tables]
    if whole:
        best = min(
            whole,
            key=lambda form: (
                form.misfit(lambda table: columns_of(found[form.name][table])),
                -len(form.needed),
            ),
        )
        return best, found[best.name]
    there = {name: len(formats()[name].needed) - len(tables) for name, tables in lacking.items()}
    nearest = max(there, key=lambda name: (there[name], name))
    if not there[nearest]:
        raise InputError(
            "the folder holds no tables that a format knows",
            file=source,
            expected="; ".join(f"{f.title}: {', '.join(f.needed)}" for f in formats().values()),
            todo="give the folder that holds them, as .csv, .csv.gz, .parquet or in a .zip; or "
            f"describe your own tables in {MAPPING_FILE}",
        )
    raise _missing(source, formats()[nearest], ", ".join(lacking[nearest]))


def _missing(folder: Path, form: Format, lacking: str) -> InputError:
    return InputError(
        f"missing table: {lacking}",
        file=folder,
        expected=f"{form.title}: " + ", ".join(form.needed),
        todo="put the table beside the others, as .csv, .csv.gz or .parquet",
    )
