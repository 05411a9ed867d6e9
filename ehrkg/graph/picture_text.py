"""The words in pictures: in lines of a width, and safe to stand in an SVG."""

from __future__ import annotations

from html import escape
from unicodedata import category, east_asian_width


def wrap(text: str, width: int, lines: int) -> list[str]:
    """Text in lines of about ``width`` small letters, cut off after ``lines``.

    >>> wrap("acute on chronic heart failure", 12, 2)
    ['acute on', 'chronic hea…']
    """
    found, line, wide = [], "", 0.0
    for word in _folded(text).split(" "):
        for piece in _pieces(word, width):
            much = _width(piece)
            if len(line) > 1 and wide + 1 + much > width:
                found.append(line)
                line, wide = piece, much
            else:
                line, wide = (f"{line} {piece}", wide + 1 + much) if line else (piece, much)
    found.append(line)
    if len(found) > lines:
        rest = " ".join(found[lines - 1 :])
        found = [*found[: lines - 1], next(iter(_pieces(rest, width - 1))).rstrip() + "…"]
    return found


def _pieces(word: str, width: int) -> list[str]:
    pieces, piece, wide = [], "", 0.0
    for letter in word:
        if piece and wide + _width(letter) > width:
            pieces.append(piece)
            piece, wide = "", 0.0
        piece, wide = piece + letter, wide + _width(letter)
    return [*pieces, piece]


def _width(text: str) -> float:
    """The room a text takes, in small letters: ideographs two, capitals one and a third."""
    return sum(
        2 if east_asian_width(letter) in "WF" else 1.35 if letter.isupper() else 1
        for letter in text
    )


def _folded(text: str) -> str:
    """White space folded, control characters gone."""
    return "".join(c for c in " ".join(text.split()) if category(c) not in ("Cc", "Cs"))


def plain(text: str) -> str:
    """Text as it stands in an SVG: folded and escaped."""
    return escape(_folded(text), quote=True)
