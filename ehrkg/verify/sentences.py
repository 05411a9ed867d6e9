"""Sentences of definitions and passages, and which of a set of concepts each is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.arrays import NONE, Ints, KnowledgeArrays, join
from ehrkg.verify.words import WORD, words_of

LONGEST_NAME = 8
"""Words of the longest name that is looked for in a sentence."""

LONGEST_SENTENCE = 600
"""Characters; what is longer is a table or a list that lost its layout, and says nothing of two."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")

_Said = tuple[str, str, str, str]
"""Text, source, origin, passage."""


@dataclass(frozen=True)
class Sentences:
    """Distinct sentences that are about two ends, and which those are.

    Others could not count, and embedding them would cost most of the time.

    Attributes:
        texts: each led by the name of the concept it defines, or by its passage's title; sorted.
        source, origin: by sentence, of what it stands in (the first in the alphabet).
        passage: by sentence, the id of the Passage it stands in, "" for a definition.
        about, named, sentence: sorted triples: the sentence names the concept ``named``, and is
            about the other one: it names that too, or stands in its definition, in that of one of
            its parents, or in a passage about it.
    """

    texts: list[str]
    source: list[str]
    origin: list[str]
    passage: list[str]
    about: Ints
    named: Ints
    sentence: Ints


def split_sentences(text: str) -> list[str]:
    """A text's sentences.

    >>> split_sentences("A loop diuretic. Used in heart failure; lowers preload.")
    ['A loop diuretic.', 'Used in heart failure;', 'lowers preload.']
    """
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def sentences_about(knowledge: Knowledge, arrays: KnowledgeArrays, concepts: Ints) -> Sentences:
    """The sentences of all definitions and passages that are about two of these concepts.

    Args:
        knowledge: definitions, passages, names and synonyms.
        arrays: its concepts as numbers.
        concepts: ends of claims.
    """
    said, owns = _collect(knowledge, arrays)
    first: dict[str, _Said] = {}
    for row in sorted(said):
        first.setdefault(row[0], row)
    texts = list(first)
    place = {text: at for at, text in enumerate(texts)}
    own = _pairs((concept, place[text]) for concept, text in owns)
    mine, other = join(arrays.parents.end, own[:, 0])
    inherited = np.column_stack([arrays.parents.start[mine], own[other, 1]])
    names = _pairs(_names(knowledge, arrays, concepts, texts))
    about = np.unique(np.concatenate([own, inherited, names]), axis=0)
    about = about[np.isin(about[:, 0], concepts)]
    by_sentence = names[np.argsort(names[:, 1], kind="stable")]
    mine, other = join(about[:, 1], by_sentence[:, 1])
    triples = np.column_stack([about[mine, 0], by_sentence[other, 0], about[mine, 1]])
    triples = np.unique(triples[triples[:, 0] != triples[:, 1]], axis=0).reshape(-1, 3)
    kept, at = np.unique(triples[:, 2], return_inverse=True)
    told = [first[texts[one]] for one in kept.tolist()]
    return Sentences(
        texts=[text for text, _, _, _ in told],
        source=[source for _, source, _, _ in told],
        origin=[origin for _, _, origin, _ in told],
        passage=[passage for _, _, _, passage in told],
        about=triples[:, 0],
        named=triples[:, 1],
        sentence=at.ravel(),
    )


def _pairs(values: Iterable[tuple[int, int]]) -> Ints:
    return np.array(sorted(values), np.int64).reshape(-1, 2)


def _collect(
    knowledge: Knowledge, arrays: KnowledgeArrays
) -> tuple[set[_Said], set[tuple[int, str]]]:
    """What is said where, and which concept each text is of."""
    said: set[_Said] = set()
    owns: set[tuple[int, str]] = set()
    for concept, text, source in _definitions(knowledge, arrays):
        for sentence in split_sentences(text):
            # A definition rarely repeats its subject, and a claim is nothing without it.
            led = f"{arrays.name(concept)}: {sentence}"
            said.add((led, source, source, ""))
            owns.add((concept, led))
    for owners, row in _passages(knowledge, arrays):
        for sentence in split_sentences(row["text"]):
            if len(sentence) > LONGEST_SENTENCE:
                continue
            lead = row["title"] or (arrays.name(owners[0]) if owners else "")
            led = f"{lead}{'' if lead.endswith(('?', '.', ':')) or not lead else ':'} {sentence}"
            led = led.strip()
            said.add((led, row["source"], row["origin"], row["id"]))
            owns.update((owner, led) for owner in owners)
    return said, owns


def _definitions(knowledge: Knowledge, arrays: KnowledgeArrays) -> Iterator[tuple[int, str, str]]:
    table = knowledge.concepts
    table = table.filter(pc.not_equal(pc.fill_null(table.column("definition"), ""), ""))
    index = arrays.index(table.column("id")).tolist()
    texts, sources = (table.column(name).to_pylist() for name in ("definition", "source"))
    return zip(index, texts, sources, strict=True)


