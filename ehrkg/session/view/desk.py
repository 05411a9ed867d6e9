"""A reader's desk: what is to be read, in order, and what this reader said of it so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ehrkg.benchmark.opened.reviews import (
    ANSWER,
    QUESTION,
    RATINGS,
    REMARK,
    Mark,
    Review,
    read_marks,
)
from ehrkg.foundation.errors import UsageError
from ehrkg.session.view.marking import append, now

MOST_LETTERS = 64


@dataclass(frozen=True)
class Desk:
    """What one reader reads.

    Every call reads the marks from the file, so that what a program before this one wrote, or one
    beside it, counts.

    Attributes:
        out: the build's folder.
        what: ``question`` or ``relation``.
        reader: a name.
        shown: by id, in the order in which they are read, a hash of what is read.
        lost: how many were drawn and are not there any more.
    """

    out: Path
    what: str
    reader: str
    shown: Mapping[str, str]
    lost: int = 0

    @property
    def ids(self) -> Sequence[str]:
        """What is read, in order."""
        return list(self.shown)

    def reviews(self) -> dict[str, Review]:
        """What this reader said so far of what is read now, by id."""
        found = read_marks(self.out).reviews(self.what)
        return {
            name: one
            for (reader, name), one in found.items()
            if reader == self.reader and self.shown.get(name) == one.shown
        }

    def is_finished(self, review: Review | None) -> bool:
        """Whether nothing is left to be said before the key may be seen."""
        if review is None or review.answered is None:
            return False
        return review.ratings is not None or self.what != QUESTION

    def progress(self) -> tuple[int, int]:
        """How many are finished, of how many."""
        said = self.reviews()
        return sum(self.is_finished(said.get(name)) for name in self.shown), len(self.shown)

    def about(self) -> dict[str, Any]:
        """What every page of this reader says: who reads what, and how far they are."""
        done, total = self.progress()
        return {
            "reader": self.reader,
            "done": done,
            "total": total,
            "lost": self.lost,
            "what": f"{self.what}s",
        }

    def next(self) -> tuple[int, Review] | None:
        """The place, from 1, of the first that is not finished, and what was said of it."""
        said = self.reviews()
        for place, name in enumerate(self.shown, 1):
            if not self.is_finished(said.get(name)):
                return place, said.get(name, Review(name, self.reader))
        return None

    def finished(self, place: int) -> Review | None:
        """What was said of the one at a place; ``None`` before it is finished."""
        if not 1 <= place <= len(self.shown):
            return None
        review = self.reviews().get(self.ids[place - 1])
        return review if self.is_finished(review) else None

    def answer(self, name: str, answered: Sequence[int | str], comment: str = "") -> None:
        """Record an answer, unless there is one: the first counts."""
        if name in self.shown and name not in self.reviews():
            self._append(name, ANSWER, answered=tuple(answered), comment=comment)

    def rate(self, name: str, ratings: Mapping[str, bool], comment: str) -> None:
        """Record what was found of a question, once it is answered and before the key is seen."""
        review = self.reviews().get(name)
        if review is not None and review.ratings is None:
            self._append(name, RATINGS, ratings=ratings, comment=comment)

    def remark(self, name: str, comment: str) -> None:
        """Record what is added once the key was seen."""
        if comment and self.is_finished(self.reviews().get(name)):
            self._append(name, REMARK, comment=comment)

    def _append(
        self,
        name: str,
        step: str,
        *,
        answered: tuple[int | str, ...] = (),
        ratings: Mapping[str, bool] | None = None,
        comment: str = "",
    ) -> None:
        append(
            self.out,
            Mark(
                self.what,
                name,
                self.reader,
                step,
                now(),
                answered,
                ratings or {},
                comment,
                self.shown[name],
            ),
        )


def reader_named(name: str | None) -> str:
    """A reader's name, as marks hold it.

    Raises:
        UsageError: there is none, or it is no single short line.

    >>> reader_named(" Dr  Who ")
    'Dr Who'
    """
    said = " ".join((name or "").split())
    if not said or len(said) > MOST_LETTERS or not said.isprintable():
        raise UsageError(
            "who reads?" if not said else f"{said[:80]!r} is no reader's name",
            todo="add --reader NAME: the same name goes on where it stood, another reads the same "
            "sample",
        )
    return said
