"""Public names that are loaded when first used, so that importing a package costs nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` (PEP 562) of a package whose names live in modules below it.

    Args:
        package: the package's own ``__name__``.
        homes: name to the module that holds it: of the package, or by its whole path.

    >>> load = lazy_names("ehrkg.foundation", {"hash64": "hashing"})
    >>> load("hash64").__module__
    'ehrkg.foundation.hashing'
    >>> load("nothing")
    Traceback (most recent call last):
    AttributeError: module 'ehrkg.foundation' has no attribute 'nothing'
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        inside = not home.startswith(f"{package.partition('.')[0]}.")
        return getattr(importlib.import_module(f"{package}.{home}" if inside else home), name)

    return load
