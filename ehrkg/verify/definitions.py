"""Definition evidence: sentences that are about both ends of a claim, retrieved for it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import yaml

from ehrkg.foundation.embedding import (
    Embedder,
    SentenceTransformerEmbedder,
    embed,
    for_claims,
)
from ehrkg.ontology.predicates import PREDICATES
from ehrkg.ontology.schema import Knowledge
from ehrkg.verify.arrays import Floats, Ints, KnowledgeArrays, join
from ehrkg.verify.backing import SUPPORTS, Backing, LinkedPairs
from ehrkg.verify.index import SentenceIndex
from ehrkg.verify.judge import CONTRADICTION, Claim, Judge
from ehrkg.verify.policy import Policy
from ehrkg.verify.report import EvidenceRows
from ehrkg.verify.sentences import Sentences, sentences_about
from ehrkg.verify.words import WORD


@dataclass(frozen=True)
class Models:
    """What reads sentences.

    Attributes:
        embedder: what retrieves them; the packaged MiniLM for ``None``, loaded only if needed.
        judge: what grades them; nobody for ``None``.
        cache: a folder where vectors and indexes are kept; none by default.
    """

    embedder: Embedder | None = None
    judge: Judge | None = None
    cache: Path | None = None


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


def definition_evidence(
    rows: EvidenceRows,
    candidates: pa.Table,
    pairs: LinkedPairs,
    backing: Backing,
    arrays: KnowledgeArrays,
    knowledge: Knowledge,
    policy: Policy,
    models: Models,
) -> tuple[Floats, Ints]:
    """Add the sentences that back claims; returns score parts and numbers of sentences, by claim.

    Only claims with a supporting path over near links are looked at: for the others a sentence
    could change nothing, and most candidates are such. A sentence counts if it is about both ends
    (``Sentences`` says when), is among the sentences that are nearest to the claim, is near enough,
    and neither holds a word of denial nor is graded as a contradiction. The part is the bonus times
    the best similarity.
    """
    size = len(candidates)
    part, number = np.zeros(size), np.zeros(size, np.int64)
    if not policy.definition_bonus:
        return part, number
    backed = np.unique(backing.pair[(backing.polarity == SUPPORTS) & pairs.near[backing.pair]])
    if not len(backed):
        return part, number
    ends = np.unique(np.concatenate([pairs.head[backed], pairs.tail[backed]]))
    known = sentences_about(knowledge, arrays, ends)
    pair, sentence = _about_both(known, pairs.head[backed], pairs.tail[backed], len(arrays))
    if not len(pair):
        return part, number
    pair = backed[pair]
    predicate = candidates.column("predicate").to_pylist()
    claims = [
        Claim(
            arrays.name(pairs.head[row]),
            PREDICATES[predicate[pairs.claim[row]]].words,
            arrays.name(pairs.tail[row]),
        )
        for row in pair.tolist()
    ]
    # Embedding is what takes long: only what is about both ends of some claim is worth it.
    worth, place = np.unique(sentence, return_inverse=True)
    texts = [known.texts[number] for number in worth.tolist()]
    kept, similarity = _retrieve(
        [claim.text for claim in claims], place.ravel(), texts, models, policy
    )
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for row, value in zip(kept.tolist(), similarity.tolist(), strict=True):
        key = (int(pairs.claim[pair[row]]), int(sentence[row]))
        best[key] = max(best.get(key, (-1.0, 0)), (value, -row))
    chosen = sorted(best)
    grades = _grades(
        [(known.texts[text], claims[-best[at, text][1]]) for at, text in chosen], models
    )
    ids = candidates.column("id").to_pylist()
    for (claim, text), grade in zip(chosen, grades, strict=True):
        value, row = best[claim, text][0], pair[-best[claim, text][1]]
        denying = may_deny(known.texts[text], predicate[claim]) or grade == CONTRADICTION
        rows.add(
            ids[claim],
            "definition",
            "neutral" if denying else "supports",
            known.texts[text],
            source=known.source[text],
            origin=known.origin[text],
            weight=value,
            concepts=[arrays.concepts[pairs.head[row]], arrays.concepts[pairs.tail[row]]],
            key=[known.texts[text]],
            passage=known.passage[text],
            judged=grade,
        )
        if not denying:
            number[claim] += 1
            part[claim] = max(part[claim], round(policy.definition_bonus * value, 4))
    return part, number


def _grades(asked: list[tuple[str, Claim]], models: Models) -> list[str]:
    """What the judge says of sentences and claims, each asked once; "" where there is no judge."""
    if models.judge is None:
        return [""] * len(asked)
    distinct = sorted(set(asked), key=lambda one: (one[0], one[1].text))
    said = dict(zip(distinct, models.judge.grade(distinct), strict=True))
    return [said[one] for one in asked]


def _about_both(known: Sentences, heads: Ints, tails: Ints, size: int) -> tuple[Ints, Ints]:
    """(position of the pair, sentence), distinct and sorted."""
    key = known.about * size + known.named
    order = np.argsort(key, kind="stable")
    found = []
    for left, right in ((heads, tails), (tails, heads)):
        mine, row = join(left * size + right, key[order])
        found.append(np.column_stack([mine, known.sentence[order][row]]))
    both = np.unique(np.concatenate(found), axis=0).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _retrieve(
    claims: list[str], sentence: Ints, texts: list[str], models: Models, policy: Policy
) -> tuple[Ints, Floats]:
    """Rows whose sentence is among the nearest of its claim and near enough, with the cosine."""
    distinct = sorted(set(claims))
    place = {claim: row for row, claim in enumerate(distinct)}
    asked = np.array([place[claim] for claim in claims], np.int64)
    embedder = models.embedder or SentenceTransformerEmbedder()
    vectors = embed(distinct, for_claims(embedder), models.cache)
    index = SentenceIndex(texts, embedder, models.cache, probes=vectors)
    nearest = index.search(vectors, policy.definition_top)
    kept = np.flatnonzero((nearest[asked] == sentence[:, None]).any(axis=1))
    if not len(kept):
        return kept, np.empty(0)
    similarity = index.similarity(vectors[asked[kept]], sentence[kept])
    close = similarity >= policy.definition_similarity
    return kept[close], similarity[close]
