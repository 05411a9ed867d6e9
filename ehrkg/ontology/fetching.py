"""Bringing whole ontologies from their homes: never half a file, and a cut transfer goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ehrkg.foundation.errors import InputError, ServiceError, UsageError
from ehrkg.foundation.storage import file_hash, write_atomically
from ehrkg.ontology.formats.tsv import head
from ehrkg.ontology.sources import DEFAULT_RELIABILITY

if TYPE_CHECKING:
    import requests

CHUNK = 1 << 14
"""Bytes written at a time: what a cut loses at most."""
TRIES = 3
TIMEOUT = (10.0, 60.0)
"""Seconds to reach a home, and between two pieces of a file."""
_NEEDED = ("name", "url", "file", "infores", "licence")


@dataclass(frozen=True)
class Home:
    """A row of homes.yaml.

    Attributes:
        name: what ``ehrkg fetch`` calls it.
        url: where it lives.
        file: the name it gets here.
        infores, title, origin, licence, reliability, text: as in a source.yaml, which is written
            beside the file.
        sha256: of a release that is fixed; "" where the address gives the current one.
    """

    name: str
    url: str
    file: str
    infores: str
    licence: str
    title: str = ""
    origin: str = ""
    reliability: float = DEFAULT_RELIABILITY
    text: str = ""
    sha256: str = ""


@cache
def homes(path: Path | None = None) -> Mapping[str, Home]:
    """The homes that ship with the package, or those of a file like homes.yaml.

    Raises:
        InputError: the file is no such table.

    >>> homes()["doid"].licence
    'CC0-1.0'
    """
    place = path or Path(__file__).with_name("homes.yaml")
    try:
        rows: Any = yaml.safe_load(place.read_text(encoding="utf-8"))
    except (yaml.YAMLError, OSError) as error:
        raise InputError(
            "no table of homes", file=place, found=str(error).splitlines()[0]
        ) from error
    if not isinstance(rows, list):
        raise InputError("no table of homes", file=place, expected="a list of rows")
    return {home.name: home for home in (_home(row, place) for row in rows)}


def _home(row: Any, place: Path) -> Home:
    given = row if isinstance(row, dict) else {}
    known = set(Home.__dataclass_fields__)
    missing = [word for word in _NEEDED if not given.get(word)]
    if missing or set(given) - known:
        raise InputError(
            f"a home lacks {', '.join(missing)}" if missing else "a home has a word too much",
            file=place,
            found=str(given.get("name") or row)[:200],
            expected=", ".join(sorted(known)),
            todo="mend the row",
        )
    if Path(str(given["file"])).name != str(given["file"]):
        raise InputError("a home's file is no plain name", file=place, found=given["file"])
    return Home(**given)


def fetch(
    name: str, folder: Path, *, table: Mapping[str, Home] | None = None, again: bool = False
) -> Path:
    """Bring an ontology to ``folder/NAME/``, with a source.yaml that keeps its licence and edition.

    A file that is there already is kept. A transfer that is cut is tried again from where it
    stopped, now and at the next call; the file appears whole or not at all.

    Args:
        name: of a home.
        folder: where to; made if it is not there.
        table: the homes; those that ship by default.
        again: fetch it although it is there.

    Returns:
        The file.

    Raises:
        UsageError: there is no such home.
        ServiceError: the home can't be reached, has no such file, or cuts the transfer again and
            again.
        InputError: what came is not what the table's hash says, or it can't be written.
    """
    known = homes() if table is None else table
    if name not in known:
        raise UsageError(f"no such ontology: {name!r}", todo=f"use one of {', '.join(known)}")
    home = known[name]
    target = folder / home.name / home.file
    if target.is_file() and not again and home.sha256 in ("", file_hash(target)):
        return target
    _retrieve(home, target)
    _describe(home, target)
    return target


def _retrieve(home: Home, target: Path) -> None:
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{home.file}.new")
        fresh.unlink(missing_ok=True)  # of a call that was killed: pooch would keep it
        pooch.retrieve(
            home.url,
            known_hash=f"sha256:{home.sha256}" if home.sha256 else None,
            fname=fresh.name,
            path=target.parent,
            downloader=_Transfer(target.with_name(f".{home.file}.part")),
        )
        fresh.replace(target)
    except ValueError as error:  # how pooch says that a hash differs
        raise InputError(
            "what came is not the release that the table names",
            file=home.url,
            found=str(error).splitlines()[0][:300],
            expected=f"SHA-256 {home.sha256}",
            todo="fetch it again; if it stays so, the release has changed: ask its owner",
        ) from error
    except OSError as error:
        raise InputError(
            f"this file can't be written: {error.strerror or error}",
            file=target,
            todo="name a folder that you may write to, on a disk with room",
        ) from error


@dataclass(frozen=True)
class _Transfer:
    """A downloader for pooch that goes on where an earlier transfer stopped.

    Attributes:
        part: what came so far; beside it, ``.tag`` names the edition that it is a part of.
    """

    part: Path

    def __call__(self, url: str, output_file: str, _pooch: object) -> None:
        """Fill pooch's temporary file with the whole content of an address."""
        for attempt in range(1, TRIES + 1):
            if self._go_on(url, last=attempt == TRIES):
                break
        self._tag.unlink(missing_ok=True)
        self.part.replace(output_file)

    @property
    def _tag(self) -> Path:
        return self.part.with_name(f"{self.part.name}.tag")

    def _go_on(self, url: str, *, last: bool) -> bool:
        """One attempt; whether the file is whole now."""
        import requests

        have = self.part.stat().st_size if self.part.is_file() and self._tag.is_file() else 0
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers |= {"Range": f"bytes={have}-", "If-Range": self._tag.read_text()}
        try:
            with _reached(url, headers) as answer:
                self._receive(answer)
            return True
        except requests.RequestException as error:
            got = self.part.stat().st_size if self.part.is_file() else 0
            if not last:
                return False
            raise ServiceError(
                f"{url} can't be reached" if not got else f"the transfer of {url} was cut",
                todo="try again when you are online"
                + (f": it goes on after {got:,} bytes" if got else "")
                + "; or bring the file here by other means and name it with --knowledge",
            ) from error

    def _receive(self, answer: requests.Response) -> None:
        """Write what comes; from the beginning where the home does not go on."""
        goes_on = answer.status_code == 206
        tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
        if tag and not tag.startswith("W/"):
            self._tag.write_text(tag)
        elif not goes_on:
            self._tag.unlink(missing_ok=True)
        with self.part.open("ab" if goes_on else "wb") as sink:
            for piece in answer.iter_content(CHUNK):
                sink.write(piece)


@contextmanager
def _reached(url: str, headers: Mapping[str, str]) -> Iterator[requests.Response]:
    import requests

    with requests.get(url, headers=dict(headers), stream=True, timeout=TIMEOUT) as answer:
        if answer.status_code not in (200, 206):
            raise ServiceError(
                f"{answer.url} answered {answer.status_code} {answer.reason}",
                todo="look whether the ontology has moved, and name its new home with --homes; or "
                "bring the file here by other means and name it with --knowledge",
            )
        yield answer


def _describe(home: Home, target: Path) -> None:
    """Write the source.yaml that readers of the file take licence and origin from."""
    edition = next(
        (
            line.partition(":")[2].strip()
            for line in head(target, 60)
            if line.lstrip("#").startswith(("data-version:", "version:"))
        ),
        "",
    )
    row = {
        "infores": home.infores,
        "name": home.title or home.name,
        "origin": home.origin or home.infores,
        "licence": home.licence,
        "url": home.url,
        "version": edition,
        "reliability": home.reliability,
        "text": home.text,
    }
    text = yaml.safe_dump(row, sort_keys=False, allow_unicode=True)
    write_atomically(
        target.with_name("source.yaml"), lambda path: path.write_text(text, encoding="utf-8")
    )
