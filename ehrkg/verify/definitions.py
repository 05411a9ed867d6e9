"""Definition evidence: sentences that are about both ends of a claim, retrieved for it."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml

from ehrkg.foundation.embedding import Embedder, SentenceTransformerEmbedder, embed
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.arrays import Floats, Ints, KnowledgeArrays, join
from ehrkg.verify.backing import SUPPORTS, Backing, LinkedPairs
from ehrkg.verify.index import SentenceIndex
from ehrkg.verify.policy import Policy
from ehrkg.verify.report import EvidenceRows
from ehrkg.verify.words import WORD, words_of

LONGEST_NAME = 8
"""Words of the longest name that is looked for in a sentence."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")


def sentences_of(definition: str) -> list[str]:
    """A definition's sentences.

    >>> sentences_of("A loop diuretic. Used in heart failure; lowers preload.")
    ['A loop diuretic.', 'Used in heart failure;', 'lowers preload.']
    """
    return [part.strip() for part in _SENTENCE.split(definition) if part.strip()]


@functools.cache
def _cues() -> dict[str, frozenset[str]]:
    text = Path(__file__).with_name("definition_cues.yaml").read_text(encoding="utf-8")
    return {str(key): frozenset(map(str, words)) for key, words in yaml.safe_load(text).items()}


def may_deny(sentence: str, predicate: str) -> bool:
    """Whether a sentence holds a word by which it may say the opposite of such a claim.

    >>> may_deny("It must be avoided in heart failure.", "TREATS")
    True
    """
    words = set(WORD.findall(sentence.casefold()))
    return bool(words & (_cues()["any"] | _cues().get(predicate, frozenset())))


@dataclass(frozen=True)
class Passages:
    """Sentences of definitions, and what each is about.

    Attributes:
        texts: distinct sentences that are about two ends, each led by the name of the concept it
            defines; sorted. Others could not count, and embedding them would cost most of the time.
        source: by sentence, of the definition it stands in (the first source in the alphabet).
        owner, named, sentence: sorted triples: a sentence out of the definition of ``owner`` or of
            one of its parents that names the concept ``named``.
    """

    texts: list[str]
    source: list[str]
    owner: Ints
    named: Ints
    sentence: Ints


def passages(knowledge: Knowledge, arrays: KnowledgeArrays, concepts: Ints) -> Passages:
    """The sentences that are about two of these concepts.

    Args:
        knowledge: definitions, names and synonyms.
        arrays: its concepts as numbers.
        concepts: ends of claims.
    """
    table = knowledge.concepts.select(["id", "definition", "source"])
    said: dict[str, str] = {}
    owns: set[tuple[int, str]] = set()
    index = arrays.index(table.column("id")).tolist()
    for concept, definition, source in zip(
        index,
        table.column("definition").to_pylist(),
        table.column("source").to_pylist(),
        strict=True,
    ):
        for sentence in sentences_of(definition or ""):
            # A definition rarely repeats its subject, and a claim is nothing without it.
            text = f"{arrays.name(concept)}: {sentence}"
            owns.add((concept, text))
            said[text] = min(said.get(text, source), source)
    texts = sorted(said)
    number = {text: place for place, text in enumerate(texts)}
    own = np.array(sorted((concept, number[text]) for concept, text in owns), np.int64)
    own = own.reshape(-1, 2)
    mine, row = join(arrays.parents.end, own[:, 0])
    inherited = np.column_stack([arrays.parents.start[mine], own[row, 1]])
    about = np.unique(np.concatenate([own, inherited]), axis=0)
    about = about[np.isin(about[:, 0], concepts)]
    names = np.array(_names(knowledge, arrays, concepts, texts), np.int64).reshape(-1, 2)
    names = names[np.lexsort((names[:, 1], names[:, 0]))]
    mine, row = join(about[:, 1], names[:, 0])
    triples = np.column_stack([about[mine, 0], names[row, 1], about[mine, 1]])
    triples = np.unique(triples[triples[:, 0] != triples[:, 1]], axis=0).reshape(-1, 3)
    kept, place = np.unique(triples[:, 2], return_inverse=True)
    texts = [texts[number] for number in kept.tolist()]
    return Passages(
        texts, [said[text] for text in texts], triples[:, 0], triples[:, 1], place.ravel()
    )


