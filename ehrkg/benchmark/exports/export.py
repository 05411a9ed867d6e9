"""What a format of export is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Export:
    """A format that a benchmark can be written in.

    Attributes:
        name: by which it is asked for.
        title: what it is for, in a few words.
        opened: how its own library opens it, as a line of code or of a shell.
        write: called with the benchmark, an empty folder and the options.
        options: names of the options that ``write`` takes.
        datasheet: whether DATASHEET.md goes beside it (its own files hold it otherwise).

    >>> from ehrkg.benchmark.exports import EXPORTS
    >>> EXPORTS["inspect"].name
    'inspect'
    """

    name: str
    title: str
    opened: str
    write: Callable[..., Any]
    options: tuple[str, ...] = ()
    datasheet: bool = True
