"""The tokens of a Cypher text, with where each stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ELEMENT = re.compile(
    r"""
      (?P<comment>/\*.*?\*/ | //[^\n]*)
    | (?P<string>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
    | (?P<quoted>`[^`]*`)
    | (?P<param>\$(?:\w+|`[^`]*`))
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<word>[^\W\d]\w*)
    | (?P<space>\s+)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)

OPEN = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    """A token.

    Attributes:
        kind: string, quoted, param, number, word or sign.
        text: as written.
        line, column: where it begins, from 1.
    """

    kind: str
    text: str
    line: int
    column: int

    @property
    def name(self) -> str:
        """The text of a name, without its back quotes or its dollar."""
        return self.text.strip("$`")

    def says(self, *words: str) -> bool:
        """Whether it is one of these words or signs, whatever the case."""
        return self.kind in ("word", "sign") and self.text.upper() in {w.upper() for w in words}


END = Token("end", "", 0, 0)
"""What stands before the first token and after the last."""


class Tokens(Sequence[Token]):
    """The tokens of a text, without comments and white space; ``END`` beyond both ends.

    >>> [token.text for token in Tokens("RETURN 'a // b' // c").tokens]
    ['RETURN', "'a // b'"]
    """

    def __init__(self, text: str) -> None:
        self.tokens: list[Token] = []
        for found in _ELEMENT.finditer(text):
            kind = found.lastgroup or "sign"
            if kind not in ("comment", "space"):
                start = found.start()
                line = text.count("\n", 0, start) + 1
                column = start - (text.rfind("\n", 0, start) + 1) + 1
                self.tokens.append(Token(kind, found.group(), line, column))

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, at: int) -> Token:  # type: ignore[override]
        return self.tokens[at] if 0 <= at < len(self.tokens) else END

    def close(self, at: int) -> int:
        """Where the bracket that opens at ``at`` is closed; the end where it is not."""
        depth = 0
        for place in range(at, len(self.tokens)):
            token = self.tokens[place]
            if token.kind == "sign" and token.text in OPEN:
                depth += 1
            elif token.kind == "sign" and token.text in OPEN.values():
                depth -= 1
                if depth == 0:
                    return place
        return len(self.tokens)

    def parts(self, start: int, stop: int) -> list[tuple[int, int]]:
        """The stretches between the commas that stand outside of all brackets."""
        found, begin, place = [], start, start
        while place < stop:
            token = self.tokens[place]
            if token.kind == "sign" and token.text in OPEN:
                place = self.close(place)
            elif token.says(","):
                found.append((begin, place))
                begin = place + 1
            place += 1
        return [*found, (begin, stop)] if stop > start else found
