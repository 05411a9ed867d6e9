"""What readers said of questions and of relations: marks, read from the file that only grows.

``OUT/review/marks.jsonl`` holds a line a mark. A line that a kill cut off is counted and skipped;
of what one reader says twice of one thing in one step, the first counts, as it was said before the
key was shown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ehrkg.benchmark.rules import rule_table
from ehrkg.foundation.errors import InputError, UsageError

FOLDER = "review"
"""The folder of a build that holds what readers said."""

MARKS = "marks.jsonl"
QUESTION, RELATION = "question", "relation"
"""What a mark is of."""

ANSWER, RATINGS, REMARK = "answer", "ratings", "remark"
"""The steps of reading: what the reader answers, what the reader finds of the question, and what is
added once the key was shown."""

_FIELDS: Mapping[str, type] = {"what": str, "id": str, "reader": str, "step": str, "when": str}
_SHOWN = ["item_id", "stem", "options"]


def asked() -> Mapping[str, list[dict[str, Any]]]:
    """What readers are asked (reviews.yaml).

    >>> [row["name"] for row in asked()["ratings"]]
    ['answerable', 'single_answer', 'plausible', 'harmful']
    """
    return rule_table("reviews")


@dataclass(frozen=True)
class Mark:
    """A line of marks.jsonl.

    Attributes:
        what: ``question`` or ``relation``.
        id: the item's, or the relation's.
        reader: who said it.
        step: ``answer``, ``ratings`` or ``remark``.
        when: UTC, ISO 8601.
        answered: of a question the positions of the chosen options, from 0, none for "can't say";
            of a relation ``["true"]``, ``["false"]`` or ``["unsure"]``.
        ratings: by name, what the reader found.
        comment: in the reader's words.
        shown: a hash of what was read, see ``shown_as``.
    """

    what: str
    id: str
    reader: str
    step: str
    when: str
    answered: tuple[int | str, ...] = ()
    ratings: Mapping[str, bool] = field(default_factory=dict)
    comment: str = ""
    shown: str = ""

    def as_line(self) -> str:
        """The mark as one line of JSON, without what is empty (an empty answer is none such)."""
        said: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        if self.step == ANSWER:
            said["answered"] = list(self.answered)
        if self.ratings:
            said["ratings"] = dict(self.ratings)
        said |= {n: v for n in ("comment", "shown") if (v := getattr(self, n))}
        return json.dumps(said, ensure_ascii=False)


@dataclass(frozen=True)
class Review:
    """All that one reader said of one question or relation.

    Attributes:
        answered: ``None`` before the answer.
        ratings: ``None`` before they were given.
        comments: in the order they were made.
    """

    id: str
    reader: str
    answered: tuple[int | str, ...] | None = None
    ratings: Mapping[str, bool] | None = None
    comments: tuple[str, ...] = ()
    shown: str = ""

    @property
    def bad(self) -> bool:
        """Whether some rating is not that of a sound question."""
        good = {row["name"]: row["good"] for row in asked()["ratings"]}
        return any(good.get(name) is not said for name, said in (self.ratings or {}).items())


Reviews = Mapping[tuple[str, str], Review]
"""By reader and id."""


@dataclass(frozen=True)
class Marks:
    """What marks.jsonl holds.

    Attributes:
        lines: every mark, in order.
        torn: how many lines are no whole JSON: a kill cut them off.
        size: bytes that were read.
        digest: SHA-256 of these bytes.
    """

    lines: tuple[Mark, ...] = ()
    torn: int = 0
    size: int = 0
    digest: str = ""

    @property
    def readers(self) -> list[str]:
        """The names of all readers, sorted: reader 1 of every table is the first of them."""
        return sorted({mark.reader for mark in self.lines})

    def reviews(self, what: str) -> Reviews:
        """What each reader said of each question (or relation).

        >>> said = [Mark("question", "i1", "A", "answer", "", (2,)),
        ...         Mark("question", "i1", "A", "answer", "", (3,))]
        >>> Marks(tuple(said)).reviews("question")["A", "i1"].answered
        (2,)
        """
        found: dict[tuple[str, str], Review] = {}
        for mark in self.lines:
            if mark.what != what:
                continue
            key = mark.reader, mark.id
            before = found.get(key)
            if before is None or (mark.step == ANSWER and mark.shown != before.shown):
                before = Review(mark.id, mark.reader)  # of other words: it is read anew
            answered, ratings = before.answered, before.ratings
            if answered is None and mark.step == ANSWER:
                answered = mark.answered
            if ratings is None and mark.step == RATINGS:
                ratings = mark.ratings
            comments = (*before.comments, mark.comment) if mark.comment else before.comments
            shown = before.shown or mark.shown
            found[key] = Review(mark.id, mark.reader, answered, ratings, comments, shown)
        return found


def folder_of(out: Path) -> Path:
    """Where a build keeps what readers said."""
    return out / FOLDER


def read_marks(out: Path, *, size: int | None = None) -> Marks:
    """The marks of a build; none where nobody read.

    Args:
        out: the build's folder.
        size: read only so many bytes, as the file was at an earlier time; all for ``None``.

    Raises:
        InputError: a line is JSON, and no mark.
    """
    path = folder_of(out) / MARKS
    data = path.read_bytes()[:size] if path.is_file() else b""
    lines, torn = [], 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            said = json.loads(line)
        except ValueError:
            torn += 1
            continue
        lines.append(_mark(said, path, number))
    return Marks(tuple(lines), torn, len(data), hashlib.sha256(data).hexdigest())


def _mark(said: Any, path: Path, number: int) -> Mark:
    if not isinstance(said, dict) or any(
        not isinstance(said.get(name), kind) for name, kind in _FIELDS.items()
    ):
        raise InputError(
            "this line is no mark",
            file=path,
            line=number,
            found=json.dumps(said, ensure_ascii=False)[:80],
            expected=f"an object with {', '.join(_FIELDS)}",
            todo="mend the line or take it out; the other lines stay as they are",
        )
    return Mark(
        **{name: said[name] for name in _FIELDS},
        answered=tuple(said.get("answered", ())),
        ratings=said.get("ratings", {}),
        comment=said.get("comment", ""),
        shown=said.get("shown", ""),
    )


def shown_as(stem: str, options: Iterable[str]) -> str:
    """A hash of what a reader reads: what was said of other words does not count.

    >>> shown_as("Which?", ["a", "b"]) == shown_as("Which?", ["b", "a"])
    False
    """
    text = json.dumps([stem, *options], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def standing(marks: Marks, items: Path) -> Reviews:
    """The reviews of questions that are there still, and read as they were read then.

    Args:
        marks: of the build.
        items: its items.parquet.
    """
    reviews = marks.reviews(QUESTION)
    ids = sorted({name for _, name in reviews})
    rows = questions_of(items, ids, _SHOWN)
    words = {row["item_id"]: shown_as(row["stem"], row["options"]) for row in rows}
    return {
        key: one for key, one in reviews.items() if one.id in words and words[one.id] == one.shown
    }


def questions_of(items: Path, ids: Iterable[str], columns: list[str]) -> list[dict[str, Any]]:
    """Rows of items.parquet by their ids, sorted by id; only their row groups are read."""
    wanted = sorted(ids)
    if not wanted:
        return []
    table: pa.Table = pq.read_table(items, columns=columns, filters=[("item_id", "in", wanted)])
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _finished(reviews: Reviews) -> dict[str, list[Review]]:
    """By question, the reviews that are whole."""
    found: dict[str, list[Review]] = {}
    for one in reviews.values():
        if one.answered is not None and one.ratings is not None:
            found.setdefault(one.id, []).append(one)
    return found


def kinds_of(reviews: Reviews) -> Mapping[str, frozenset[str]]:
    """The words that ``filter(reviewed=)`` knows, each with the questions it stands for.

    ``reviewed``: one reader or more answered and rated it; ``twice``: two or more; ``sound``:
    reviewed, and nobody found it unanswerable, of several answers, of implausible options or
    harmful; ``unsound``: reviewed, and somebody did.
    """
    done = _finished(reviews)
    bad = {name for name, said in done.items() if any(one.bad for one in said)}
    return {
        "reviewed": frozenset(done),
        "twice": frozenset(name for name, said in done.items() if len(said) > 1),
        "sound": frozenset(set(done) - bad),
        "unsound": frozenset(bad),
    }


def kept(
    folder: Path | None, ids: pa.ChunkedArray, reviewed: bool | str, *, size: int | None = None
) -> tuple[npt.NDArray[np.bool_], dict[str, Any]]:
    """Which questions ``filter(reviewed=...)`` leaves, and the step of a recipe that says so.

    Args:
        folder: the build's.
        ids: of the questions.
        reviewed: ``True``, ``False``, or a word of ``kinds_of``.
        size: take the marks as they were at this many bytes; as they are for ``None``.

    Returns:
        One truth value a question; and the word with the bytes and the hash of the marks, by which
        the same can be left again though more was marked since.

    Raises:
        UsageError: the word is unknown, or the benchmark does not lie in a folder.
    """
    if folder is None:
        raise UsageError(
            "a benchmark in memory has no marks of readers",
            todo="open the folder of its build: Benchmark.open(out)",
        )
    marks = read_marks(folder, size=size)
    kinds = kinds_of(standing(marks, folder / "items.parquet"))
    word = "reviewed" if isinstance(reviewed, bool) else reviewed
    if word not in kinds:
        raise UsageError(
            f"no such kind of review: {reviewed!r}", todo=f"use True, False, {', '.join(kinds)}"
        )
    inside = pc.is_in(ids, value_set=pa.array(sorted(kinds[word]), pa.string()))
    step = {"do": "reviewed", "reviewed": reviewed, "bytes": marks.size, "marks": marks.digest}
    return np.asarray(inside, dtype=bool) ^ (reviewed is False), step
