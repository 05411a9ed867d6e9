"""Answers that were given, kept by what was asked: none is paid for twice."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ehrkg.foundation.errors import InputError
from ehrkg.propose.models.asking import STATUSES, Reply


class RecordedAnswers:
    """A file of answers, one JSON object a line, added to and never rewritten.

    Each answer is on disk before the next is counted, so a killed run loses the calls in flight and
    no more. A last line that was cut off is left out and asked again.

    Args:
        path: the file; made when the first answer comes. ``None`` keeps answers in memory.

    Raises:
        InputError: a line before the last is no answer.

    >>> answers = RecordedAnswers(None)
    >>> answers.put("a1", Reply("answered", {"holds": [0]}, 12, 3))
    >>> answers.get("a1").content
    {'holds': [0]}
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._held: dict[str, Reply] = {}
        if path is not None and path.is_file():
            self._read(path)

    def _read(self, path: Path) -> None:
        def hold(row: dict[str, Any]) -> None:
            self._held[row["key"]] = _reply(row)

        _take_rows(
            path,
            hold,
            "not a recorded answer",
            todo="restore the file, or remove it: the answers will be asked for again",
        )

    def __len__(self) -> int:
        return len(self._held)

    def get(self, key: str) -> Reply | None:
        """The answer recorded under a key."""
        return self._held.get(key)

    def __getitem__(self, key: str) -> Reply:
        return self._held[key]

    def beside(self, what: str) -> Path | None:
        """A file for something else about the same questions; ``None`` where all is in memory."""
        return self._path and self._path.with_suffix(f".{what}.jsonl")

    def put(self, key: str, reply: Reply) -> None:
        """Record an answer; it is on disk when this returns."""
        with self._lock:
            self._held[key] = reply
            if self._path is None:
                return
            row = {
                "key": key,
                "status": reply.status,
                "content": reply.content,
                "tokens_in": reply.tokens_in,
                "tokens_out": reply.tokens_out,
            }
            _append(self._path, row)


class SentBatches:
    """Batches that were sent and not yet collected, so that a killed run collects what it sent.

    Args:
        path: the file, one JSON object a line, added to and never rewritten; in memory for
            ``None``.

    >>> sent = SentBatches(None)
    >>> sent.add("b1", "pair")
    >>> sent.under_way()
    {'b1': 'pair'}
    >>> sent.collected("b1")
    >>> sent.under_way()
    {}
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._open: dict[str, str] = {}
        if path is not None and path.is_file():
            self._read(path)

    def _read(self, path: Path) -> None:
        _take_rows(
            path,
            lambda row: self._change(row["batch"], row["scope"]),
            "not a record of batches",
            todo="mend the line: a batch that is not named here is sent, and paid, again",
        )

    def _change(self, batch: str, scope: str | None) -> None:
        if scope is None:
            self._open.pop(batch, None)
        else:
            self._open[batch] = scope

    def under_way(self) -> dict[str, str]:
        """Batches by their id, with the scope of their questions."""
        return dict(self._open)

    def add(self, batch: str, scope: str) -> None:
        """A batch was sent; it is on disk when this returns."""
        self._write(batch, scope)

    def collected(self, batch: str) -> None:
        """All that a batch holds is recorded."""
        self._write(batch, None)

    def _write(self, batch: str, scope: str | None) -> None:
        self._change(batch, scope)
        if self._path is not None:
            _append(self._path, {"batch": batch, "scope": scope})


def _take_rows(
    path: Path, take: Callable[[dict[str, Any]], None], wrong: str, *, todo: str
) -> None:
    """Hand over the rows of a file, one by one.

    Raises:
        InputError: a line is no row that can be taken.
    """
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            take(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                wrong,
                file=path,
                line=number,
                found=line[:60].decode("utf-8", "replace"),
                todo=todo,
            ) from error


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of a file; a last one that a kill cut off is taken out of it."""
    whole, end, rest = path.read_bytes().rpartition(b"\n")
    if rest:
        with path.open("r+b") as handle:
            handle.truncate(len(whole) + len(end))
    return whole.split(b"\n") if whole else []


def _append(path: Path, row: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as handle:
        handle.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        handle.flush()
        os.fsync(handle.fileno())


def _reply(row: dict[str, Any]) -> Reply:
    if row["status"] not in STATUSES:
        raise ValueError(row["status"])
    return Reply(row["status"], row["content"], int(row["tokens_in"]), int(row["tokens_out"]))
