"""How a benchmark was cut out of a whole one: steps as plain data that can be done again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ehrkg.foundation.errors import InputError
from ehrkg.foundation.workspace import write_json
from ehrkg.graph.parameters import plain

VERSION = 1
"""Of the form in which recipes are written."""

Step = Mapping[str, Any]
"""One cut: ``{"do": name}`` and the arguments of the method of that name."""


@dataclass(frozen=True)
class Recipe:
    """The steps that cut a benchmark out of a whole one, oldest first.

    Attributes:
        source: the fingerprint of the whole.
        steps: each names a method of ``Benchmark`` under "do"; the rest are its arguments.
        items: how many questions came out.
        digest: a hash of their ids.

    >>> print(Recipe("0" * 32, ({"do": "filter", "task": "treatment"},), 12, "ab"))
    from 00000000: filter task='treatment' -> 12 items
    """

    source: str
    steps: tuple[Step, ...]
    items: int
    digest: str

    def __str__(self) -> str:
        words = "; ".join(map(in_words, self.steps)) or "the whole"
        return f"from {self.source[:8]}: {words} -> {self.items:,} items"

    def as_json(self) -> dict[str, Any]:
        """The recipe as plain values."""
        return {
            "recipe": VERSION,
            "source": self.source,
            "steps": [dict(step) for step in self.steps],
            "items": self.items,
            "digest": self.digest,
        }

    def write(self, path: str | Path) -> Path:
        """Write the recipe as JSON, by rename.

        Raises:
            InputError: the file can't be written.
        """
        write_json(self.as_json(), Path(path))
        return Path(path)

    @classmethod
    def read(cls, path: str | Path) -> Recipe:
        """Read a recipe that ``write`` wrote.

        Raises:
            InputError: the file is not there, or holds no recipe of this version.
        """
        file = Path(path)
        try:
            said = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(
                f"this recipe can't be read: {error}",
                file=file,
                todo="give the file that bench.recipe.write(path) wrote",
            ) from error
        return cls.of(said, file=file)

    @classmethod
    def of(cls, said: object, *, file: Path | None = None) -> Recipe:
        """A recipe out of plain values.

        Raises:
            InputError: they are none.
        """
        fields = ("recipe", "source", "steps", "items", "digest")
        if not isinstance(said, Mapping) or any(name not in said for name in fields):
            raise InputError(
                "this is no recipe",
                file=file,
                found=", ".join(map(str, said)) if isinstance(said, Mapping) else said,
                expected=", ".join(fields),
                todo="give the file that bench.recipe.write(path) wrote",
            )
        if said["recipe"] != VERSION:
            raise InputError(
                "this recipe is of another version",
                file=file,
                found=said["recipe"],
                expected=str(VERSION),
                todo="use the version of ehrkg that wrote it, or cut the benchmark anew",
            )
        return cls(said["source"], tuple(said["steps"]), said["items"], said["digest"])


def in_words(step: Step) -> str:
    """One step, on one line.

    >>> in_words({"do": "sample", "n": 5, "by": ["task"], "seed": 7})
    "sample n=5 by=['task'] seed=7"
    """
    said = " ".join(f"{name}={_brief(value)}" for name, value in step.items() if name != "do")
    return f"{step['do']} {said}".rstrip()


def as_said(value: Any) -> Any:
    """A condition's value as a recipe keeps it.

    >>> as_said({"b", "a"})
    ['a', 'b']
    """
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    return plain(value)


def _brief(value: Any) -> str:
    if isinstance(value, list) and len(value) > 6:
        return f"{len(value):,} values"
    return " ".join(repr(value).split())


def digest_of(ids: Iterable[str]) -> str:
    """A hash of item ids, in their order.

    >>> digest_of(["a", "b"]) == digest_of(["a", "b"]) != digest_of(["ab"])
    True
    """
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()[:32]
