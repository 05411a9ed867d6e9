"""A benchmark carried to other tools: one file a format, found by being there.

A format is a module of ``ehrkg.benchmark.exports.formats`` with a constant ``EXPORT``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ehrkg.benchmark.exports.datasheet import DATASHEET, datasheet
from ehrkg.benchmark.exports.export import Export
from ehrkg.benchmark.exports.writing import write_text
from ehrkg.foundation.errors import InputError, UsageError

if TYPE_CHECKING:
    from ehrkg.benchmark.opened.benchmark import Benchmark

__all__ = ["EXPORTS", "Export", "datasheet", "export"]


@cache
def _found() -> Mapping[str, Export]:
    from ehrkg.benchmark.exports import formats

    modules = [
        importlib.import_module(f"{formats.__name__}.{module.name}")
        for module in pkgutil.iter_modules(formats.__path__)
    ]
    return {module.EXPORT.name: module.EXPORT for module in modules}


class _Exports(Mapping[str, Export]):
    """Imports the formats when first asked, so that importing the package costs nothing."""

    def __getitem__(self, key: str) -> Export:
        return _found()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(_found()))

    def __len__(self) -> int:
        return len(_found())


EXPORTS: Mapping[str, Export] = _Exports()
"""Every format by name.

>>> EXPORTS["hf"].title
'a Hugging Face dataset with card and Croissant metadata'
"""


def export(bench: Benchmark, to: str, folder: Path, **options: Any) -> Path:
    """Write a benchmark in a format; see ``Benchmark.export``.

    Raises:
        UsageError: there is no such format or option, there is nothing to write, or the format
            can't hold it.
        InputError: the folder holds something, or can't be written.

    >>> import tempfile
    >>> from ehrkg.benchmark import Benchmark, ITEMS, TEMPLATES
    >>> none = Benchmark(ITEMS.empty_table(), TEMPLATES.empty_table())
    >>> export(none, "jsonlines", Path(tempfile.mkdtemp()))
    Traceback (most recent call last):
    ehrkg.foundation.errors.UsageError: no such format: 'jsonlines'; near it: jsonl
      do: use csv, ...
    """
    if to not in EXPORTS:
        near = get_close_matches(to, list(EXPORTS), n=2, cutoff=0.5)
        raise UsageError(
            f"no such format: {to!r}" + (f"; near it: {', '.join(near)}" if near else ""),
            todo=f"use {', '.join(EXPORTS)}",
        )
    if not len(bench):
        raise UsageError(
            "there is no question to write", todo="loosen the filter that left none: bench.recipe"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            "this folder holds something already",
            file=folder,
            todo="name a new folder, or an empty one",
        )
    found = EXPORTS[to]
    unknown = sorted(set(options) - set(found.options))
    if unknown:
        raise UsageError(
            f"the format {to} has no option {unknown[0]!r}",
            todo=f"use {', '.join(found.options) or 'none'}",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"this folder can't be made: {error.strerror or error}",
            file=folder,
            todo="name a place that you may write to",
        ) from error
    found.write(bench, folder, **options)
    if found.datasheet:
        write_text(datasheet(bench), folder / DATASHEET)
    return folder
