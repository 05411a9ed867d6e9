"""Where the shipped folders lie: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from ehrkg.foundation.errors import UsageError

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(folder: str) -> Path:
    """The path of a shipped folder (``ontologies`` or ``cypher``).

    Raises:
        UsageError: the installation lacks it.

    >>> shipped("ontologies").name
    'ontologies'
    """
    for root in (_PACKAGE / "_shipped", _PACKAGE.parent):
        if (root / folder).is_dir():
            return root / folder
    raise UsageError(f"the shipped folder {folder!r} is not there", todo="install ehrkg again")
