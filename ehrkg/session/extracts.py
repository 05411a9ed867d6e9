"""The extracts that a build is made of: one folder of tables, several, or one more than before."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ehrkg import ehr
from ehrkg.ehr.joining import with_source
from ehrkg.ehr.schema import Hospital
from ehrkg.ehr.staging import STAGE
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.keys import SecretKey, key_folder, key_with, read_key
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.progress import Progress
from ehrkg.foundation.workspace import Workspace, read_identity, read_manifest
from ehrkg.session.manifest import knowledge_hashes, table_hashes
from ehrkg.session.settings import Settings

_PLACED = re.compile(r"tables/extract-(\d+)/(.*)")


@dataclass(frozen=True)
class Extracts:
    """What a build reads.

    Attributes:
        folders: of each extract the folder, or ``None`` where the build has read it before.
        inputs: the hash of every file, by its role and name.
        earlier: the inputs of the build that these extend, or ``None``.
    """

    folders: tuple[Path | None, ...]
    inputs: dict[str, str]
    earlier: dict[str, str] | None = None

    @property
    def planted(self) -> Path:
        """A folder in which a synthetic extract would have left what was planted in it."""
        return next((folder for folder in self.folders if folder), Path("-"))


def extracts_of(source: str | Path | Sequence[str | Path], settings: Settings) -> Extracts:
    """The extracts of a build from the beginning.

    Args:
        source: a folder of tables, or several, in the order in which they came.
        settings: the format and further knowledge.

    Raises:
        InputError: a path is not there, or a table is missing.
        UsageError: no folder is named.
    """
    folders = [Path(source)] if isinstance(source, str | Path) else [Path(one) for one in source]
    if not folders:
        raise UsageError("which tables?", todo="name the folder that holds them")
    tables = [table_hashes(folder, format=settings.format) for folder in folders]
    return Extracts(
        tuple(folders), _named(tables) | knowledge_hashes(settings.knowledge, settings.mapping)
    )


def extracts_with(source: str | Path, out: Path, settings: Settings) -> Extracts:
    """The extracts of a build that is there, and one more.

    Args:
        source: the folder of the new extract.
        out: the folder of a finished build, or of one to which this extract is being added.
        settings: as that build had them.

    Raises:
        InputError: there is no build, or a path is not there, or a table is missing.
        UsageError: the build is not finished, or patients were taken out of it.
    """
    inputs = read_identity(out)["inputs"]
    before = _unnamed(inputs)
    new = table_hashes(Path(source), format=settings.format)
    knowledge = knowledge_hashes(settings.knowledge, settings.mapping)
    if len(before) > 1 and new == before[-1]:
        return Extracts((*[None] * (len(before) - 1), Path(source)), _named(before) | knowledge)
    if new in before:
        raise UsageError("this extract is in the build already", todo="name the new one's folder")
    if read_manifest(out).get("forgotten"):
        raise UsageError(
            "patients were taken out of this build, and what is read anew would hold them again",
            todo="take them out of the tables, and build from all extracts in a new --out",
        )
    return Extracts(
        (*[None] * len(before), Path(source)),
        _named([*before, new]) | knowledge,
        earlier=_named(before) | knowledge,
    )


def key_of(out: Path, key_file: Path | None = None) -> SecretKey | None:
    """The key of a build under pseudonyms, for one more extract; ``None`` for another build.

    Raises:
        UsageError: it is not to be found.
    """
    fingerprint = read_identity(out)["settings"].get("pseudonymise")
    if fingerprint is None:
        return None
    key = read_key(key_file) if key_file else key_with(fingerprint)
    if key is None:
        raise UsageError(
            f"the key of this build's pseudonyms is not in {key_folder()}",
            todo="name its file: --key-file FILE",
        )
    return key


def read_extracts(
    work: Workspace,
    extracts: Extracts,
    settings: Settings,
    progress: Callable[[str], Progress],
) -> Hospital:
    """Read what was not read before, each extract a stage of its own, and join them."""
    hospitals, unusable = [], []
    for place, folder in enumerate(extracts.folders, 1):
        hospitals.append(_read(work, place, folder, settings, progress))
        rows = work.ledger.quarantine.pop(STAGE, None)
        if rows is not None:
            unusable.append(with_source(rows, place) if len(extracts.folders) > 1 else rows)
    if unusable:
        work.ledger.quarantine[STAGE] = pa.concat_tables(unusable)
    if len(hospitals) == 1:
        return hospitals[0]
    progress("join")
    return work.stage("join", lambda ledger: ehr.join(hospitals, ledger=ledger))


def _read(
    work: Workspace,
    place: int,
    folder: Path | None,
    settings: Settings,
    progress: Callable[[str], Progress],
) -> Hospital:
    def compute(ledger: Ledger) -> Hospital:
        if folder is None:
            raise UsageError(
                f"what was read of extract {place} is no more",
                todo="build from all extracts: ehrkg build FIRST SECOND ... --out OUT",
            )
        return ehr.read(
            folder,
            format=settings.format,
            pseudonymise=settings.pseudonymise,
            ledger=ledger,
            progress=progress("read"),
        )

    return work.stage(f"read-{place}", compute)


def _named(tables: Sequence[dict[str, str]]) -> dict[str, str]:
    """The hashes of tables by role and name; where there are several extracts, by place too."""
    if len(tables) == 1:
        return {f"tables/{name}": found for name, found in tables[0].items()}
    return {
        f"tables/extract-{place}/{name}": found
        for place, each in enumerate(tables, 1)
        for name, found in each.items()
    }


def _unnamed(inputs: dict[str, str]) -> list[dict[str, str]]:
    """The hashes of each extract's tables, by name."""
    found: dict[int, dict[str, str]] = {}
    for role, value in inputs.items():
        placed = _PLACED.fullmatch(role)
        if placed:
            found.setdefault(int(placed[1]), {})[placed[2]] = value
        elif role.startswith("tables/"):
            found.setdefault(1, {})[role.removeprefix("tables/")] = value
    return [found[place] for place in sorted(found)]
