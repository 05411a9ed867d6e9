"""Is a graph's file whole? The engine itself does not notice bytes that were overwritten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ehrkg.foundation.errors import CheckError, InputError, ServiceError
from ehrkg.graph.store import check_there

_CHILD = """
import sys
from ehrkg.foundation.errors import EhrkgError
from ehrkg.graph.store import open_store
try:
    with open_store(sys.argv[1], build=sys.argv[2], read_only=True) as store:
        print(store.content_hash())
except EhrkgError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def check_file(path: str | Path, *, build: str = "default", expected: str | None = None) -> str:
    """Read all of a graph's file and compare its content hash with the one that is known.

    A child process reads it: on damaged pages the engine may end the process that it runs in.

    Args:
        path: the file, such as OUT/graph.lbug.
        build: the build in it.
        expected: its content hash; that of ``manifest.json`` beside the file for ``None``.

    Returns:
        The content hash.

    Raises:
        CheckError: it holds something else than ``expected`` says.
        InputError: the file is not there or damaged, or no hash is known.
        ServiceError: another process holds it.

    >>> import tempfile
    >>> from ehrkg.graph.store import open_store
    >>> file = Path(tempfile.mkdtemp()) / "graph.lbug"
    >>> with open_store(file) as store:
    ...     known = store.content_hash()
    >>> check_file(file, expected=known) == known
    True
    """
    check_there(path)
    path = Path(path)
    wanted = expected or _known(path)
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _CHILD, str(path), build],
        capture_output=True,
        text=True,
        check=False,
    )
    found = done.stdout.strip()
    if done.returncode == ServiceError.exit_code:
        raise ServiceError(found)
    if expected and not done.returncode and found != expected:
        raise other_content(found, expected)
    if done.returncode or found != wanted:
        raise InputError(
            "the graph is damaged: it does not hold what was written",
            file=path,
            found=found or "pages that the engine breaks down on",
            expected=wanted,
            todo="build it again, or copy it again from where it came",
        )
    return found


def other_content(found: str, expected: str) -> CheckError:
    """A graph that can be read and is another one than was expected."""
    return CheckError(
        f"the graph has another content: {found} instead of {expected}",
        todo="build it again, or copy it again from where it came",
    )


def _known(path: Path) -> str:
    manifest = path.with_name("manifest.json")
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8"))["graph"]["content"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "no content hash of this graph is known",
            file=manifest,
            todo="give the one that the build or the copy printed: --expect HASH",
        ) from error