def _passages(
    knowledge: Knowledge, arrays: KnowledgeArrays
) -> Iterator[tuple[list[int], dict[str, str]]]:
    """Each passage once, with the concepts it is surely about.

    A passage that its source puts under several concepts (MedQuAD's documents carry the CUIs that a
    program found in them) is surely about none of them; it must name what it is to count for.
    """
    table = knowledge.passages
    if not table.num_rows:
        return
    reached = _reached(knowledge, arrays, table)
    text_of: dict[tuple[str, str, str], dict[str, str]] = {}
    concepts: dict[tuple[str, str, str], set[str]] = {}
    columns = ("id", "concept", "title", "text", "source", "origin")
    for row in table.select(columns).sort_by([("id", "ascending")]).to_pylist():
        key = (row["title"], row["text"], row["source"])
        text_of.setdefault(key, row)
        concepts.setdefault(key, set()).add(row["concept"])
    for key, row in text_of.items():
        (concept, *others) = sorted(concepts[key])
        yield ([] if others else reached.get(concept, [])), row


def _reached(
    knowledge: Knowledge, arrays: KnowledgeArrays, passages: pa.Table
) -> dict[str, list[int]]:
    """By a passage's concept: it and the concepts that are exactly matched to it, as numbers."""
    about = pc.unique(passages.column("concept"))
    reached: dict[str, set[int]] = {}
    for concept, number in zip(about.to_pylist(), arrays.index(about).tolist(), strict=True):
        reached.setdefault(concept, set()).add(number)
    mappings = knowledge.mappings
    mappings = mappings.filter(
        pc.and_(
            pc.equal(mappings.column("predicate"), "skos:exactMatch"),
            pc.is_in(mappings.column("object"), value_set=about),
        )
    )
    subjects = arrays.index(mappings.column("subject")).tolist()
    for subject, concept in zip(subjects, mappings.column("object").to_pylist(), strict=True):
        reached[concept].add(subject)
    return {concept: sorted(numbers - {NONE}) for concept, numbers in reached.items()}


def _names(
    knowledge: Knowledge, arrays: KnowledgeArrays, concepts: Ints, texts: list[str]
) -> set[tuple[int, int]]:
    """(concept, sentence that names it)."""
    known = _known_names(knowledge, arrays, set(concepts.tolist()))
    found: set[tuple[int, int]] = set()
    for number, text in enumerate(texts):
        if known.short:
            for word in WORD.findall(text):
                found.update((concept, number) for concept in known.short.get(word, ()))
        for named in known.mentions(words_of(text)):
            found.update((concept, number) for concept in named)
    return found


@dataclass(frozen=True)
class _Names:
    """Names that are looked for.

    Attributes:
        phrases: by a name's words, the wanted concepts it is of; empty for a name of others only.
        lengths: by a first word, how many words the names that begin with it have.
        short: by a short name, taken as it is written, the wanted concepts.
    """

    phrases: dict[tuple[str, ...], frozenset[int]]
    lengths: dict[str, tuple[int, ...]]
    short: dict[str, set[int]]

    def mentions(self, words: list[str]) -> list[frozenset[int]]:
        """Wanted concepts by the names in a sentence.

        A name inside a longer one, of whatever concept, is no mention of its own.

        >>> names = _Names({("heart", "failure"): frozenset([1]),
        ...                 ("systolic", "heart", "failure"): frozenset([2])},
        ...                {"heart": (2,), "systolic": (3,)}, {})
        >>> names.mentions(["in", "systolic", "heart", "failure"])
        [frozenset({2})]
        """
        spans = [
            (at, at + length, named)
            for at, word in enumerate(words)
            for length in self.lengths.get(word, ())
            if (named := self.phrases.get(tuple(words[at : at + length]))) is not None
        ]
        return [
            named
            for start, end, named in spans
            if named
            and not any(
                one <= start and end <= other and (one, other) != (start, end)
                for one, other, _ in spans
            )
        ]


def _known_names(knowledge: Knowledge, arrays: KnowledgeArrays, wanted: set[int]) -> _Names:
    phrases: dict[tuple[str, ...], frozenset[int]] = {}
    short: dict[str, set[int]] = {}
    nobody: frozenset[int] = frozenset()
    synonyms = knowledge.synonyms
    named = chain(
        zip(range(len(arrays)), arrays.names.tolist(), repeat("exact")),
        zip(
            arrays.index(synonyms.column("concept")).tolist(),
            synonyms.column("text").to_pylist(),
            synonyms.column("scope").to_pylist(),
            strict=True,
        ),
    )
    for concept, text, scope in named:
        words = tuple(words_of(text or ""))
        if scope == "abbreviation" or (len(words) == 1 and len(words[0]) < 4):
            if concept in wanted:
                short.setdefault(text, set()).add(concept)
        elif 0 < len(words) <= LONGEST_NAME:
            own = frozenset([concept]) if concept in wanted else nobody
            phrases[words] = phrases.get(words, nobody) | own
    lengths: dict[str, set[int]] = {}
    for words in phrases:
        lengths.setdefault(words[0], set()).add(len(words))
    return _Names(phrases, {word: tuple(sorted(some)) for word, some in lengths.items()}, short)


__all__ = ["Sentences", "sentences_about", "split_sentences"]
