"""The names by which the knowledge knows drugs, laid out for look-up."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ehrkg.mapping.drugs.text import rules, word_set
from ehrkg.mapping.index import Label

SHORTEST = 3
SHORTEST_SYNONYM = 4
"""Three letters name a drug only as its own name or as an abbreviation that is said to be one:
vocabularies list many more, and a study's number or a supplier's mark soon looks like one."""
SHORTEST_PREFIX = 6
"""A truncated name is completed only from this many letters on, and only if one drug begins so."""
NEARLY_WHOLE = 2
"""From one letter fewer on, a name is completed where no more than so many letters are missing."""
SHORTEST_FUZZY = 9
SHARED = 1
"""The rank of exact synonyms, which several drugs may share."""
FUZZY_EDITS = 1
"""A slip is one letter; two already part pentobarbital from phenobarbital."""


@dataclass(frozen=True)
class Hit:
    """A phrase that names drugs.

    Attributes:
        concepts: what it names; a brand of a combination names several.
        label: the name that fitted.
        method: ingredient, unqualified, prefix or fuzzy.
    """

    concepts: tuple[str, ...]
    label: Label
    method: str


@dataclass(frozen=True)
class Lexicon:
    """Drug names, written as words with single spaces.

    Attributes:
        names: phrase -> the labels that say it, of the best rank only. A synonym that a drug
            shares with its stereoisomer ("albuterol") is the plain drug's.
        singles: single-word phrases of six letters or more, sorted.
        longest: number of words of the longest phrase.
    """

    names: Mapping[str, tuple[Label, ...]]
    singles: tuple[str, ...]
    longest: int
    spelt: dict[str, Hit | None] = field(default_factory=dict, compare=False, repr=False)
    """Near spellings already looked for: hospitals repeat their words."""

    def exact(self, phrase: str) -> Hit | None:
        """The drugs of that very name."""
        rows = self.names.get(phrase)
        if not rows:
            return None
        return Hit(tuple(sorted({row.concept for row in rows})), rows[0], "ingredient")

    def unqualified(self, phrase: str) -> Hit | None:
        """What a genus means when nothing else is said of it (words.yaml)."""
        meant = self.exact(str(rules()["unqualified"].get(phrase, "")))
        return Hit(meant.concepts, meant.label, "unqualified") if meant else None

    def by_prefix(self, word: str) -> Hit | None:
        """The one drug whose name begins so."""
        if len(word) < SHORTEST_PREFIX - 1:
            return None
        start = bisect_left(self.singles, word)
        stop = bisect_left(self.singles, word + "\uffff")
        begun = self.singles[start:stop]
        if len(word) < SHORTEST_PREFIX and not any(
            len(name) - len(word) <= NEARLY_WHOLE for name in begun
        ):
            return None
        return self._only(begun, "prefix")

    def fuzzy(self, word: str) -> Hit | None:
        """The one drug that is spelt nearly so."""
        if len(word) < SHORTEST_FUZZY:
            return None
        if word not in self.spelt:
            self.spelt[word] = self._near(word)
        return self.spelt[word]

    def _near(self, word: str) -> Hit | None:
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

        near = process.extract(
            word, self.singles, scorer=Levenshtein.distance, score_cutoff=FUZZY_EDITS, limit=5
        )
        return self._only([name for name, _, _ in near if name[0] == word[0]], "fuzzy")

    def _only(self, phrases: Iterable[str], method: str) -> Hit | None:
        rows = sorted(row for phrase in phrases for row in self.names[phrase])
        concepts = {row.concept for row in rows}
        return Hit((rows[0].concept,), rows[0], method) if len(concepts) == 1 else None


def phrase(text: str) -> str:
    """A name as words: lower case, punctuation as spaces, abbreviations written out.

    >>> phrase("Sulfate, Ferrous"), phrase("Co-trimoxazole")
    ('sulfate ferrous', 'co trimoxazole')
    """
    short = rules()["words"]
    tokens = re.findall(r"[a-z0-9][a-z0-9']*", text.lower())
    return " ".join(str(short.get(token, token)) for token in tokens)


def _names_a_combination(label: Label, owners: Mapping[str, str]) -> bool:
    """Whether a synonym joins names of several drugs: it is then none of one of them."""
    parts = [phrase(part) for part in re.split(r"[-/+&]| and | with ", label.text.lower())]
    return len({owners[part] for part in parts if part in owners}) > 1


def _plainest(rows: Sequence[Label], own: Mapping[str, str]) -> tuple[Label, ...]:
    """The rows of the best rank; of drugs whose names contain each other, the shorter name's.

    A brand may stand for several drugs (a combination), so brands are left as they are.
    """
    rank = min(row.rank for row in rows)
    kept = sorted(row for row in rows if row.rank == rank)
    if rank != SHARED:
        return tuple(kept)
    called = {row.concept: own.get(row.concept, "") for row in kept}
    return tuple(
        row
        for row in kept
        if not any(
            other != row.concept
            and name
            and name != called[row.concept]
            and name in called[row.concept]
            for other, name in called.items()
        )
    )


def build(labels: Sequence[Label]) -> Lexicon:
    """Lay out the names of drug concepts, without those that are words of form or route."""
    grouped: dict[str, list[Label]] = {}
    barred = word_set("noise")
    owners = {phrase(label.text): label.concept for label in labels if label.rank == 0}
    for label in labels:
        words = phrase(label.text)
        plain = label.rank > 0 and label.scope != "abbreviation"
        if len(words) < (SHORTEST_SYNONYM if plain else SHORTEST):
            continue
        if words in barred or words.isdigit():
            continue
        if label.rank == 0 or not _names_a_combination(label, owners):
            grouped.setdefault(words, []).append(label)
    own = {label.concept: label.text.lower() for label in labels if label.rank == 0}
    names = {words: _plainest(rows, own) for words, rows in grouped.items()}
    singles = tuple(sorted(w for w in names if " " not in w and len(w) >= SHORTEST_PREFIX))
    longest = max((words.count(" ") + 1 for words in names), default=1)
    return Lexicon(names, singles, min(longest, 6))
