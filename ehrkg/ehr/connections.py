"""A database's tables in, a ``Hospital`` out: what is read from files, worked on where it lies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ehrkg.ehr import schema
from ehrkg.ehr.assembly import assemble
from ehrkg.ehr.formats import Format, format_named, formats
from ehrkg.ehr.formats.mapping import format_of_mapping, is_mapping
from ehrkg.ehr.sources.connection import ConnectionTables, Database
from ehrkg.foundation.errors import InputError
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress

if TYPE_CHECKING:
    from ibis.backends import BaseBackend


def read_connection(
    con: BaseBackend,
    *,
    named: str | None,
    database: Database,
    ledger: Ledger,
    progress: Progress,
) -> schema.Hospital:
    """Read a hospital's tables through an Ibis connection.

    Args:
        con: the connection.
        named: a name of ``formats`` or the path of a mapping; found from the tables for ``None``.
        database: the schema or data set that holds the tables, as Ibis names it.
        ledger: where the account goes.
        progress: told of each table.

    Raises:
        UsageError: the format or the engine is unknown.
        InputError: a table or column is missing, or a value is refused by the engine.
    """
    with ConnectionTables(con, database=database) as there:
        declared = _declared(there, con.name, named)
    with ConnectionTables(con, database=database, keys=_keys(declared)) as tables:
        return assemble(tables, declared, ledger, progress)


def _declared(tables: ConnectionTables, engine: str, named: str | None) -> Format:
    names = set(tables.tables())
    if named is not None:
        wanted = [format_of_mapping(Path(named)) if is_mapping(named) else format_named(named)]
    else:
        wanted = list(formats().values())
    whole = [each for each in wanted if set(each.needed) <= names]
    if whole:
        return min(whole, key=lambda each: (each.misfit(tables.columns), -len(each.needed)))
    nearest = max(wanted, key=lambda each: len(set(each.needed) & names))
    lacking = [table for table in nearest.needed if table not in names]
    raise InputError(
        f"missing table: {', '.join(lacking)}",
        file=f"the {engine} connection",
        found=", ".join(sorted(names)[:20]) or "no tables",
        expected=f"{nearest.title}: " + ", ".join(nearest.needed),
        todo="name the schema that holds the tables: read(con, database=...)",
    )


def _keys(form: Format) -> dict[str, str]:
    """By table, the column of the patient."""
    return {
        unit.table: unit.columns["patient"].columns[0]
        for unit in (form.patients, form.visits, *form.events)
        if "patient" in unit.columns and unit.columns["patient"].columns
    }
