"""A CSV file read through once, as bytes, before an engine may read it.

An engine alone would lose rows in silence where a quote is never closed, and can't say of a file
what its encoding is. So lines are counted, quotes are paired, and bytes are looked at; what had to
be taken for something else (a byte order mark, Windows line ends, Latin-1) is noted with a place.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from ehrkg.ehr.sources.finding import Part
from ehrkg.foundation.errors import InputError

_BLOCK = 1 << 22
_MOST_LINES = 2_000
"""A value in quotes that runs over more lines than this was never closed."""

_MOST_BREAKS = 100_000
"""So many places are remembered at which lines and rows part."""


@dataclass
class Scan:
    """What a file's bytes say.

    Attributes:
        header: the columns' names as written.
        tab: whether tabs part the values; quotes then mean nothing, as in OMOP vocabularies.
        rows: how many rows follow the header.
        encoding: ``utf-8`` or ``latin-1``.
        notes: what was taken for something else: how often, and where first (a line).
        breaks: the row after which a line is no row of its own, once for each such line.
    """

    header: tuple[str, ...]
    tab: bool
    rows: int = 0
    encoding: str = "utf-8"
    notes: dict[str, tuple[int, int]] = field(default_factory=dict)
    breaks: list[int] = field(default_factory=list)

    def note(self, what: str, count: int, line: int) -> None:
        """Count something that was taken for something else."""
        if count:
            so_far, first = self.notes.get(what, (0, line))
            self.notes[what] = (so_far + count, first)


def read_header(part: Part, line: bytes) -> tuple[tuple[str, ...], bool]:
    """The columns' names as written, and whether tabs part them.

    Raises:
        InputError: there are none, or two are the same.
    """
    if not line.strip():
        raise InputError(
            "the file is empty",
            file=part.place,
            expected="a header and rows",
            todo="export the table again",
        )
    text = line.decode("utf-8-sig", errors="replace").rstrip("\r\n")
    tab = "\t" in text and "," not in text
    names = text.split("\t") if tab else next(csv.reader([text]))
    seen: set[str] = set()
    for name in names:
        if name.strip().lower() in seen:
            raise InputError(
                "two columns have the same name",
                file=part.place,
                line=1,
                column=name,
                todo="rename or remove one of them",
            )
        seen.add(name.strip().lower())
    return tuple(names), tab


def scan(part: Part, handle: BinaryIO) -> Scan:
    """Read a file through.

    Raises:
        InputError: it is empty, a quote is never closed, or it is neither UTF-8 nor Latin-1.
    """
    first = handle.readline()
    if first.count(b'"') % 2:
        raise _open_quote(part, 1, first)
    found = Scan(*read_header(part, first))
    found.note("byte_order_mark", int(first.startswith(b"\xef\xbb\xbf")), 1)
    bytes_ = _Bytes(part)
    quotes = _Quotes(part, found)
    for number, block in _blocks(handle):
        bytes_.look(number, block)
        crlf = block.count(b"\r\n")
        found.note("windows_line_ends", crlf, number)
        if quotes.needed(block):
            quotes.count(number, block)
        else:
            found.rows += block.count(b"\n") + (not block.endswith(b"\n"))
    quotes.finish()
    found.encoding = bytes_.encoding()
    found.note("latin1_text", bytes_.latin, bytes_.first_latin)
    return found


def _blocks(handle: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines after the header, each with the number of its first line."""
    number, rest = 2, b""
    while block := handle.read(_BLOCK):
        block = rest + block
        whole, newline, rest = block.rpartition(b"\n")
        if newline:
            yield number, whole + newline
        number += whole.count(b"\n") + len(newline)
    if rest:
        yield number, rest


class _Bytes:
    """Whether all bytes are UTF-8, or else can be Latin-1 throughout."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._wide = self.latin = self.first_latin = 0

    def look(self, number: int, block: bytes) -> None:
        if block.isascii():
            return
        if _is_utf8(block):
            self._wide = self._wide or number
            return
        for offset, line in enumerate(block.split(b"\n")):
            if line.isascii():
                continue
            if _is_utf8(line):
                self._wide = self._wide or number + offset
            else:
                self.latin += 1
                self.first_latin = self.first_latin or number + offset

    def encoding(self) -> str:
        if self.latin and self._wide:
            raise InputError(
                "the text is UTF-8 in one line and something else in another",
                file=self._part.place,
                line=self.first_latin,
                found=f"UTF-8 in line {self._wide}, other bytes in line {self.first_latin}",
                expected="one encoding",
                todo="convert the file to UTF-8",
            )
        return "latin-1" if self.latin else "utf-8"


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Quotes:
    """Counts rows where quotes stand; a value may run over line ends if its row is then whole."""

    def __init__(self, part: Part, found: Scan) -> None:
        self._part, self._found = part, found
        self._open: list[bytes] = []
        self._since = 0

    def needed(self, block: bytes) -> bool:
        if self._open or block[:1] in (b"\n", b"\r"):
            return True
        marks = (b"\n\n", b"\n\r\n") if self._found.tab else (b'"', b"\n\n", b"\n\r\n")
        return any(mark in block for mark in marks)

    def count(self, number: int, block: bytes) -> None:
        found = self._found
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for offset, line in enumerate(lines):
            odd = not found.tab and line.count(b'"') % 2
            if self._open:
                self._open.append(line)
                if odd:
                    self._close()
                elif len(self._open) > _MOST_LINES:
                    raise _open_quote(self._part, self._since, self._open[0])
            elif odd:
                self._open, self._since = [line], number + offset
            elif line.strip(b"\r"):
                found.rows += 1
            else:
                self._break(1)

    def finish(self) -> None:
        if self._open:
            raise _open_quote(self._part, self._since, self._open[0])

    def _close(self) -> None:
        """A row that runs over several lines: it must be one row of the right width."""
        text = b"\n".join(self._open).decode("latin-1")
        try:
            rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
        except csv.Error as error:
            raise _open_quote(self._part, self._since, self._open[0]) from error
        if len(rows) != 1 or len(rows[0]) != len(self._found.header):
            raise _open_quote(self._part, self._since, self._open[0])
        self._found.rows += 1
        self._found.note("line_end_in_a_value", 1, self._since)
        self._break(len(self._open) - 1)
        self._open = []

    def _break(self, lines: int) -> None:
        if len(self._found.breaks) < _MOST_BREAKS:
            self._found.breaks += [self._found.rows] * lines


def _open_quote(part: Part, line: int, text: bytes = b"") -> InputError:
    return InputError(
        "a quote is opened and not closed on this line",
        file=part.place,
        line=line,
        found=text[:80].decode("utf-8", errors="replace") or None,
        expected='an even number of " on the line, or a value that closes on a later one',
        todo="close the quote, or double it",
    )
