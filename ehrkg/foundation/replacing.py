"""Many files of a folder replaced together: all of them, or none.

The new files are made in ``OUT/.work/replacing.part``, under the paths that they shall have below
``OUT``. Renaming that folder to ``replacing`` is the moment from which they count; whoever is cut
off after it finishes the moves later, whoever is cut off before it has changed nothing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from ehrkg.foundation.errors import InputError

WORK = ".work"
"""The folder in ``OUT`` for what is not finished."""

_REMOVED = "removed.json"


class Replacement:
    """New files for a folder, none of which counts before ``commit``.

    Args:
        out: the folder. What an earlier replacement, cut off before its commit, left is removed.

    >>> import tempfile
    >>> out = Path(tempfile.mkdtemp())
    >>> _ = (out / "a.txt").write_text("old")
    >>> new = Replacement(out)
    >>> _ = new.path("a.txt").write_text("new")
    >>> (out / "a.txt").read_text()
    'old'
    >>> new.commit()
    >>> (out / "a.txt").read_text()
    'new'
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self._part = out / WORK / "replacing.part"
        shutil.rmtree(self._part, ignore_errors=True)
        (self._part / "files").mkdir(parents=True)

    def path(self, name: str) -> Path:
        """Where to write the new version of the file with this path below the folder."""
        path = self._part / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def commit(self, removed: Iterable[str] = ()) -> None:
        """Put every new file in its place.

        Args:
            removed: paths, below the folder, of files that shall be no more.

        Raises:
            InputError: a file can't be moved; the same call goes on where it stood.
        """
        text = json.dumps(sorted(removed))
        (self._part / _REMOVED).write_text(text, encoding="utf-8")
        self._part.replace(committed(self.out))
        finish(self.out)


def finish(out: Path) -> bool:
    """Finish a replacement that was cut off after its commit.

    Returns:
        Whether there was one.

    Raises:
        InputError: a file can't be moved or removed.
    """
    ready = committed(out)
    if not ready.is_dir():
        return False
    files = ready / "files"
    try:
        for path in sorted(files.rglob("*")):
            if path.is_file():
                target = out / path.relative_to(files)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
        for name in json.loads((ready / _REMOVED).read_text(encoding="utf-8")):
            (out / name).unlink(missing_ok=True)
        shutil.rmtree(ready)
    except OSError as error:
        raise InputError(
            f"a file can't be replaced: {error.strerror or error}",
            file=error.filename or out,
            todo="mend that, and give the same command again: it goes on where it stood",
        ) from error
    return True


def committed(out: Path) -> Path:
    """Where the files of a replacement lie from its commit until the last one is in its place."""
    return out / WORK / "replacing"
