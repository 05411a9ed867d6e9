"""What a model wrote, read: letters, yes or no, names. What can't be read is said, never guessed.

A letter counts where it stands as one: alone, in brackets, after "answer:", before its own option.
"A" before a noun is an article and "E. coli" no option. Two letters where one is asked for, or a
letter beside another option's text, can't be read. Where the model thought aloud, its last
announcement counts; else its first line, since a base model goes on with questions of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from ehrkg.benchmark.exports.rows import LETTERS
from ehrkg.evaluation.metrics import normalise_answer

_TAGS = "think|thinking|thought|reasoning|reflection"
_THOUGHT = re.compile(rf"<({_TAGS})\b[^>]*>.*?</\1>", re.S | re.I)
_THOUGHT_ENDS = re.compile(rf"</(?:{_TAGS})>", re.I)
_THOUGHT_BEGINS = re.compile(rf"<(?:{_TAGS})\b[^>]*>", re.I)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final<\|message\|>")
_SPECIAL = re.compile(r"<\|[^|<>]*\|>")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_COMMAND = re.compile(r"\\[a-z]+\s*\{([^{}]*)\}")
_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.S | re.I)
_MARKUP = re.compile(r"[*`#$“”\"]+|__+")
_BULLET = re.compile(r"^\s*[-•–]\s+")


@dataclass(frozen=True)
class Reading:
    """An answer as it was read.

    Attributes:
        parsed: whether it could be read.
        places: the options chosen; of yes/no 0 for yes and 1 for no.
        text: of an open question, the name that was given.
    """

    parsed: bool
    places: tuple[int, ...] = ()
    text: str = ""


UNREAD = Reading(False)

Places = frozenset[int]

_CONTRADICTORY: Places = frozenset({-1})
"""An answer stands there and can't be counted: two letters, a letter beside another's text."""


def read_answer(
    text: str | None, form: str, options: Sequence[str] = (), *, reasoning: bool = False
) -> Reading:
    """Read what a model wrote.

    Args:
        text: as it wrote it; ``None`` where it wrote nothing.
        form: the question's format.
        options: as they were shown, in that order.
        reasoning: whether it was asked to think aloud first.

    >>> options = ["aspirin", "furosemide", "insulin", "warfarin"]
    >>> [read_answer(said, "mcq", options).places for said in
    ...  ("B", "(b)", "**B**", "The answer is B.", "B) furosemide", "furosemide")]
    [(1,), (1,), (1,), (1,), (1,), (1,)]
    >>> read_answer("A patient like this needs more tests.", "mcq", options).parsed
    False
    >>> read_answer("A and C", "multi", options).places
    (0, 2)
    >>> read_answer("No, it was not.", "yesno").places, read_answer("No evidence.", "yesno").parsed
    ((1,), False)
    """
    said = _said(text or "")
    if not said:
        return UNREAD
    if form == "oeq":
        return _name(_last_words(said) if reasoning else _first_words(said))
    found = _read_late(said, form, options) if reasoning else _read_early(said, form, options)
    if found is None or -1 in found or (form != "multi" and len(found) != 1):
        return UNREAD
    return Reading(True, tuple(sorted(found)))


def _read_early(said: str, form: str, options: Sequence[str]) -> Places | None:
    """What the first line says; where it says nothing, what the rest does."""
    first, second = (*_lines(said), "")[:2]
    if form == "mcq" and None not in (both := (_one(first, options), _one(second, options))):
        return both[0] if both[0] == both[1] else _CONTRADICTORY
    for text in (said if form == "multi" else first, _announced(first)):
        found = _FORMS[form](text, options) if text else None
        if found is not None:
            return found
    found = _read_late(said, form, options)
    if found is None and _announced(said) is None and form != "yesno":
        return _named(said, options)
    return found


def _read_late(said: str, form: str, options: Sequence[str]) -> Places | None:
    """What the last announcement says, else the last line.

    It counts even where it can't be read: it may take back the one before.
    """
    announced = _announced(said)
    last = _lines(said)[-1] if announced is None else announced
    found = _FORMS[form](last, options)
    return _named(_line(last), options) if found is None and form != "yesno" else found


# Text without what is no part of an answer


def _said(text: str) -> str:
    """The text without thinking and markup."""
    text = _FINAL_CHANNEL.split(text)[-1]
    text = _THOUGHT.sub("\n", text)
    text = _THOUGHT_BEGINS.split(_THOUGHT_ENDS.split(text)[-1])[0]
    text = _TAGGED.sub(r"\nAnswer: \1\n", _SPECIAL.sub("", text))
    text = _BOXED.sub(r"\nAnswer: \1\n", text)
    return _MARKUP.sub("", _COMMAND.sub(r"\1", text)).strip()


def _lines(text: str) -> list[str]:
    return [_BULLET.sub("", line).strip() for line in text.splitlines() if line.strip()]


def _line(text: str) -> str:
    return next(iter(_lines(text)), "")


def _announced(said: str) -> str | None:
    """What follows the last announcement of an answer, to the end; ``None`` without one."""
    found = None
    for match in _announcement().finditer(said):
        found = said[match.end() :]
    return found if found and found.strip() else None


# One letter


def _one(text: str, options: Sequence[str]) -> Places | None:
    """The option that a line names by letter or by its whole text; ``None`` for neither."""
    line = _line(text)
    whole = normalise_answer(line)
    exact = [at for at, option in enumerate(options) if normalise_answer(option) == whole]
    if len(exact) == 1:
        return frozenset(exact)
    match = _letter().match(line)
    if match is None:
        return None
    tail, said = match["tail"].strip(), normalise_answer(match["tail"])
    at = LETTERS.find(match["letter"].upper())
    own = options[at] if 0 <= at < len(options) else ""
    if said and said != normalise_answer(own) and said in map(normalise_answer, options):
        return _CONTRADICTORY
    if not _is_letter(match, tail, own):
        return None
    if not own or _second_letter().match(match["delimiter"] + tail):
        return _CONTRADICTORY
    following = (_listed(letter, text) for letter, text in zip(LETTERS, options, strict=False))
    if any(re.search(pattern, tail, re.I) for pattern in following):
        return _CONTRADICTORY
    return frozenset({at})


def _is_letter(match: re.Match[str], tail: str, option: str) -> bool:
    """Whether a letter at the head of a line names an option: no article, no initial."""
    delimiter, own = match["delimiter"], normalise_answer(option)
    if not tail or match["close"] or delimiter == ":":
        return True
    if own and f"{normalise_answer(tail)} ".startswith(f"{own} "):
        return True
    if not match["letter"].isupper():
        return False
    if delimiter in (",", ";") or (delimiter == "." and tail[0].isupper()):
        return True
    return bool(_second_letter().match(tail) or _follows_letter().match(tail))


def _listed(letter: str, option: str) -> str:
    """A pattern of an option as it stands in a list: its letter, then its text."""
    return rf"(?<![A-Za-z])[(\[]?{letter}[)\].:]*\s*[-–—]?\s*[(\[]?{re.escape(option)}[)\]]?"


# Several letters


def _several(text: str, options: Sequence[str]) -> Places | None:
    """The options that lines name, as a list of letters; ``None`` where the first is no such list.

    Only the first line may say why; after it a line of other words ends the list.
    """
    found: set[int] = set()
    for at, line in enumerate(_lines(text)):
        if at == 0 and normalise_answer(line) in _words()["none"]:
            return frozenset()
        listed, why = _list(line, options)
        if listed is None or (at and why):
            return frozenset(found) if at else None
        found |= listed
    return frozenset(found)


def _list(line: str, options: Sequence[str]) -> tuple[Places | None, str]:
    """The options that a line lists, and what it goes on to say."""
    for letter, option in zip(LETTERS, options, strict=False):
        line = re.sub(_listed(letter, option), f" {letter} ", line, flags=re.I)
    match = _letters().match(line)
    if match is None:
        return None, ""
    why = match["rest"].strip(" .;:")
    bare = re.sub(r"\b(?:and|options?|choices?|letters?)\b", " ", match["list"], flags=re.I)
    places = [LETTERS.find(letter.upper()) for letter in re.findall("[A-Za-z]", bare)]
    if any(place < 0 or place >= len(options) for place in places) or _named(why, options):
        return _CONTRADICTORY, why
    if why and places == [0] and not match["list"].strip().endswith((")", "]")):
        return None, why  # an article
    return frozenset(places), why


# Yes or no, and names


def _yes_or_no(text: str, _options: Sequence[str]) -> Places | None:
    match = _yes_no().match(_line(text))
    if match is None:
        return None
    return frozenset((0, 1)) if match["both"] else frozenset({0 if match["yes"] else 1})


def _named(text: str, options: Sequence[str]) -> Places | None:
    """The options whose whole text a sentence holds, if it denies nothing."""
    said = f" {normalise_answer(text)} "
    plain = [normalise_answer(option) for option in options]
    found = {at for at, option in enumerate(plain) if option and f" {option} " in said}
    found -= {
        at for at in found for other in found - {at} if f" {plain[at]} " in f" {plain[other]} "
    }
    left = text.casefold()
    for option in options:
        left = left.replace(option.casefold(), " ")
    denied = any(word in _words()["negations"] for word in re.findall(r"[a-z']+", left))
    return frozenset(found) if found and not denied else None


def _first_words(said: str) -> str:
    """The first line that answers, or what it announces."""
    line = next((line for line in _lines(said) if not line.endswith(":")), "")
    return _announced(line) or line


def _last_words(said: str) -> str:
    """The last announcement's first line; without one, the last line."""
    announced = _announced(said)
    return _line(announced) if announced is not None else _lines(said)[-1]


