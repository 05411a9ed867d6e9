"""Answers that were given, kept by what was asked: none is paid for twice."""

from __future__ import annotations

import json
import os
import threading
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
        text = path.read_bytes()
        whole, _, rest = text.rpartition(b"\n")
        for number, line in enumerate(whole.split(b"\n") if whole else (), start=1):
            try:
                row = json.loads(line)
                self._held[row["key"]] = _reply(row)
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    "not a recorded answer",
                    file=path,
                    line=number,
                    found=line[:60].decode("utf-8", "replace"),
                    todo="restore the file, or remove it: the answers will be asked for again",
                ) from error
        if rest:  # the write that a kill cut off
            with path.open("r+b") as handle:
                handle.truncate(len(whole) + 1 if whole else 0)

    def __len__(self) -> int:
        return len(self._held)

    def get(self, key: str) -> Reply | None:
        """The answer recorded under a key."""
        return self._held.get(key)

    def put(self, key: str, reply: Reply) -> None:
        """Record an answer; it is on disk when this returns."""
        with self._lock:
            self._held[key] = reply
            if self._path is None:
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            row = {
                "key": key,
                "status": reply.status,
                "content": reply.content,
                "tokens_in": reply.tokens_in,
                "tokens_out": reply.tokens_out,
            }
            with self._path.open("ab") as handle:
                handle.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
                handle.flush()
                os.fsync(handle.fileno())


def _reply(row: dict[str, Any]) -> Reply:
    if row["status"] not in STATUSES:
        raise ValueError(row["status"])
    return Reply(row["status"], row["content"], int(row["tokens_in"]), int(row["tokens_out"]))
