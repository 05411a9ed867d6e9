"""What ``ehrkg fetch`` does: bring ontologies from their homes, and say under which licence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ehrkg.ontology.fetching import Home, fetch, homes


def table_lines(table: Path | None = None) -> Iterator[str]:
    """A line for each ontology that has a home: name, licence, what it is, where it lives.

    >>> next(line for line in table_lines() if line.startswith("doid"))
    'doid        CC0-1.0          Human Disease Ontology  http://purl.obolibrary.org/obo/doid.obo'
    """
    for home in homes(table).values():
        yield f"{home.name:<12}{home.licence:<17}{home.title or home.text}  {home.url}"


def fetch_lines(
    names: Sequence[str], folder: Path, *, table: Path | None = None, again: bool = False
) -> Iterator[str]:
    """Bring the ontologies, one after the other, and say of each what to do with it.

    Raises:
        UsageError, ServiceError, InputError: see ``ehrkg.ontology.fetching.fetch``.
    """
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
