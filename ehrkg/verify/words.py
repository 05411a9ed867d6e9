"""Words to compare names and sentences by."""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W_]+")
"""A run of letters and digits."""


def words_of(text: str) -> list[str]:
    """Words to compare by: case-folded, plural s dropped.

    >>> words_of("Beta-blockers in Heart failure")
    ['beta', 'blocker', 'in', 'heart', 'failure']
    """
    return [_singular(word) for word in WORD.findall(text.casefold())]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