def _name(line: str) -> Reading:
    """The name that answers an open question."""
    name = line.strip(" .")
    refused = f"{name.casefold()} ".startswith(tuple(_words()["refusals"]))
    return UNREAD if refused or not normalise_answer(name) else Reading(True, text=name)


_FORMS = {"mcq": _one, "multi": _several, "yesno": _yes_or_no}
"""How each format's answer is read from a text that is nothing but an answer."""


# The words of the file beside this one, as patterns


@cache
def _words() -> dict[str, list[str]]:
    place = files("ehrkg.evaluation.asking") / "answer_words.yaml"
    words: dict[str, Any] = yaml.safe_load(place.read_text(encoding="utf-8"))
    return {key: [str(one).casefold() for one in values] for key, values in words.items()}


def _any(name: str) -> str:
    return "|".join(sorted(map(re.escape, _words()[name]), key=len, reverse=True))


@cache
def _announcement() -> re.Pattern[str]:
    kinds = rf"(?:(?:{_any('kinds')})\s+)"
    noun = (
        rf"\b(?:{kinds}*answers?|{kinds}+(?:{_any('nouns')}))(?:\s+to\s+(?:this|the)\s+question)?"
    )
    linked = rf"{noun}\s*(?:[:=]\s*|\s(?:{_any('links')})\b\s*:?\s*)"
    chosen = rf"\bI(?:['’]d|['’]ll|\s+would|\s+will)?\s+(?:{_any('verbs')})\b\s*:?\s*"
    return re.compile(rf"(?:{linked}|{chosen})(?:(?:{_any('fillers')})\s+)*", re.I)


