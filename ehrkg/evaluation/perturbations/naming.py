"""Perturbations of names: codes instead of them, abbreviations, typos.

None may turn a name into that of another code: what would is left as it stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import yaml

from ehrkg.benchmark.facts.codes import CodeFacts
from ehrkg.benchmark.facts.names import display, drug_name, option_names, phrase
from ehrkg.ehr.codes import code_system
from ehrkg.evaluation.perturbations.asked import NOT_RESTATED, Asked, Outcome, Row
from ehrkg.foundation.hashing import hash64

NOTHING = "nothing_to_change"
"""The reason where no name of the question can be changed so."""

SHORTEST = 5
"""Letters of a word that may be mistyped: of a shorter one too little is left."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORD = re.compile(r"[^\W\d_]+")


class _Renamed:
    """Names said otherwise: those of the stem, and where ``options`` says so those of the options.

    Attributes:
        options: whether the options' names change too.
    """

    name: str
    options: bool

    def apply(self, rows: Sequence[Row], asked: Asked) -> list[Outcome]:
        """See ``Perturbation.apply``."""
        self._prepare(asked)
        return [self._renamed(row, asked) for row in rows]

    def template(self, row: Row, asked: Asked) -> Row:
        """See ``Perturbation.template``."""
        return row

    def _prepare(self, asked: Asked) -> None:
        """Look at all names of the hospital, once."""

    def _said(self, text: str, facts: CodeFacts) -> str:
        """A name as it is said now."""
        raise NotImplementedError

    def _renamed(self, row: Row, asked: Asked) -> Outcome:
        stem = asked.restated(
            row, says=lambda facts, route: self._said(phrase(facts, route), facts)
        )
        if stem is None:
            return NOT_RESTATED
        changed = {"stem": stem}
        if self.options and row["format"] in ("mcq", "multi"):
            changed |= self._options(row, asked)
        if all(changed[name] == row[name] for name in changed):
            return NOTHING
        return row | changed

    def _options(self, row: Row, asked: Asked) -> Row:
        """The options under their new names; under the old ones if two of the new are alike."""
        names = [
            self._said(text, asked.cohort.codes[code])
            for text, code in zip(row["options"], row["option_codes"], strict=True)
        ]
        if len({name.casefold() for name in names}) < len(names):
            return {}
        told = dict(zip(row["options"], names, strict=True))
        return {"options": names, "answer": [told[text] for text in row["answer"]]}


class CodesShown(_Renamed):
    """Codes where names stood."""

    name = "codes_shown"
    says = "Diagnoses and procedures are told by system and code instead of by name."
    holds = "A code means what its name said; drugs, which have none, keep their names."
    options = True

    def _said(self, text: str, facts: CodeFacts) -> str:
        if facts.kind == "drug":
            return text
        return f"{code_system(facts.system).name} {facts.id.partition(':')[2]}"


class Abbreviated(_Renamed):
    """Abbreviations where clinicians use them."""

    name = "abbreviations"
    says = "Words of abbreviations.yaml give way to what clinicians write for short."
    holds = "No name is shortened to another code's name, or to what another is shortened to."
    options = True

    def __init__(self) -> None:
        self._known: Mapping[str, int] = {}
        self._of: Asked | None = None

    def _prepare(self, asked: Asked) -> None:
        if self._of is not asked:
            names = names_of(asked)
            self._known = Counter(
                text for name in names for text in {name, shortened(name).casefold()}
            )
            self._of = asked

    def _said(self, text: str, facts: CodeFacts) -> str:
        del facts
        short = shortened(text)
        # The name itself is one that is shortened to this; any other makes two.
        return short if self._known.get(short.casefold(), 0) <= 1 else text


class Typos(_Renamed):
    """A slip of the finger in every name of the stem."""

    name = "typos"
    says = "In each event's name two neighbouring letters of one word change places."
    holds = "The mistyped word is no word of any name here, and near to none but its own."
    options = False

    def __init__(self) -> None:
        self._words: frozenset[str] = frozenset()
        self._of: Asked | None = None
        self._seed = 0

    def _prepare(self, asked: Asked) -> None:
        if self._of is not asked:
            self._words = words_of(names_of(asked))
            self._of, self._seed = asked, asked.seed

    def _said(self, text: str, facts: CodeFacts) -> str:
        del facts
        return mistyped(text, self._words, self._seed)


@cache
def abbreviations() -> Mapping[str, str]:
    """abbreviations.yaml, read once."""
    place = files("ehrkg.evaluation") / "perturbations" / "abbreviations.yaml"
    found: Mapping[str, str] = yaml.safe_load(place.read_text(encoding="utf-8"))
    return found


@cache
def _pattern() -> re.Pattern[str]:
    longest_first = sorted(abbreviations(), key=lambda words: (-len(words), words))
    either = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


@cache
def shortened(name: str) -> str:
    """A name as clinicians write it for short.

    >>> shortened("Chronic kidney disease, stage 3"), shortened("gout")
    ('CKD, stage 3', 'gout')
    """
    return _pattern().sub(lambda found: abbreviations()[found[0].casefold()], name)


def names_of(asked: Asked) -> frozenset[str]:
    """Every name under which a code of the hospital may stand, without case."""
    found: set[str] = set()
    for facts in asked.cohort.codes.values():
        names = (facts.name, display(facts), phrase(facts), *option_names([(facts, "")]))
        found.update(name.casefold() for name in names)
        if facts.kind == "drug":
            found.add(drug_name(facts).casefold())
    return frozenset(found - {""})


def words_of(names: frozenset[str]) -> frozenset[str]:
    """Every word of some names, without case.

    >>> sorted(words_of(frozenset({"heart failure", "gout, left foot"})))
    ['failure', 'foot', 'gout', 'heart', 'left']
    """
    return frozenset(word for name in names for word in _WORD.findall(name.casefold()))


@cache
def mistyped(name: str, words: frozenset[str], seed: int) -> str:
    """A name with two neighbouring letters of one word changed about.

    First and last letter stay. The word that comes out is none of ``words``, and of those none but
    the word itself is one step (a letter more, less, other, or two changed about) away from it.

    Args:
        name: the name.
        words: every word of any name, without case.
        seed: chooses the word and the place, by hash.

    Returns:
        The name; unchanged where no word of it may be mistyped.

    >>> mistyped("gout", frozenset({"gout"}), 7)
    'gout'
    >>> mistyped("anemia", frozenset({"anemia"}), 7) in ("aenmia", "anmeia", "aneima", "anemai")
    True
    """
    slips = [
        (found.start() + at, found)
        for found in _WORD.finditer(name)
        if len(found[0]) >= SHORTEST and found[0][1:].islower()
        for at in range(1, len(found[0]) - 2)
    ]
    slips.sort(key=lambda slip: (hash64(seed, "typo", name, slip[0]), slip[0]))
    for at, found in slips:
        if name[at] == name[at + 1]:
            continue
        text = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
        word = text[found.start() : found.end()].casefold()
        if word not in words and not (_one_step(word) & words) - {found[0].casefold()}:
            return text
    return name


def _one_step(word: str) -> frozenset[str]:
    """All that is one letter more, less, other, or two neighbours changed about, from a word."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    less = {before + after[1:] for before, after in cuts if after}
    turned = {b + a[1] + a[0] + a[2:] for b, a in cuts if len(a) > 1}
    other = {b + letter + a[1:] for b, a in cuts if a for letter in _LETTERS}
    more = {b + letter + a for b, a in cuts for letter in _LETTERS}
    return frozenset(less | turned | other | more)
