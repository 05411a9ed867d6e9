"""What ``ehrkg fetch`` does: bring ontologies from their homes, and say under which licence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ehrkg.ontology.fetching import Home


def table_lines(table: Path | None = None) -> Iterator[str]:
    """A line for each ontology that has a home: name, licence, what it is, where it lives.

    >>> next(line for line in table_lines() if line.startswith("doid"))
    'doid        CC0-1.0          Human Disease Ontology  http://purl.obolibrary.org/obo/doid.obo'
    """
    from ehrkg.ontology.fetching import homes

    for home in homes(table).values():
        yield f"{home.name:<12}{home.licence:<17}{home.title or home.text}  {home.url}"


def fetch_lines(
    names: Sequence[str], folder: Path, *, table: Path | None = None, again: bool = False
) -> Iterator[str]:
    """Bring the ontologies, one after the other, and say of each what to do with it.

    Raises:
        UsageError, ServiceError, InputError: see ``ehrkg.ontology.fetching.fetch``.
    """
    from ehrkg.ontology.fetching import fetch, homes

    known = homes(table)
    for name in names:
        path = fetch(name, folder, table=known, again=again)
        yield _told(known[name], path)


def _told(home: Home, path: Path) -> str:
    size = path.stat().st_size / 2**20
    return (
        f"{home.name}: {path} ({size:,.1f} MiB), {home.title}, licence {home.licence}. "
        f"Use it: ehrkg build ... --knowledge {path}"
    )


def command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Ontologies to bring: mondo, doid, hp, ...")
    ] = None,
    to: Annotated[Path, typer.Option(help="The folder to put them in.")] = Path("knowledge"),
    list_: Annotated[bool, typer.Option("--list", help="Show what can be fetched.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Fetch even what is there.")] = False,
    table: Annotated[
        Path | None,
        typer.Option("--homes", help="A table of homes of yours instead of the one that ships."),
    ] = None,
) -> None:
    """Bring whole ontologies from their homes on the web, each with its licence."""
    lines = (
        table_lines(table)
        if list_ or not names
        else fetch_lines(names, to, table=table, again=again)
    )
    for line in lines:
        typer.echo(line)