@cache
def _letter() -> re.Pattern[str]:
    return re.compile(
        r"(?:the\s+)?(?:(?:option|choice|letter|answer)\b\s*)?(?P<open>[(\[{']?)\s*"
        r"(?P<letter>[A-Za-z])\s*(?P<close>[)\]}']?)(?P<delimiter>[.:,;)\]]?)"
        r"(?P<tail>$|(?![A-Za-z0-9'’]).*)",
        re.I,
    )


@cache
def _second_letter() -> re.Pattern[str]:
    return re.compile(r"\s*(?:[,/&+]|\band\b|\bor\b)\s*(?:option\s+)?[(\[]?[A-F](?![A-Za-z])")


@cache
def _follows_letter() -> re.Pattern[str]:
    return re.compile(rf"(?:{_any('after_letter')})(?![A-Za-z])", re.I)


@cache
def _letters() -> re.Pattern[str]:
    one = r"[(\[]?[A-Za-z][)\]]?[.:]?"
    between = r"(?:\s*(?:[,;/&+]|\band\b)\s*|\s+)+"
    lead = r"\s*(?:(?:options?|choices?|letters?)\s+)?"
    follows = rf"(?P<rest>\s*$|\s*[.;:]\s*.*|\s+(?:{_any('after_letter')})(?![A-Za-z]).*)"
    spread = rf"{one}(?:{between}(?:and\s+)?{one}(?![A-Za-z]))*"
    return re.compile(
        rf"{lead}(?P<list>(?:{spread}|(?-i:[A-F]{{2,6}})))(?![A-Za-z]){follows}", re.I
    )


@cache
def _yes_no() -> re.Pattern[str]:
    no = rf"no(?=\s*$|\s*[.,;:!)–—-]|\s+(?:{_any('after_no')})\b)"
    both = r"(?P<both>\s*(?:/|,|\band\b|\bor\b)\s*(?:yes|no)\b)?"
    return re.compile(rf"[(\[']?(?:(?P<yes>yes)|{no}|no(?=\s*(?:/|and|or)\s*yes\b)){both}\b", re.I)
