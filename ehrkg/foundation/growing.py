"""A finished build that becomes the beginning of a larger one.

What was read stays, and what models answered; everything that was worked out from the whole corpus
goes. A file says so from the first step to the last, so whoever is cut off goes on later.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from ehrkg.foundation.replacing import WORK
from ehrkg.foundation.storage import write_atomically

IDENTITY = "growing.json"
"""What the larger build is made of, for as long as the smaller one is being taken down."""

MANIFEST = "manifest.json"
"""The file that says that a build is finished."""

_READ = re.compile(r"read-\d+")


def begin(out: Path, identity: str) -> None:
    """Make a finished build the beginning of another.

    Args:
        out: its folder, held by this process.
        identity: what the larger build is made of, as JSON.
    """
    write_atomically(
        out / WORK / IDENTITY, lambda path: path.write_text(identity, encoding="utf-8")
    )
    finish(out)


def finish(out: Path) -> None:
    """Finish what ``begin`` began, where it was cut off."""
    work = out / WORK
    if not (work / IDENTITY).is_file():
        return
    (out / MANIFEST).unlink(missing_ok=True)
    for stage in sorted(work.iterdir()):
        # A stage has a ledger; a folder without one holds answers of models.
        if (stage / "ledger.json").is_file() and not _READ.fullmatch(stage.name):
            shutil.rmtree(stage)
    (work / IDENTITY).replace(work / "identity.json")
