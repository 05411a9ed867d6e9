"""Which packages are installed of those that a package asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import metadata

from packaging.requirements import Requirement


def version_of(package: str) -> str | None:
    """The version that is installed; None where it is not.

    >>> version_of("no-such-package") is None
    True
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def extras_of(package: str) -> Sequence[str]:
    """The extras that an installed package offers; none where it is not installed.

    >>> "postgres" in extras_of("ibis-framework"), extras_of("no-such-package")
    (True, [])
    """
    try:
        return metadata.metadata(package).get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return []


def named_by(package: str, extra: str) -> Iterator[Requirement]:
    """What an extra of an installed package names, beside what the package always asks for.

    >>> "psycopg" in {each.name for each in named_by("ibis-framework", "postgres")}
    True
    """
    for wanted in map(Requirement, metadata.requires(package) or ()):
        marker = wanted.marker
        if marker and not marker.evaluate({"extra": ""}) and marker.evaluate({"extra": extra}):
            yield wanted


def brought_by(package: str, extra: str) -> Iterator[Requirement]:
    """What an extra of an installed package brings: what it names, and what their extras name.

    >>> "psycopg" in {each.name for each in brought_by("ibis-framework", "postgres")}
    True
    """
    for wanted in named_by(package, extra):
        yield wanted
        if version_of(wanted.name):
            for inner in wanted.extras:
                yield from brought_by(wanted.name, inner)


def always_asked_for(package: str) -> Iterator[Requirement]:
    """What an installed package asks for without any extra.

    >>> "sqlglot" in {each.name for each in always_asked_for("ibis-framework")}
    True
    """
    for wanted in map(Requirement, metadata.requires(package) or ()):
        if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
            yield wanted


def lacking(wanted: Iterator[Requirement]) -> list[str]:
    """Those that are not installed, or are in a version that does not fit, in words.

    >>> lacking(iter([Requirement("no-such-package>=2"), Requirement("packaging>=1")]))
    ['no-such-package>=2']
    """
    return [
        f"{each.name}{each.specifier}" + (f" (here: {found})" if found else "")
        for each in wanted
        if not (found := version_of(each.name))
        or not each.specifier.contains(found, prereleases=True)
    ]