def _names(
    knowledge: Knowledge, arrays: KnowledgeArrays, concepts: Ints, texts: list[str]
) -> list[tuple[int, int]]:
    """(sentence, concept named in it)."""
    wanted = set(concepts.tolist())
    phrases: dict[tuple[str, ...], set[int]] = {}
    short: dict[str, set[int]] = {}
    named = [(int(c), str(arrays.names[c]), "exact") for c in sorted(wanted)]
    synonyms = knowledge.synonyms
    named += [
        (concept, text, scope)
        for concept, text, scope in zip(
            arrays.index(synonyms.column("concept")).tolist(),
            synonyms.column("text").to_pylist(),
            synonyms.column("scope").to_pylist(),
            strict=True,
        )
        if concept in wanted
    ]
    for concept, text, scope in named:
        words = tuple(words_of(text))
        if scope == "abbreviation" or (len(words) == 1 and len(words[0]) < 4):
            short.setdefault(text, set()).add(concept)
        elif 0 < len(words) <= LONGEST_NAME:
            phrases.setdefault(words, set()).add(concept)
    found: set[tuple[int, int]] = set()
    for number, text in enumerate(texts):
        for word in WORD.findall(text):
            found.update((number, concept) for concept in short.get(word, ()))
        words_here = words_of(text)
        for at in range(len(words_here)):
            for length in range(1, LONGEST_NAME + 1):
                some = phrases.get(tuple(words_here[at : at + length]), ())
                found.update((number, concept) for concept in some)
    return sorted(found)


def definition_evidence(
    rows: EvidenceRows,
    candidates: pa.Table,
    pairs: LinkedPairs,
    backing: Backing,
    arrays: KnowledgeArrays,
    knowledge: Knowledge,
    policy: Policy,
    embedder: Embedder | None,
    cache: Path | None,
) -> tuple[Floats, Ints]:
    """Add the sentences that back claims; returns score parts and numbers of sentences, by claim.

    Only claims with a supporting path over near links are looked at: for the others a sentence
    could change nothing, and most candidates are such. A sentence counts if it stands in the
    definition of one end (or of its parent), names the other end, is among the sentences that are
    nearest to the claim, and is near enough. The part is the bonus times the best similarity.
    """
    size = len(candidates)
    part, number = np.zeros(size), np.zeros(size, np.int64)
    backed = np.unique(backing.pair[(backing.polarity == SUPPORTS) & pairs.near[backing.pair]])
    if not len(backed):
        return part, number
    ends = np.unique(np.concatenate([pairs.head[backed], pairs.tail[backed]]))
    about = passages(knowledge, arrays, ends)
    pair, sentence = _about_both(about, pairs.head[backed], pairs.tail[backed], len(arrays))
    if not len(pair):
        return part, number
    pair = backed[pair]
    predicate = candidates.column("predicate").to_pylist()
    claims = [
        f"{arrays.name(pairs.head[row])} {PREDICATES[predicate[pairs.claim[row]]].words} "
        f"{arrays.name(pairs.tail[row])}"
        for row in pair.tolist()
    ]
    embedder = embedder or SentenceTransformerEmbedder()
    kept, similarity = _retrieve(claims, sentence, about.texts, embedder, cache, policy)
    ids = candidates.column("id").to_pylist()
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for row, value in zip(kept.tolist(), similarity.tolist(), strict=True):
        key = (int(pairs.claim[pair[row]]), int(sentence[row]))
        best[key] = max(best.get(key, (-1.0, 0)), (value, -int(pair[row])))
    for (claim, text), (value, negative) in sorted(best.items()):
        denying = may_deny(about.texts[text], predicate[claim])
        row = -negative
        rows.add(
            ids[claim],
            "definition",
            "neutral" if denying else "supports",
            about.texts[text],
            source=about.source[text],
            origin=about.source[text],
            weight=value,
            concepts=[arrays.concepts[pairs.head[row]], arrays.concepts[pairs.tail[row]]],
            key=[about.texts[text]],
        )
        if not denying:
            number[claim] += 1
            part[claim] = max(part[claim], round(policy.definition_bonus * value, 4))
    return part, number


def _about_both(about: Passages, heads: Ints, tails: Ints, size: int) -> tuple[Ints, Ints]:
    """(position of the pair, sentence), distinct and sorted."""
    key = about.owner * size + about.named
    found = []
    for left, right in ((heads, tails), (tails, heads)):
        mine, row = join(left * size + right, key)
        found.append(np.column_stack([mine, about.sentence[row]]))
    both = np.unique(np.concatenate(found), axis=0).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _retrieve(
    claims: list[str],
    sentence: Ints,
    texts: list[str],
    embedder: Embedder,
    cache: Path | None,
    policy: Policy,
) -> tuple[Ints, Floats]:
    """Rows whose sentence is among the nearest of its claim and near enough, with the cosine."""
    distinct = sorted(set(claims))
    place = {claim: row for row, claim in enumerate(distinct)}
    asked = np.array([place[claim] for claim in claims], np.int64)
    vectors = embed(distinct, embedder, cache)
    index = SentenceIndex(texts, embedder, cache)
    nearest = index.search(vectors, policy.definition_top)
    kept = np.flatnonzero((nearest[asked] == sentence[:, None]).any(axis=1))
    if not len(kept):
        return kept, np.empty(0)
    similarity = index.similarity(vectors[asked[kept]], sentence[kept])
    close = similarity >= policy.definition_similarity
    return kept[close], similarity[close]
