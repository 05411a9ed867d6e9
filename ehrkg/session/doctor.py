"""What ``ehrkg doctor`` tells: what is installed, what is missing for what, what fits here."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

HERE, MISSING = "here", "missing"

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for.

    Attributes:
        kind: ``package``, ``extra``, ``program`` or ``machine``.
        name: of the thing.
        state: ``here`` or ``missing``.
        found: its version or place, or what of it is missing.
        needed_for: what it is good for.
        todo: how it comes in, where it is missing.
        amount: of the machine: cores, bytes or event rows; -1 where there is none to tell.
    """

    kind: str
    name: str
    state: str
    found: str
    needed_for: str
    todo: str = ""
    amount: int = -1


def examine(folder: Path = Path()) -> list[Finding]:
    """Look at the installation and at the machine; nothing is imported, written or sent.

    Args:
        folder: where builds would be left; its disk is measured.

    >>> sorted({finding.kind for finding in examine()})
    ['extra', 'machine', 'package', 'program']
    """
    rows = table()
    return [*_packages(), *_extras(rows), *_programs(rows), *_machine(folder)]


def table() -> Rows:
    """The rows of doctor.yaml: ``extras`` and ``programs``.

    >>> "openai" in [row["name"] for row in table()["extras"]]
    True
    """
    text = Path(__file__).with_name("doctor.yaml").read_text(encoding="utf-8")
    rows: Rows = yaml.safe_load(text)
    return rows


def _packages() -> Iterator[Finding]:
    from ehrkg.session.installed import always_asked_for, lacking, version_of

    yield Finding("package", "Python", HERE, platform.python_version(), "ehrkg")
    version = version_of("ehrkg")
    if version is None:
        yield Finding(
            "package",
            "ehrkg",
            MISSING,
            "it runs from a folder, so that what it asks for is not known",
            "a look at its extras",
            "pip install it",
        )
        return
    gone = lacking(always_asked_for("ehrkg"))
    yield Finding(
        "package",
        "ehrkg",
        MISSING if gone else HERE,
        "lacks " + ", ".join(gone) if gone else version,
        "everything that needs no extra",
        "pip install ehrkg" if gone else "",
    )


def _extras(rows: Rows) -> Iterator[Finding]:
    from ehrkg.session.installed import brought_by, extras_of, lacking, named_by, version_of

    offered = extras_of("ehrkg")
    for row in rows["extras"]:
        if row["name"] not in offered:
            continue
        gone = lacking(brought_by("ehrkg", row["name"]))
        named = (each.name for each in named_by("ehrkg", row["name"]))
        there = ", ".join(f"{name} {version_of(name)}" for name in named)
        yield Finding(
            "extra",
            row["name"],
            MISSING if gone else HERE,
            "lacks " + ", ".join(gone) if gone else there,
            row["needed_for"],
            f"pip install 'ehrkg[{row['name']}]'" if gone else "",
        )


def _programs(rows: Rows) -> Iterator[Finding]:
    for row in rows["programs"]:
        path = os.environ.get("PATH", os.defpath)
        if "folders" in row:
            path = os.pathsep.join(str(each) for glob in row["folders"] for each in _folders(glob))
        places = (shutil.which(command, path=path or os.devnull) for command in row["commands"])
        place = next((each for each in places if each), "")
        yield Finding(
            "program",
            row["name"],
            HERE if place else MISSING,
            place,
            row["needed_for"],
            "" if place else row["todo"],
        )


def _folders(glob: str) -> Iterator[Path]:
    """The folders that an absolute pattern names."""
    yield from Path("/").glob(glob.lstrip("/"))


def _machine(folder: Path) -> Iterator[Finding]:
    """Cores, memory and disk, and the largest build that they let one expect."""
    from ehrkg.foundation.workers import cores
    from ehrkg.session import machine
    from ehrkg.session.estimate import DISK, MEASURED_ROWS, MEMORY, MIB, SECONDS

    n_cores, memory, disk = cores(), machine.memory(), machine.disk(folder)
    yield Finding("machine", "cores", HERE, f"{n_cores}", "speed", amount=n_cores)
    if memory is not None:
        said = f"{memory / MIB:,.0f} MiB"
        yield Finding("machine", "memory", HERE, said, "builds", amount=memory)
    said = f"{disk / MIB:,.0f} MiB free"
    yield Finding("machine", "disk", HERE, said, "builds", amount=disk)
    bounds = {"disk": DISK.rows_within(disk)}
    if memory is not None:
        bounds["memory"] = MEMORY.rows_within(memory)
    bound = min(bounds, key=lambda name: (bounds[name], name))
    rows = bounds[bound]
    said = (
        f"about {rows:,} event rows, {rows / MEASURED_ROWS:,.1f} times the MIMIC-IV demo "
        f"(the {bound} ends there), in about {SECONDS.at(rows) / 60:,.0f} minutes on two cores"
    )
    yield Finding(
        "machine",
        "largest build",
        HERE if rows else MISSING,
        said if rows else f"none: too little {bound}",
        "a rough guess, on a line through two builds that were measured",
        "" if rows else f"a machine with more {bound}",
        amount=rows,
    )


def command(
    folder: Annotated[
        Path, typer.Option("--for", help="Where builds would be left; its disk is measured.")
    ] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="The rows as JSON.")] = False,
) -> None:
    """Tell what is installed, what is missing for what, and what this machine can take."""
    findings = examine(folder)
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in findings], ensure_ascii=False, indent=1))
    else:
        _show(findings)


def _show(findings: Sequence[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(show_edge=False)
    for name in ("what", "", "found", "needed for"):
        shown.add_column(name, overflow="fold")
    for each in findings:
        style = "" if each.state == HERE else "bold"
        told = each.needed_for + (f"\ndo: {each.todo}" if each.todo else "")
        named = f"{each.kind} {each.name}"
        shown.add_row(*(Text(cell, style) for cell in (named, each.state, each.found, told)))
    console = Console()
    (console if console.is_terminal else Console(width=160)).print(shown)
