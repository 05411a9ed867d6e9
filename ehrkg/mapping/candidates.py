"""The last resort: concepts whose names are nearly the code's, by words and by meaning.

Names that share rare words are found first, then compared closely: by the share of words and by the
cosine of their vectors, searched with FAISS. A code's candidates depend on its own name alone, not
on what other codes are asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ehrkg.foundation.embedding import Embedder, embed
from ehrkg.mapping.index import Index, Label
from ehrkg.mapping.links import Link
from ehrkg.mapping.names import Key, is_residual, key, read_yaml, same_names

LEVEL, RESIDUAL_LEVEL = 1, 2
"""A near name is no more than near; that of a code which holds what its siblings do not is less."""
DIGITS = 4
"""Scores are rounded before they are compared."""


@dataclass(frozen=True)
class Candidate:
    """A name that is nearly a code's.

    Attributes:
        concept: a CURIE.
        score: 0 to 1.
        text: the name.
        source: whose name it is.
    """

    concept: str
    score: float
    text: str
    source: str


class Names:
    """The names of concepts, found by their words.

    Args:
        labels: names of the concepts that fit the codes' kind.
        index: of the knowledge; names of what nothing is linked to are left out.
    """

    def __init__(self, labels: Sequence[Label], index: Index) -> None:
        kept = [
            label for label in labels if label.scope != "brand" and index.linkable(label.concept)
        ]
        self.labels = sorted(kept)
        self.words: list[Key] = [key(label.text) for label in self.labels]
        self._places: dict[str, list[int]] = {}
        for place, words in enumerate(self.words):
            for word in words:
                self._places.setdefault(word, []).append(place)
        self._most = math.log(1 + len(self.labels))

    def weight(self, word: str) -> float:
        """How much a word tells: the fewer names have it, the more."""
        return self._most - math.log(1 + len(self._places.get(word, ())))

    def alike(self, title: str) -> list[tuple[int, float]]:
        """Places of names that share much of a title's words, best first, with the share."""
        rules = read_yaml("rules.yaml")["candidates"]
        best: dict[int, float] = {}
        for words in same_names(title):
            shared: dict[int, float] = {}
            for word in sorted(words):
                weight = self.weight(word)
                for place in self._places.get(word, ()):
                    shared[place] = shared.get(place, 0.0) + weight
            own = sum(self.weight(word) for word in sorted(words))
            for place, common in shared.items():
                whole = own + sum(map(self.weight, sorted(self.words[place] - words)))
                share = round(common / whole, DIGITS) if whole else 0.0
                if share >= rules["words"] and not tells_apart(title, self.labels[place].text):
                    best[place] = max(share, best.get(place, 0.0))
        ordered = sorted(best.items(), key=lambda item: (-item[1], self.labels[item[0]]))
        return ordered[: rules["most"]]


def tells_apart(one: str, other: str) -> bool:
    """Whether a word or number that only one of two names has makes them different things.

    >>> tells_apart("Acute bronchitis", "chronic bronchitis"), tells_apart("Type 2 x", "x type 1")
    (True, True)
    >>> tells_apart("Ulcer of the leg", "leg ulceration")
    False
    """
    telling = set(map(str, read_yaml("rules.yaml")["candidates"]["telling"]))
    first, second = key(one), key(other)
    differing = first ^ second
    return bool(differing & telling) or _numbers(one) != _numbers(other)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\b(?:\d+|[ivx]{1,4}|[b-h])\b", text.lower()))


def search(
    titles: Mapping[str, str], names: Names, embedder: Embedder, cache: Path | None = None
) -> dict[str, list[Candidate]]:
    """The nearest names of each title, one a concept, best first.

    Args:
        titles: Code id -> what it is called.
        names: of concepts.
        embedder: gives the vectors.
        cache: a folder that keeps vectors.

    Returns:
        Code id -> candidates; codes without any are absent.
    """
    import faiss

    blocks = {code: found for code, title in titles.items() if (found := names.alike(title))}
    if not blocks:
        return {}
    places = sorted({place for found in blocks.values() for place, _ in found})
    number = {place: at for at, place in enumerate(places)}
    asked = [_plain(titles[code]) for code in sorted(blocks)]
    texts = sorted({*asked, *(_plain(names.labels[place].text) for place in places)})
    at = {text: row for row, text in enumerate(texts)}
    vectors = embed(texts, embedder, cache)
    store = faiss.IndexFlatIP(vectors.shape[1])
    store.add(np.ascontiguousarray(vectors[[at[_plain(names.labels[p].text)] for p in places]]))
    return {
        code: _scored(blocks[code], vectors[at[_plain(titles[code])]], store, number, names)
        for code in sorted(blocks)
    }


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _scored(
    found: Sequence[tuple[int, float]],
    vector: Any,
    store: Any,
    number: Mapping[int, int],
    names: Names,
) -> list[Candidate]:
    import faiss

    own = np.array(sorted(number[place] for place, _ in found), dtype=np.int64)
    parameters: Any = faiss.SearchParameters  # its stub knows no keywords
    chosen = parameters(sel=faiss.IDSelectorBatch(own))
    cosines, rows = store.search(vector[None, :], len(own), params=chosen)
    near = dict(zip(rows[0].tolist(), cosines[0].tolist(), strict=True))
    part = read_yaml("rules.yaml")["candidates"]["by_words"]
    best: dict[str, Candidate] = {}
    for place, share in found:
        label = names.labels[place]
        cosine = max(0.0, min(1.0, float(near[number[place]])))
        score = round(part * share + (1 - part) * cosine, DIGITS)
        candidate = Candidate(label.concept, score, label.text, label.source)
        kept = best.get(label.concept)
        if kept is None or score > kept.score:
            best[label.concept] = candidate
    return sorted(best.values(), key=lambda each: (-each.score, each.concept))


def decided(found: Sequence[Candidate], accepted: float | None = None) -> Candidate | None:
    """The best candidate, if it is good enough and no other is as good.

    Args:
        found: candidates, best first.
        accepted: the least score; of rules.yaml by default.
    """
    rules = read_yaml("rules.yaml")["candidates"]
    least = rules["accepted"] if accepted is None else accepted
    if not found or found[0].score < least:
        return None
    if len(found) > 1 and found[0].score - found[1].score < rules["close"]:
        return None
    return found[0]


def links(
    titles: Mapping[str, str], names: Names, embedder: Embedder, cache: Path | None = None
) -> list[Link]:
    """A link for each code whose name one concept's name is nearly."""
    weight = read_yaml("rules.yaml")["confidence"]["candidate"]
    chosen: list[Link] = []
    for code, found in search(titles, names, embedder, cache).items():
        best = decided(found)
        if best is None:
            continue
        level = RESIDUAL_LEVEL if is_residual(titles[code]) else LEVEL
        chosen.append(
            Link(
                code=code,
                levels=level,
                concept=best.concept,
                method="candidate",
                predicate="skos:closeMatch" if level == LEVEL else "skos:broadMatch",
                confidence=weight * best.score,
                source=best.source,
                explanation=(
                    f"{titles[code]!r} is nearly {best.text!r} "
                    f"({best.score:.2f} by words and {embedder.name})"
                ),
            )
        )
    return chosen
